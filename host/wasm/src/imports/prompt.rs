//! `prompt`: the one function that waits, for a person. It runs on a fiber, and its wait counts neither as fuel nor as running time.

use callgate_core::extension::{PromptError, Refusal, Verdict};
use wasmtime::Result;

use crate::contract::callgate::plugin::prompt::{self, Host};
use crate::contract::callgate::plugin::types;
use crate::limits::{MAX_DETAILS_CHARS, MAX_HEADLINE_CHARS};
use crate::state::{Halt, State};

impl Host for State {
    async fn ask(&mut self, headline: String, details: String) -> Result<std::result::Result<types::Verdict, prompt::PromptError>> {
        self.enter(headline.len() + details.len())?;
        let subject = self.subject_mut().ok_or_else(|| Halt::Refused("prompt".to_owned()))?;
        let prompt = subject.prompt.take().ok_or(Halt::SecondPrompt)?;
        let (headline, details) = (cut(&headline, MAX_HEADLINE_CHARS), cut(&details, MAX_DETAILS_CHARS));
        self.clock.pause();
        let answer = prompt.ask(&headline, &details).await;
        self.clock.resume();
        Ok(answer.map(verdict).map_err(prompt_error))
    }
}

fn cut(text: &str, chars: usize) -> String {
    text.chars().take(chars).collect()
}

fn verdict(verdict: Verdict) -> types::Verdict {
    match verdict {
        Verdict::Deny(refusal) => types::Verdict::Deny(refused(refusal)),
        Verdict::DenyAndHalt(refusal) => types::Verdict::DenyAndHalt(refused(refusal)),
        Verdict::AllowOnce => types::Verdict::AllowOnce,
        Verdict::AllowAlways(terms) => types::Verdict::AllowAlways(Some(terms.to_json().to_string())),
    }
}

fn refused(refusal: Refusal) -> types::Refusal {
    types::Refusal { reason: refusal.reason, message: refusal.message, data: refusal.data.map(|data| data.to_string()) }
}

fn prompt_error(error: PromptError) -> prompt::PromptError {
    match error {
        PromptError::Unavailable => prompt::PromptError::Unavailable,
        PromptError::Unanswered => prompt::PromptError::Unanswered,
        PromptError::Other(text) => prompt::PromptError::Other(text),
    }
}
