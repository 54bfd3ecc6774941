//! Answers chosen calls with a result from the settings: nothing is sent. For demonstrations, for tools that are down, and for
//! calls whose answer never changes.

use callgate_sdk::glob;
use callgate_sdk::prelude::*;
use serde::Deserialize;

/// The answers, in the order in which they are tried.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The first one that fits is given.
    pub answers: Vec<Answer>,
}

/// One answer, and the calls it is for.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// A pattern of tool names.
    pub tool: String,
    /// What an argument must be.
    #[serde(default)]
    pub when: Option<When>,
    /// The whole result.
    #[serde(default)]
    pub result: Option<Value>,
    /// Or its only text.
    #[serde(default)]
    pub text: Option<String>,
}

/// A condition on one argument.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct When {
    /// Which argument.
    pub pointer: String,
    /// The value that it must have.
    pub equals: Value,
}

/// Checks that each answer is one.
pub fn configure(settings: Settings) -> Result<Settings, String> {
    for (index, answer) in settings.answers.iter().enumerate() {
        let wrong = match (&answer.result, &answer.text) {
            (Some(_), Some(_)) => Some("has both `result` and `text`"),
            (None, None) => Some("has neither `result` nor `text`"),
            (Some(result), None) if !result.get("content").is_some_and(Value::is_array) => {
                Some("has a `result` without a list of `content`")
            }
            _ => None,
        };
        if let Some(wrong) = wrong {
            return Err(format!("the answer for `{}` (number {}) {wrong}", answer.tool, index + 1));
        }
    }
    Ok(settings)
}

impl Answer {
    fn is_for(&self, name: &str, call: &ToolCall) -> bool {
        let fits = |when: &When| call.argument(&when.pointer).as_ref() == Some(&when.equals);
        glob::fits(&self.tool, name) && self.when.as_ref().is_none_or(fits)
    }
}

/// Ends a call for which there is an answer.
pub fn answer(call: &ToolCall, _context: &Context) -> Result<PreOutcome, String> {
    let name = call.tool().name();
    let found = settings::<Settings>()?.answers.iter().find(|answer| answer.is_for(&name, call));
    Ok(match found {
        Some(Answer { result: Some(result), .. }) => halt(result.clone()),
        Some(Answer { text: Some(text), .. }) => callgate_sdk::halt_text(text),
        _ => proceed(),
    })
}

callgate_sdk::export!(pre_hook = answer, configure = configure);

#[cfg(test)]
mod tests {
    use super::*;
    use callgate_sdk::testing;

    callgate_sdk::fixtures!("fixtures");

    #[test]
    fn the_first_answer_that_fits_is_given() {
        let text = |tool: &str, text: &str| Answer { tool: tool.into(), when: None, result: None, text: Some(text.into()) };
        testing::configured(Settings { answers: vec![text("get_*", "one"), text("get_time", "two")] });
        let outcome = answer(&testing::call("get_time", json!({})), &testing::context());
        assert_eq!(outcome, Ok(callgate_sdk::halt_text("one")));
    }
}
