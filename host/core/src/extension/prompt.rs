//! How an approver asks a person. The host shows the call; what the approver says is shown beside it, as the approver's words (T7).

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;

use crate::model::{Call, Question};

use super::Verdict;

/// A way to a person: a terminal, a client, a web page.
#[async_trait]
pub trait Prompter: Send + Sync {
    /// Shows the call and waits for an answer. Dropping the future takes the question back.
    ///
    /// # Errors
    /// [`PromptError`]: in every case nobody said yes.
    async fn ask(&self, request: PromptRequest) -> Result<Verdict, PromptError>;
}

/// What a person is asked.
#[derive(Clone, Debug)]
pub struct PromptRequest {
    /// The call, with the arguments that will be sent.
    pub call: Call,
    /// Why it is asked about, and until when an answer counts.
    pub question: Arc<Question>,
    /// The approver's headline. Its words, not the host's.
    pub headline: String,
    /// The approver's details. Its words, not the host's.
    pub details: String,
}

/// Why no person answered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PromptError {
    /// There is no way to ask.
    #[error("there is no way to ask a person here")]
    Unavailable,
    /// Nobody answered in time.
    #[error("nobody answered in time")]
    Unanswered,
    /// Something else.
    #[error("asking failed: {0}")]
    Other(String),
}

/// An approver's one chance to ask a person about the current call. What the person said is kept here, so that an approver cannot
/// claim more than it was told.
#[derive(Clone)]
pub struct Prompt(Arc<Inner>);

struct Inner {
    prompter: Option<Arc<dyn Prompter>>,
    call: Call,
    question: Arc<Question>,
    state: Mutex<State>,
}

#[derive(Clone)]
enum State {
    Unused,
    Asked,
    Answered(Verdict),
}

impl Prompt {
    pub(crate) fn new(prompter: Option<Arc<dyn Prompter>>, call: Call, question: Arc<Question>) -> Self {
        Self(Arc::new(Inner { prompter, call, question, state: Mutex::new(State::Unused) }))
    }

    /// Asks the person, once per review.
    ///
    /// # Errors
    /// [`PromptError::Unavailable`] where there is no way to ask; [`PromptError::Other`] the second time.
    pub async fn ask(&self, headline: &str, details: &str) -> Result<Verdict, PromptError> {
        let prompter = self.0.prompter.clone().ok_or(PromptError::Unavailable)?;
        if !self.begin() {
            return Err(PromptError::Other("a person was asked already in this review".to_owned()));
        }
        let request = PromptRequest {
            call: self.0.call.clone(),
            question: self.0.question.clone(),
            headline: headline.to_owned(),
            details: details.to_owned(),
        };
        let verdict = prompter.ask(request).await?;
        *self.0.state.lock().unwrap_or_else(PoisonError::into_inner) = State::Answered(verdict.clone());
        Ok(verdict)
    }

    fn begin(&self) -> bool {
        let mut state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
        let unused = matches!(*state, State::Unused);
        if unused {
            *state = State::Asked;
        }
        unused
    }

    /// What the person said: none where nobody was asked; a prompt that failed counts as no answer.
    pub(crate) fn outcome(&self) -> PromptOutcome {
        match self.0.state.lock().unwrap_or_else(PoisonError::into_inner).clone() {
            State::Unused => PromptOutcome::NotAsked,
            State::Asked => PromptOutcome::NoAnswer,
            State::Answered(verdict) => PromptOutcome::Answered(verdict),
        }
    }
}

/// What became of an approver's prompt.
pub(crate) enum PromptOutcome {
    NotAsked,
    NoAnswer,
    Answered(Verdict),
}
