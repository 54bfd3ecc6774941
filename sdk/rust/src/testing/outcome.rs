//! Outcomes as JSON, so that a fixture can say what it expects.

use serde_json::{Value, json};

use crate::{FailureOutcome, Finding, PostOutcome, PreOutcome, Refusal, Verdict, Visibility};

/// Has a form in JSON: the outcome's name, alone or with what it carries.
pub(crate) trait Shown {
    fn shown(&self) -> Value;
}

/// Text that should be JSON; what is not is shown as it is, and fits no expectation.
fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| json!({ "not json": text }))
}

impl Shown for Refusal {
    fn shown(&self) -> Value {
        let mut shown = json!({ "reason": self.reason, "message": self.message });
        if let (Some(data), Some(object)) = (&self.data, shown.as_object_mut()) {
            object.insert("data".to_owned(), parsed(data));
        }
        shown
    }
}

impl Shown for PreOutcome {
    fn shown(&self) -> Value {
        match self {
            Self::Deny(refusal) => json!({ "deny": refusal.shown() }),
            Self::Ask(refusal) => json!({ "ask": refusal.shown() }),
            Self::Proceed => json!("proceed"),
            Self::Rewrite(arguments) => json!({ "rewrite": parsed(arguments) }),
            Self::Halt(result) => json!({ "halt": parsed(result) }),
        }
    }
}

impl Shown for PostOutcome {
    fn shown(&self) -> Value {
        match self {
            Self::Withhold(refusal) => json!({ "withhold": refusal.shown() }),
            Self::Keep => json!("keep"),
            Self::Replace(result) => json!({ "replace": parsed(result) }),
        }
    }
}

impl Shown for FailureOutcome {
    fn shown(&self) -> Value {
        match self {
            Self::Keep => json!("keep"),
            Self::Replace(text) => {
                json!({ "replace": { "message": text.message, "data": text.data.as_deref().map(parsed) } })
            }
        }
    }
}

impl Shown for Visibility {
    fn shown(&self) -> Value {
        match self {
            Self::Hidden => json!("hidden"),
            Self::Visible => json!("visible"),
        }
    }
}

impl Shown for Finding {
    fn shown(&self) -> Value {
        match self {
            Self::Undecided => json!("undecided"),
            Self::NoMatch => json!("no-match"),
            Self::Match => json!("match"),
        }
    }
}

impl Shown for Verdict {
    fn shown(&self) -> Value {
        match self {
            Self::Deny(refusal) => json!({ "deny": refusal.shown() }),
            Self::DenyAndHalt(refusal) => json!({ "deny-and-halt": refusal.shown() }),
            Self::AllowOnce => json!("allow-once"),
            Self::AllowAlways(None) => json!("allow-always"),
            Self::AllowAlways(Some(terms)) => json!({ "allow-always": parsed(terms) }),
        }
    }
}

impl<T: Shown> Shown for Result<T, String> {
    fn shown(&self) -> Value {
        match self {
            Ok(outcome) => outcome.shown(),
            Err(error) => json!({ "error": error }),
        }
    }
}

/// Whether an outcome is as expected: the same, except that a refusal need only have the members that are named, and an
/// error must only contain the text.
pub(crate) fn fits(expected: &Value, shown: &Value) -> bool {
    let (Value::Object(expected), Value::Object(shown)) = (expected, shown) else {
        return expected == shown;
    };
    expected.len() == shown.len()
        && expected.iter().all(|(name, wanted)| match (name.as_str(), shown.get(name)) {
            (_, None) => false,
            ("error", Some(text)) => wanted.as_str().zip(text.as_str()).is_some_and(|(part, text)| text.contains(part)),
            ("deny" | "deny-and-halt" | "ask" | "withhold", Some(refusal)) => {
                wanted.as_object().is_some_and(|members| members.iter().all(|(key, value)| refusal.get(key) == Some(value)))
            }
            (_, Some(value)) => wanted == value,
        })
}
