//! An approver's verdicts.

use serde::Serialize;
use serde_json::Value;

use crate::{Verdict, refusal};

/// Do not send the call, and tell an agent's loop to stop.
pub fn deny_and_halt(reason: impl Into<String>, message: impl Into<String>) -> Verdict {
    Verdict::DenyAndHalt(refusal(reason, message))
}

/// Send this call (power `decide`, unless a person said so through `prompt`).
pub fn allow_once() -> Verdict {
    Verdict::AllowOnce
}

/// Send this call and record a grant with the host's terms (power `always`).
pub fn allow_always() -> Verdict {
    Verdict::AllowAlways(None)
}

/// The terms of a grant; what is left out is the host's default.
///
/// ```
/// use callgate_sdk::{Terms, Verdict, json};
///
/// let verdict = Terms { uses: Some(3), ..Terms::default() }.always();
/// assert_eq!(verdict, Verdict::AllowAlways(Some(json!({ "uses": 3 }).to_string())));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Terms {
    /// What the arguments of a call must fit for the grant to settle it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub constraints: Option<Value>,
    /// How many calls it settles.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uses: Option<u64>,
    /// How long it lives.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<u64>,
    /// Why it was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl Terms {
    /// Send this call and record a grant with these terms (power `always`).
    pub fn always(self) -> Verdict {
        // Terms that cannot be written become the narrowest answer that still allows: this call alone.
        serde_json::to_string(&self).map_or(Verdict::AllowOnce, |terms| Verdict::AllowAlways(Some(terms)))
    }
}
