//! Steps 4 and 11: hooks. Each sees what its predecessor left; each is held to its entry's powers by what it did, not by what it
//! says.

mod after;
mod before;

use crate::extension::Refusal;
use crate::json::{Change, Json, Pointer};
use crate::model::{Error, Failure, FailureKind, Kind, Reason};
use crate::revision::Powers;

pub(crate) use after::after;
pub(crate) use before::{Asks, Before, before};

/// How a hook went wrong.
enum Fault {
    /// It gave no answer.
    Failed(Failure),
    /// It did what it may not.
    Exceeded(&'static str),
}

impl Fault {
    fn into_error(self, plugin: &str) -> Error {
        match self {
            Fault::Failed(failure) => Error::hook_failed(plugin, &failure),
            Fault::Exceeded(what) => {
                Error::new(Kind::Hook, Reason::PowerExceeded, format!("`{plugin}` wanted to {what}, which its `may` line does not grant"))
                    .with_data([("plugin", plugin), ("action", what)].into_iter().collect())
            }
        }
    }

    /// For events: going beyond one's powers is a refusal by the host.
    fn as_failure(&self) -> Failure {
        match self {
            Fault::Failed(failure) => failure.clone(),
            Fault::Exceeded(what) => Failure::new(FailureKind::Refused).with_text(format!("power exceeded: {what}")),
        }
    }
}

impl From<Failure> for Fault {
    fn from(failure: Failure) -> Self {
        Fault::Failed(failure)
    }
}

/// An answer that cannot be read.
fn bad_return(why: impl ToString) -> Fault {
    Fault::Failed(Failure::new(FailureKind::BadReturn).with_text(why.to_string()))
}

/// Whether every change lies at or below a pointer that may be rewritten. A change of an array's length is one of the array (T20).
fn may_rewrite(powers: &Powers, changes: &[Change]) -> bool {
    let allowed = |place: &Pointer| powers.rewrite.iter().any(|granted| granted.covers(place));
    changes.iter().all(|change| allowed(&change.pointer))
}

/// `{"plugin","reason","message","data"}` of a refusal.
fn refusal_data(plugin: &str, refusal: &Refusal) -> Json {
    [("plugin", Json::from(plugin)), ("reason", refusal.reason.as_str().into()), ("message", refusal.message.as_str().into())]
        .into_iter()
        .chain(refusal.data.clone().map(|data| ("data", data)))
        .collect()
}
