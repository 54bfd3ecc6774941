//! The short words for answers.

use serde_json::Value;

use crate::{FailureOutcome, FailureText, PostOutcome, PreOutcome, Refusal, Verdict, Visibility};

/// A reason for programs (a snake_case word) and a message for people (one sentence).
pub fn refusal(reason: impl Into<String>, message: impl Into<String>) -> Refusal {
    Refusal { reason: reason.into(), message: message.into(), data: None }
}

impl Refusal {
    /// The same with data for programs that handle the error.
    #[must_use]
    pub fn with_data(self, data: impl Into<Value>) -> Self {
        Self { data: Some(data.into().to_string()), ..self }
    }
}

/// A refusal is an answer by itself where saying no is the only thing it can mean.
impl From<Refusal> for PreOutcome {
    fn from(refusal: Refusal) -> Self {
        Self::Deny(refusal)
    }
}

/// As an approver's answer: the call is not sent.
impl From<Refusal> for Verdict {
    fn from(refusal: Refusal) -> Self {
        Self::Deny(refusal)
    }
}

/// As a post-hook's answer: the result is withheld.
impl From<Refusal> for PostOutcome {
    fn from(refusal: Refusal) -> Self {
        Self::Withhold(refusal)
    }
}

/// Do not send the call: for pre-hooks (power `deny`) and approvers.
pub fn deny<Outcome: From<Refusal>>(reason: impl Into<String>, message: impl Into<String>) -> Outcome {
    refusal(reason, message).into()
}

/// Let policy ask about the call, at least (power `ask`).
pub fn ask(reason: impl Into<String>, message: impl Into<String>) -> PreOutcome {
    PreOutcome::Ask(refusal(reason, message))
}

/// Go on with the arguments as they are.
pub fn proceed() -> PreOutcome {
    PreOutcome::Proceed
}

/// Go on with these arguments instead (power `rewrite` for every pointer that changes).
pub fn rewrite(arguments: impl Into<Value>) -> PreOutcome {
    PreOutcome::Rewrite(arguments.into().to_string())
}

/// End the call with this result, as if the server had given it (power `halt`).
pub fn halt(result: impl Into<Value>) -> PreOutcome {
    PreOutcome::Halt(result.into().to_string())
}

/// End the call with a result that is one piece of text (power `halt`).
pub fn halt_text(text: impl Into<String>) -> PreOutcome {
    halt(serde_json::json!({ "content": [{ "type": "text", "text": text.into() }] }))
}

/// Can leave everything as it was.
pub trait Keep {
    /// The answer that changes nothing.
    fn unchanged() -> Self;
}

impl Keep for PostOutcome {
    fn unchanged() -> Self {
        Self::Keep
    }
}

impl Keep for FailureOutcome {
    fn unchanged() -> Self {
        Self::Keep
    }
}

/// Leave the result, or the error, as it is.
pub fn keep<Outcome: Keep>() -> Outcome {
    Outcome::unchanged()
}

/// Use this result instead (power `replace`).
pub fn replace(result: impl Into<Value>) -> PostOutcome {
    PostOutcome::Replace(result.into().to_string())
}

/// Use this result instead, given as JSON text, so that what did not change stays byte for byte (power `replace`).
pub fn replace_text(json: impl Into<String>) -> PostOutcome {
    PostOutcome::Replace(json.into())
}

/// Give the caller an error in place of the result (power `withhold`).
pub fn withhold(reason: impl Into<String>, message: impl Into<String>) -> PostOutcome {
    PostOutcome::Withhold(refusal(reason, message))
}

/// Use this message, and this data as JSON text or none, in the error (power `replace`).
pub fn reword(message: impl Into<String>, data: Option<String>) -> FailureOutcome {
    FailureOutcome::Replace(FailureText { message: message.into(), data })
}

/// The tool is there.
pub fn show() -> Visibility {
    Visibility::Visible
}

/// The tool is not there.
pub fn hide() -> Visibility {
    Visibility::Hidden
}
