//! Never answers, so that tests and demonstrations see a limit end it. For tests alone.

use callgate_sdk::prelude::*;
use serde::Deserialize;

/// Whose calls never end.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// The only tool with which it loops; left out: every tool.
    pub tool: Option<String>,
}

/// Counts for ever.
pub fn before(call: &ToolCall, _context: &Context) -> Result<PreOutcome, String> {
    if settings::<Settings>()?.tool.as_ref().is_some_and(|tool| *tool != call.tool().name()) {
        return Ok(proceed());
    }
    log::info("about to count for ever");
    let mut count = 0_u64;
    loop {
        count = std::hint::black_box(count.wrapping_add(1));
    }
}

callgate_sdk::export!(pre_hook = before, settings = Settings);
