//! What a plugin's function may return.

use std::fmt::Display;

use crate::{FailureOutcome, Finding, PostOutcome, PreOutcome, Verdict, Visibility};

/// Can be given as an answer: an outcome itself, or a `Result` of one with an error that can be displayed.
pub trait IntoAnswer<Outcome> {
    /// The answer; an error means that the plugin could not answer, and fails closed.
    fn into_answer(self) -> Result<Outcome, String>;
}

impl<Outcome, Answer: IntoAnswer<Outcome>, Error: Display> IntoAnswer<Outcome> for Result<Answer, Error> {
    fn into_answer(self) -> Result<Outcome, String> {
        self.map_err(|error| error.to_string())?.into_answer()
    }
}

macro_rules! answers {
    ($($outcome:ty),+) => {$(
        impl IntoAnswer<$outcome> for $outcome {
            fn into_answer(self) -> Result<$outcome, String> {
                Ok(self)
            }
        }
    )+};
}

answers!(Visibility, Finding, PreOutcome, PostOutcome, FailureOutcome, Verdict);

/// True: the tool is visible.
impl IntoAnswer<Visibility> for bool {
    fn into_answer(self) -> Result<Visibility, String> {
        Ok(if self { Visibility::Visible } else { Visibility::Hidden })
    }
}

/// True: the condition holds.
impl IntoAnswer<Finding> for bool {
    fn into_answer(self) -> Result<Finding, String> {
        Ok(if self { Finding::Match } else { Finding::NoMatch })
    }
}
