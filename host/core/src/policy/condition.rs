//! What a rule looks at.

use std::collections::BTreeSet;

use crate::json::{Json, Pointer};
use crate::model::{Call, Era, Hint};

use super::{Glob, Oracle, PredicateEntry, Truth, ValueTest};

/// A condition on a call. Each leaf is true, false or failed; `All`, `Any` and `Not` are strong Kleene logic (T1).
#[derive(Clone, Debug)]
pub enum Condition {
    /// The tool's name matches.
    Tool(Glob),
    /// The server's name matches.
    Server(Glob),
    /// A hint has this effective value: the protocol's worst one for servers that are not trusted (T9).
    Annotation(Hint, bool),
    /// The argument at a pointer passes a test; failed where it is missing, or of a type that the test is not about.
    Argument(Pointer, ValueTest),
    /// The principal's text matches; failed where there is no principal.
    Principal(Glob),
    /// The server speaks like this.
    Era(Era),
    /// The assign of that key passes a test; failed where it is missing.
    Assign(String, ValueTest),
    /// The taint holds a server other than the tool's own and these (HB-3).
    Tainted(BTreeSet<String>),
    /// A predicate says so.
    Predicate(PredicateEntry),
    /// All of these hold.
    All(Vec<Condition>),
    /// One of these holds.
    Any(Vec<Condition>),
    /// This does not hold.
    Not(Box<Condition>),
}

impl Condition {
    /// Whether it holds for a call.
    pub fn holds(&self, call: &Call, oracle: &mut dyn Oracle) -> Truth {
        let context = &call.context;
        match self {
            Condition::Tool(glob) => glob.matches(call.tool.name()).into(),
            Condition::Server(glob) => glob.matches(context.server.as_str()).into(),
            Condition::Annotation(hint, value) => (call.tool.hint(*hint) == *value).into(),
            Condition::Argument(pointer, test) => test.check(call.arguments.at(pointer)),
            Condition::Principal(glob) => context.principal.as_ref().map_or(Truth::Failed, |principal| glob.judge(&principal.to_string())),
            Condition::Era(era) => (context.era == *era).into(),
            Condition::Assign(key, test) => test.check(context.assigns.get(key).filter(|value| !matches!(value, Json::Null))),
            Condition::Tainted(ignore) => context.is_tainted(ignore.iter().map(String::as_str)).into(),
            Condition::Predicate(entry) => oracle.consult(entry, call),
            Condition::All(conditions) => Truth::all(conditions.iter().map(|condition| condition.holds(call, oracle))),
            Condition::Any(conditions) => Truth::any(conditions.iter().map(|condition| condition.holds(call, oracle))),
            Condition::Not(condition) => condition.holds(call, oracle).negate(),
        }
    }

    /// Every predicate in it.
    pub(super) fn predicates(&self) -> Vec<&PredicateEntry> {
        match self {
            Condition::Predicate(entry) => vec![entry],
            Condition::All(conditions) | Condition::Any(conditions) => conditions.iter().flat_map(Condition::predicates).collect(),
            Condition::Not(condition) => condition.predicates(),
            _ => Vec::new(),
        }
    }
}
