//! What a person is shown. The host shows the call; the approver's words are quoted below it.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use callgate::core::extension::PromptRequest;
use callgate::core::json::{Json, diff, patch};
use callgate::core::model::Context;
use callgate::core::shape::{show_json, show_text};

use super::rows::Rows;

/// Characters of arguments that are shown. What is not shown cannot be approved (T31).
const MAX_SHOWN_CHARS: usize = 16_000;
/// Characters of the approver's own words.
const MAX_WORDS_CHARS: usize = 2_000;

/// A call, laid out for a terminal of some width.
pub(super) struct Page {
    /// What is shown.
    pub(super) text: String,
    /// Whether all that is decided on is in it.
    pub(super) whole: bool,
}

impl Page {
    pub(super) fn of(request: &PromptRequest, columns: usize) -> Self {
        let PromptRequest { call, question, headline, details } = request;
        let context = &call.context;
        let mut rows = Rows::new(columns);
        rows.say("\n  A tool call waits for your approval.\n");
        what(&mut rows, request);
        rows.row("principal", &who(context, "none"), MAX_SHOWN_CHARS);
        let rule = question.rule.as_ref().map(|rule| format!(": rule `{}`", show_text(rule))).unwrap_or_default();
        rows.row("why", &format!("{}{rule}", question.reason.as_str()), MAX_SHOWN_CHARS);
        if !context.taint.is_empty() {
            rows.row("tainted by", &show_text(&context.taint.iter().cloned().collect::<Vec<_>>().join(", ")), MAX_SHOWN_CHARS);
        }
        for (hook, message) in &question.hook_messages {
            rows.row("hook says", &format!("`{}`: {}", show_text(hook), show_text(message)), MAX_WORDS_CHARS);
        }
        let whole = rows.row("arguments", &show_json(call.arguments.canonical()), MAX_SHOWN_CHARS);
        if question.meta.as_object().is_some_and(|meta| !meta.is_empty()) {
            rows.row("meta", &show_json(&question.meta.to_string()), MAX_WORDS_CHARS);
        }
        if let Some(earlier) = &question.earlier_arguments {
            let changes: Json = patch(&diff(earlier.value(), call.arguments.value()));
            rows.row("args changed", &show_json(&changes.to_string()), MAX_WORDS_CHARS);
        }
        if let Some(changes) = &question.definition_changes {
            rows.row("tool changed", &show_json(&changes.to_string()), MAX_WORDS_CHARS);
        }
        rows.row("expires in", &format!("{} s", seconds_until(question.expires_ms)), MAX_SHOWN_CHARS);
        for words in [headline, details].into_iter().filter(|words| !words.is_empty()) {
            // Its lines are lines here, too, and each is marked as its own words.
            let lines: Vec<String> = words.lines().map(show_text).collect();
            rows.row("plugin says", &lines.join("\n"), MAX_WORDS_CHARS);
        }
        // Once more, where it is in view when the answer is typed.
        rows.say("");
        what(&mut rows, request);
        rows.row("digest", &call.arguments.digest().to_string(), MAX_SHOWN_CHARS);
        Self { text: rows.into_text(), whole }
    }
}

/// All that an "always" means.
pub(super) fn standing(request: &PromptRequest, grant_ttl: Duration, columns: usize) -> String {
    let mut rows = Rows::new(columns);
    rows.say("\n  Allow this without asking?\n");
    rows.row("principal", &who(&request.call.context, "anybody"), MAX_SHOWN_CHARS);
    what(&mut rows, request);
    rows.row("arguments", "ANY arguments", MAX_SHOWN_CHARS);
    let hours = grant_ttl.as_secs_f64() / 3_600.0;
    rows.row("for", &format!("{hours:.1} h, as long as the tool's definition stays the same"), MAX_SHOWN_CHARS);
    rows.into_text()
}

fn what(rows: &mut Rows, request: &PromptRequest) {
    rows.row("server", request.call.context.server.as_str(), MAX_SHOWN_CHARS);
    rows.row("tool", &show_text(request.call.tool.name()), MAX_SHOWN_CHARS);
}

fn who(context: &Context, nobody: &str) -> String {
    context.principal.as_ref().map_or_else(|| nobody.to_owned(), |principal| show_text(&principal.to_string()))
}

fn seconds_until(expires_ms: u64) -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    expires_ms.saturating_sub(u64::try_from(now).unwrap_or(u64::MAX)) / 1_000
}
