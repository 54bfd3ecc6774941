//! Asking a person on the controlling terminal. Without one it is a deny, never a hang.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use callgate::core::extension::{PromptError, PromptRequest, Prompter, Refusal, Verdict};
use callgate::core::json::{Json, diff, patch};
use callgate::core::model::GrantTerms;
use callgate::core::shape::{show_json, show_text};

/// Characters of arguments that are shown. What is not shown cannot be approved (T31).
const MAX_SHOWN_CHARS: usize = 16_000;
/// Characters of the approver's own words.
const MAX_WORDS_CHARS: usize = 2_000;

/// Asks on the terminal that controls this process, whatever standard input and output are.
pub(crate) struct Terminal {
    /// How long a grant would live.
    pub(crate) grant_ttl: Duration,
}

#[async_trait]
impl Prompter for Terminal {
    async fn ask(&self, request: PromptRequest) -> Result<Verdict, PromptError> {
        let grant_ttl = self.grant_ttl;
        let asked = tokio::task::spawn_blocking(move || ask(&request, grant_ttl));
        asked.await.map_err(|error| PromptError::Other(error.to_string()))?
    }
}

fn ask(request: &PromptRequest, grant_ttl: Duration) -> Result<Verdict, PromptError> {
    let opened = OpenOptions::new().read(true).write(true).open("/dev/tty");
    let mut terminal = opened.map_err(|_| {
        eprintln!("callgate: a person must approve this call, and there is no terminal to ask on; run it in one");
        PromptError::Unavailable
    })?;
    let mut answers = BufReader::new(terminal.try_clone().map_err(failed)?);
    write!(terminal, "{}", page(request)).map_err(failed)?;
    if request.call.arguments.canonical().chars().count() > MAX_SHOWN_CHARS {
        writeln!(terminal, "  The arguments are too long to be shown, so they cannot be approved here.\n").map_err(failed)?;
        return Ok(Verdict::Deny(Refusal::new("too_long_to_show", "the arguments are too long to be shown to a person")));
    }
    loop {
        write!(terminal, "  [d]eny (default), [s]top the agent, allow [o]nce, allow [a]lways: ").map_err(failed)?;
        match line(&mut answers)?.as_str() {
            "" | "d" | "deny" => return Ok(Verdict::Deny(Refusal::new("person", "a person said no"))),
            "s" | "stop" => return Ok(Verdict::DenyAndHalt(Refusal::new("person", "a person said no, and to stop"))),
            "o" | "once" => return Ok(Verdict::AllowOnce),
            "a" | "always" if confirmed(request, grant_ttl, &mut terminal, &mut answers)? => {
                return Ok(Verdict::AllowAlways(GrantTerms::default()));
            }
            _ => {}
        }
    }
}

/// "Always" is said twice, the second time with all that it means in view.
fn confirmed(request: &PromptRequest, grant_ttl: Duration, terminal: &mut File, answers: &mut impl BufRead) -> Result<bool, PromptError> {
    let context = &request.call.context;
    let who = context.principal.as_ref().map_or_else(|| "anybody".to_owned(), |principal| show_text(&principal.to_string()));
    let hours = grant_ttl.as_secs_f64() / 3_600.0;
    writeln!(
        terminal,
        "  Allow {who} to call `{}` on `{}` with ANY arguments for {hours:.1} h, as long as its definition stays the same?",
        show_text(request.call.tool.name()),
        context.server,
    )
    .map_err(failed)?;
    write!(terminal, "  Type yes to confirm: ").map_err(failed)?;
    Ok(line(answers)? == "yes")
}

/// The host shows the call; the approver's words are quoted below it.
fn page(request: &PromptRequest) -> String {
    let PromptRequest { call, question, headline, details } = request;
    let context = &call.context;
    let mut page = String::from("\n  A tool call waits for your approval.\n\n");
    let mut row = |label: &str, text: String| page.push_str(&format!("  {label:<12}{text}\n"));
    row("server", context.server.to_string());
    row("tool", show_text(call.tool.name()));
    row("principal", context.principal.as_ref().map_or_else(|| "none".to_owned(), |principal| show_text(&principal.to_string())));
    row(
        "why",
        question.rule.as_ref().map_or_else(
            || question.reason.as_str().to_owned(),
            |rule| format!("{}: rule `{}`", question.reason.as_str(), show_text(rule)),
        ),
    );
    if !context.taint.is_empty() {
        row("tainted by", show_text(&context.taint.iter().cloned().collect::<Vec<_>>().join(", ")));
    }
    for (hook, message) in &question.hook_messages {
        row("hook says", format!("`{}`: {}", show_text(hook), show_text(message)));
    }
    row("arguments", show_json(&call.arguments.canonical().chars().take(MAX_SHOWN_CHARS).collect::<String>()));
    row("digest", call.arguments.digest().to_string());
    if question.meta.as_object().is_some_and(|meta| !meta.is_empty()) {
        row("meta", show_json(&question.meta.to_string().chars().take(MAX_WORDS_CHARS).collect::<String>()));
    }
    if let Some(earlier) = &question.earlier_arguments {
        row("changed", show_json(&changes(&patch(&diff(earlier.value(), call.arguments.value())))));
    }
    if let Some(definition) = &question.definition_changes {
        row("definition", show_json(&changes(definition)));
    }
    row("expires in", format!("{} s", seconds_until(question.expires_ms)));
    if !headline.is_empty() || !details.is_empty() {
        let quoted = |text: &str| show_text(&text.chars().take(MAX_WORDS_CHARS).collect::<String>());
        page.push_str(&format!("\n  The approver plugin says: {}\n  {}\n", quoted(headline), quoted(details)));
    }
    page.push('\n');
    page
}

fn changes(patch: &Json) -> String {
    patch.to_string().chars().take(MAX_WORDS_CHARS).collect()
}

fn seconds_until(expires_ms: u64) -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    expires_ms.saturating_sub(u64::try_from(now).unwrap_or(u64::MAX)) / 1_000
}

fn line(answers: &mut impl BufRead) -> Result<String, PromptError> {
    let mut line = String::new();
    let read = answers.read_line(&mut line).map_err(failed)?;
    if read == 0 { Err(PromptError::Unanswered) } else { Ok(line.trim().to_lowercase()) }
}

fn failed(error: std::io::Error) -> PromptError {
    PromptError::Other(error.to_string())
}
