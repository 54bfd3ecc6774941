//! Asks a person, and does what they say.
//!
//! The host shows the person the call itself. What is worth saying beside it is why it is asked, and what is different from
//! what they approved before.

mod differences;

use callgate_sdk::prelude::*;

/// Lines that a person will still read.
const MOST_LINES: usize = 20;

/// Puts the question to a person. Where nobody answers, this is an error, and the call is denied.
pub fn review(call: &ToolCall, question: &Question, _context: &Context) -> Result<Verdict, prompt::Unanswered> {
    prompt::ask(&headline(question), &details(call, question))
}

fn headline(question: &Question) -> String {
    let why = match question.reason().as_str() {
        "tool_changed" => "This tool's definition has changed since it was approved.".to_owned(),
        "tool_new" => "This tool is new: nobody has approved it yet.".to_owned(),
        reason => format!("This call needs your approval: {}.", reason.replace('_', " ")),
    };
    match question.rule() {
        Some(rule) => format!("{why} (rule: {rule})"),
        None => why,
    }
}

fn details(call: &ToolCall, question: &Question) -> String {
    let mut lines = Vec::new();
    if let Some(patch) = question.definition_changes() {
        section(&mut lines, "What changed in the definition:", differences::of_patch(&patch));
    }
    if let Some(earlier) = question.earlier_arguments() {
        let changes = differences::between(&earlier, &call.arguments().value());
        if changes.is_empty() {
            lines.push("The arguments are the same as in the last call that was approved.".to_owned());
        } else {
            section(&mut lines, "What is different from the last call that was approved:", changes);
        }
    }
    lines.join("\n")
}

fn section(lines: &mut Vec<String>, title: &str, mut changes: Vec<String>) {
    let more = changes.len().saturating_sub(MOST_LINES);
    changes.truncate(MOST_LINES);
    lines.push(title.to_owned());
    lines.append(&mut changes);
    if more > 0 {
        lines.push(format!("and {more} more"));
    }
}

callgate_sdk::export!(approver = review);

#[cfg(test)]
mod tests {
    use super::*;
    use callgate_sdk::testing;

    callgate_sdk::fixtures!("fixtures");

    fn asked(arguments: Value, question: &Question) -> (Result<Verdict, prompt::Unanswered>, (String, String)) {
        testing::answer_prompts([Ok(allow_once())]);
        let verdict = review(&testing::call("send", arguments), question, &testing::context());
        (verdict, testing::prompts().remove(0))
    }

    #[test]
    fn the_person_is_told_why_and_what_is_different() {
        let question = testing::question("over_limit").by_rule("spending").after(json!({ "to": "bea", "sum": 5 }));
        let (verdict, (headline, details)) = asked(json!({ "to": "bea", "sum": 5000, "note": "x" }), &question);
        assert_eq!(verdict, Ok(allow_once()));
        assert_eq!(headline, "This call needs your approval: over limit. (rule: spending)");
        assert_eq!(details, "What is different from the last call that was approved:\n/note: added \"x\"\n/sum: was 5, is 5000");
    }

    #[test]
    fn a_changed_definition_is_shown() {
        let patch = json!([{ "op": "replace", "path": "/description", "value": "now it also deletes" }]);
        let (_, (headline, details)) = asked(json!({}), &testing::question("tool_changed").with_changes(patch));
        assert_eq!(headline, "This tool's definition has changed since it was approved.");
        assert_eq!(details, "What changed in the definition:\n/description: is \"now it also deletes\"");
    }

    #[test]
    fn nobody_reads_a_thousand_lines() {
        let many: Value = (0..1000).map(|n| (n.to_string(), json!(n))).collect::<callgate_sdk::serde_json::Map<_, _>>().into();
        let (_, (_, details)) = asked(many, &testing::question("x").after(json!({})));
        assert_eq!(details.lines().count(), MOST_LINES + 2);
        assert!(details.ends_with("and 980 more"));
    }
}
