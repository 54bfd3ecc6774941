//! Panics, so that tests see a panic's text in the log and a trap in its place. For tests alone.

use callgate_sdk::prelude::*;
use serde::Deserialize;

/// What it says, and when.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// The panic's text.
    pub text: String,
    /// Whether it panics while it is configured and not in a call.
    pub at_once: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self { text: "this guest panics".to_owned(), at_once: false }
    }
}

/// Perhaps panics.
#[expect(clippy::panic, reason = "it is what this guest is for")]
pub fn configure(settings: Settings) -> Result<Settings, String> {
    if settings.at_once {
        panic!("{}", settings.text);
    }
    Ok(settings)
}

/// Panics.
#[expect(clippy::panic, reason = "it is what this guest is for")]
pub fn before(_call: &ToolCall, _context: &Context) -> Result<PreOutcome, String> {
    panic!("{}", settings::<Settings>()?.text)
}

callgate_sdk::export!(pre_hook = before, configure = configure);
