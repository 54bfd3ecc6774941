//! Asking a person. For approvers that the operator granted the `prompt` capability.

use std::fmt;

use crate::Verdict;
#[cfg(target_arch = "wasm32")]
use crate::bindings::imports::callgate::plugin::prompt as host;
use crate::bindings::imports::callgate::plugin::prompt::PromptError;
use crate::source::from;

/// Why nobody answered. It can be displayed, so `?` hands it on, and the call is denied.
#[derive(Debug, Clone, PartialEq)]
pub enum Unanswered {
    /// There is nobody to ask.
    Unavailable,
    /// The time for the answer ran out, or the person turned away.
    Unanswered,
    /// Something else went wrong.
    Other(String),
}

impl fmt::Display for Unanswered {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unavailable => out.write_str("there is nobody to ask"),
            Self::Unanswered => out.write_str("nobody answered"),
            Self::Other(text) => write!(out, "the question could not be put: {text}"),
        }
    }
}

impl std::error::Error for Unanswered {}

impl From<PromptError> for Unanswered {
    fn from(error: PromptError) -> Self {
        match error {
            PromptError::Unavailable => Self::Unavailable,
            PromptError::Unanswered => Self::Unanswered,
            PromptError::Other(text) => Self::Other(text),
        }
    }
}

/// Puts the question to a person and waits for the answer. The host shows the call itself; the headline and the details
/// are shown beside it as the plugin's words. Once an invocation: a second question ends it.
pub fn ask(headline: &str, details: &str) -> Result<Verdict, Unanswered> {
    from!(host::ask(headline, details).map_err(Unanswered::from), crate::testing::prompted(headline, details))
}
