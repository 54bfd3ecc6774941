//! Asking a person on the controlling terminal. Without one it is a deny, never a hang.

mod page;
mod tty;
mod turn;

use std::time::Duration;

use async_trait::async_trait;
use callgate::core::extension::{PromptError, PromptRequest, Prompter, Refusal, Verdict};
use callgate::core::model::GrantTerms;

use super::output;
use super::rows::MIN_COLUMNS;

use page::Page;
use tty::Tty;
use turn::Turn;

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
        let answer = asked.await.unwrap_or_else(|error| Err(PromptError::Other(error.to_string())));
        if let Err(error @ PromptError::Other(_)) = &answer {
            output::say(&format!("callgate: {error}"));
        }
        answer
    }
}

fn ask(request: &PromptRequest, grant_ttl: Duration) -> Result<Verdict, PromptError> {
    let mut tty = Tty::open()?;
    let _until_answered = Turn::wait()?;
    if page::seconds_until(request.question.expires_ms) == 0 {
        return Err(PromptError::Unanswered);
    }
    loop {
        let columns = tty.columns();
        if let Some(verdict) = ask_at(&mut tty, columns, request, grant_ttl)? {
            return Ok(verdict);
        }
        tty.show("\n  The terminal has another width now, so here it is again.\n")?;
    }
}

/// Asks on a page for this width. None where a yes was said to a terminal of another: it has broken the page's lines itself, and
/// what it shows at the left margin may not be the host's.
fn ask_at(tty: &mut Tty, columns: usize, request: &PromptRequest, grant_ttl: Duration) -> Result<Option<Verdict>, PromptError> {
    if columns < MIN_COLUMNS {
        tty.show(&format!(
            "\n  A tool call waits for approval, but it can be shown\n  only in a terminal of {MIN_COLUMNS} columns or more.\n"
        ))?;
        return Ok(Some(Verdict::Deny(Refusal::new("terminal_too_narrow", "the terminal is too narrow to show the call"))));
    }
    let page = Page::of(request, columns);
    tty.show(page.text())?;
    if !page.cut().is_empty() {
        let what = page.cut().join(", ");
        tty.show(&format!("  Too long to be shown, so this call cannot be approved here: {what}.\n\n"))?;
        return Ok(Some(Verdict::Deny(Refusal::new("too_long_to_show", &format!("too long to be shown to a person: {what}")))));
    }
    let yes = loop {
        match tty.answer("  [d]eny (default), [s]top the agent, allow [o]nce, allow [a]lways: ")?.as_str() {
            "" | "d" | "deny" => return Ok(Some(Verdict::Deny(Refusal::new("person", "a person said no")))),
            "s" | "stop" => return Ok(Some(Verdict::DenyAndHalt(Refusal::new("person", "a person said no, and to stop")))),
            "o" | "once" => break Verdict::AllowOnce,
            "a" | "always" => {
                // Said twice, the second time with all that it means in view.
                tty.show(Page::standing(request, grant_ttl, columns).text())?;
                if tty.answer("  Type yes to confirm: ")? == "yes" {
                    break Verdict::AllowAlways(GrantTerms::default());
                }
            }
            _ => {}
        }
    };
    Ok((tty.columns() == columns).then_some(yes))
}
