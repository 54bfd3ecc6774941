//! How an extension point can fail to answer. One vocabulary for all of them, plugins and closures alike.

use std::fmt::{Display, Formatter};

/// An extension point gave no answer. Wherever this happens, the call fails closed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// In one word, how.
    pub kind: FailureKind,
    /// The limit that ended it, for `timeout` and `memory`.
    pub limit: Option<Limit>,
    /// What the plugin or the engine said. Payload (T22): for the operator's eyes, never for telemetry or a model.
    pub text: Option<String>,
}

/// How an extension point failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FailureKind {
    /// It broke: a trap, or a closure's panic (the requirement's raise).
    Trap,
    /// It tried to end its process.
    Exit,
    /// It took too long: see [`Limit`].
    Timeout,
    /// It wanted more memory than it may have.
    Memory,
    /// Its answer is malformed.
    BadReturn,
    /// It used an import that its stage or grant lacks.
    Refused,
    /// It is not there.
    NotLoaded,
    /// It said that it could not answer.
    NoAnswer,
}

/// What ended a plugin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Limit {
    /// Its fuel: instructions, a deterministic bound.
    Fuel,
    /// The epoch deadline: running time.
    Deadline,
    /// The wall clock.
    WallClock,
    /// The wait for a free sandbox.
    Queue,
    /// What all plugins of one call together may take.
    CallBudget,
}

impl Failure {
    /// A failure of that kind, with nothing more to say.
    #[must_use]
    pub fn new(kind: FailureKind) -> Self {
        Self { kind, limit: None, text: None }
    }

    /// A timeout by that limit.
    #[must_use]
    pub fn timeout(limit: Limit) -> Self {
        Self { limit: Some(limit), ..Self::new(FailureKind::Timeout) }
    }

    /// With the plugin's or engine's own words.
    #[must_use]
    pub fn with_text(self, text: impl Into<String>) -> Self {
        Self { text: Some(text.into()), ..self }
    }
}

impl FailureKind {
    /// The stable word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            FailureKind::Trap => "trap",
            FailureKind::Exit => "exit",
            FailureKind::Timeout => "timeout",
            FailureKind::Memory => "memory",
            FailureKind::BadReturn => "bad_return",
            FailureKind::Refused => "refused",
            FailureKind::NotLoaded => "not_loaded",
            FailureKind::NoAnswer => "no_answer",
        }
    }
}

impl Limit {
    /// The stable word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Limit::Fuel => "fuel",
            Limit::Deadline => "deadline",
            Limit::WallClock => "wall_clock",
            Limit::Queue => "queue",
            Limit::CallBudget => "call_budget",
        }
    }
}

impl Display for Failure {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.kind.as_str())?;
        self.limit.map_or(Ok(()), |limit| write!(f, " ({})", limit.as_str()))
    }
}

/// An extension point's answer and what it cost.
#[derive(Clone, Debug)]
pub struct Metered<T> {
    /// The answer.
    pub answer: Result<T, Failure>,
    /// Fuel that a plugin burned; none for a closure.
    pub fuel: Option<u64>,
    /// Why it answered so, in its own words: for `--trace` and the approver, never for the caller.
    pub note: Option<String>,
}

impl<T> From<Result<T, Failure>> for Metered<T> {
    fn from(answer: Result<T, Failure>) -> Self {
        Self { answer, fuel: None, note: None }
    }
}

impl<T> Metered<T> {
    /// The same cost with another answer.
    pub fn map<U>(self, convert: impl FnOnce(T) -> Result<U, Failure>) -> Metered<U> {
        Metered { answer: self.answer.and_then(convert), fuel: self.fuel, note: self.note }
    }
}
