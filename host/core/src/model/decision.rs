//! What policy decided.

use std::collections::BTreeSet;
use std::fmt::{Display, Formatter};

use crate::json::Json;

use super::Reason;

/// What policy says of a call, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// What becomes of the call.
    pub effect: Effect,
    /// Why, in one word.
    pub reason: Reason,
    /// The rule that decided, where one did.
    pub rule: Option<String>,
    /// Other rules that matched and did not decide.
    pub also: Vec<String>,
    /// What a person is asked about: a grant settles an ask only if it was given under at least these (T8).
    pub causes: BTreeSet<Cause>,
    /// Whether a grant may settle or come of this ask.
    pub grantable: bool,
}

/// What becomes of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// It is not sent.
    Deny,
    /// A grant or the approver decides.
    Ask,
    /// It goes on.
    Allow,
}

/// Something that makes a call one to ask about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// An ask rule.
    Rule(String),
    /// A pre-hook.
    Hook(String),
    /// A definition that is not the approved one: `tool_changed`, `tool_new`.
    Pin(Reason),
    /// No rule at all.
    Default,
}

impl Decision {
    /// As data of errors and records: codes and names only.
    #[must_use]
    pub fn to_json(&self) -> Json {
        let list = |texts: Vec<String>| Json::Array(texts.into_iter().map(Json::from).collect());
        [
            ("effect", Json::from(self.effect.as_str())),
            ("reason", self.reason.as_str().into()),
            ("rule", self.rule.clone().into()),
            ("also", list(self.also.clone())),
            ("causes", list(self.causes.iter().map(ToString::to_string).collect())),
        ]
        .into_iter()
        .collect()
    }
}

impl Effect {
    /// The stable word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Effect::Deny => "deny",
            Effect::Ask => "ask",
            Effect::Allow => "allow",
        }
    }
}

impl Display for Cause {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Cause::Rule(name) => write!(f, "rule:{name}"),
            Cause::Hook(name) => write!(f, "hook:{name}"),
            Cause::Pin(reason) => write!(f, "pin:{}", reason.as_str()),
            Cause::Default => f.write_str("default"),
        }
    }
}
