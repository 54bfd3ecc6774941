//! What extension points answer. Refusing or undecided comes first everywhere: nothing that is all zero ever means yes.

use crate::json::Json;
use crate::model::GrantTerms;

/// Characters that a refusal's message keeps.
const MAX_MESSAGE_CHARS: usize = 1_000;

/// A no, with its reason.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    /// A snake_case word of at most 64 characters, for programs; `unspecified` where the plugin gave none such (T22).
    pub reason: String,
    /// One sentence for people; payload of whoever refuses.
    pub message: String,
    /// What belongs to it.
    pub data: Option<Json>,
}

impl Refusal {
    /// A refusal; a reason that is no snake_case word becomes `unspecified`, a long message is cut.
    #[must_use]
    pub fn new(reason: &str, message: &str) -> Self {
        let word = (1..=64).contains(&reason.len())
            && reason.starts_with(|first: char| first.is_ascii_lowercase())
            && reason.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
        Self {
            reason: if word { reason } else { "unspecified" }.to_owned(),
            message: message.chars().take(MAX_MESSAGE_CHARS).collect(),
            data: None,
        }
    }

    /// With data.
    #[must_use]
    pub fn with_data(self, data: Option<Json>) -> Self {
        Self { data, ..self }
    }
}

/// What a pre-hook wants.
#[derive(Clone, Debug, PartialEq)]
pub enum PreOutcome {
    /// End the call: denied.
    Deny(Refusal),
    /// Let policy treat the call as one to ask about, at least.
    Ask(Refusal),
    /// Go on with the arguments as they are.
    Proceed,
    /// Go on with these arguments, an object.
    Rewrite(Json),
    /// End the call with this result, as if the server had given it; nothing is sent.
    Halt(Json),
}

/// What a post-hook wants.
#[derive(Clone, Debug, PartialEq)]
pub enum PostOutcome {
    /// The caller gets an error that says that the call was sent.
    Withhold(Refusal),
    /// The result stays as it is.
    Keep,
    /// The caller gets this result.
    Replace(Json),
}

/// An error's text.
#[derive(Clone, Debug, PartialEq)]
pub struct FailureText {
    /// The message.
    pub message: String,
    /// What belongs to it.
    pub data: Option<Json>,
}

/// What a failure hook wants.
#[derive(Clone, Debug, PartialEq)]
pub enum FailureOutcome {
    /// The error stays as it is.
    Keep,
    /// This message and data, in place of the error's.
    Replace(FailureText),
}

/// Whether a tool exists for a caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visibility {
    /// It does not.
    Hidden,
    /// It does.
    Visible,
}

/// Whether a condition holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finding {
    /// Nobody can say: counts as a failure.
    Undecided,
    /// It does not.
    NoMatch,
    /// It does.
    Match,
}

/// What an approver, or a person, says of an ask.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// No.
    Deny(Refusal),
    /// No, and the agent should stop.
    DenyAndHalt(Refusal),
    /// Yes, this call.
    AllowOnce,
    /// Yes, and calls like it from now on, on these terms.
    AllowAlways(GrantTerms),
}

impl Verdict {
    /// How far a verdict goes: a stricter one is smaller.
    fn reach(&self) -> u8 {
        match self {
            Verdict::DenyAndHalt(_) => 0,
            Verdict::Deny(_) => 1,
            Verdict::AllowOnce => 2,
            Verdict::AllowAlways(_) => 3,
        }
    }

    /// The stricter of two (T7); of two equally strict ones, the first. Two that allow for good do so on both's terms.
    #[must_use]
    pub fn stricter(self, other: Verdict) -> Verdict {
        match (self, other) {
            (Verdict::AllowAlways(terms), Verdict::AllowAlways(others)) => Verdict::AllowAlways(terms.narrowed_by(others)),
            (first, second) => {
                if second.reach() < first.reach() {
                    second
                } else {
                    first
                }
            }
        }
    }

    /// The stable word.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Verdict::Deny(_) => "deny",
            Verdict::DenyAndHalt(_) => "deny_and_halt",
            Verdict::AllowOnce => "allow_once",
            Verdict::AllowAlways(_) => "allow_always",
        }
    }
}
