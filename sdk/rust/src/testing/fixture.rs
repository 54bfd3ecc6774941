//! Cases kept as JSON files: a call in, settings, and what is expected.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use serde_json::{Value, json};

use super::outcome::{Shown, fits};
use super::{Plugin, answer_prompts, build};
use crate::prompt::Unanswered;
use crate::{Context, Delivery, Failure, Question, Tool, ToolCall, ToolResult, Verdict, refusal};

/// One case. Every member but `about`, `kind` and `expect` may be left out.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fixture {
    /// What the case shows, in one sentence.
    pub about: String,
    /// `filter`, `predicate`, `pre-hook`, `post-hook`, `failure-hook`, `approver`, or `setup` for the settings alone.
    pub kind: String,
    /// The plugin's settings.
    #[serde(default)]
    pub settings: Value,
    /// `{ server, definition, trust_annotations, fingerprint, approved_fingerprints }`
    #[serde(default)]
    tool: ToolPart,
    /// The call's arguments.
    #[serde(default)]
    arguments: Option<Value>,
    /// `{ call_id, now_ms, era, principal, taint, assigned, has_approver }`
    #[serde(default)]
    context: ContextPart,
    /// The result, for a post-hook.
    #[serde(default)]
    result: Option<Value>,
    /// Whether a pre-hook made the result.
    #[serde(default)]
    synthetic: bool,
    /// `{ kind, reason, message, data, sent }`, for a failure hook.
    #[serde(default)]
    failure: FailurePart,
    /// `{ reason, rule, earlier_arguments, definition_changes }`, for an approver.
    #[serde(default)]
    question: QuestionPart,
    /// What the person says, for an approver: a verdict as in `expect`, or `unavailable` or `unanswered`.
    #[serde(default)]
    prompt: Option<Value>,
    /// The outcome's name (`"proceed"`), or an object with the name and what the outcome carries
    /// (`{ "deny": { "reason": "..." } }`; a refusal need only have the members named here); `{ "error": "part of the text" }`
    /// where the plugin cannot answer. For `setup`: `"configured"` or an error.
    pub expect: Value,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct ToolPart {
    server: Option<String>,
    definition: Option<Value>,
    trust_annotations: bool,
    fingerprint: Option<String>,
    approved_fingerprints: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct ContextPart {
    call_id: Option<String>,
    now_ms: Option<u64>,
    era: Option<String>,
    principal: Option<String>,
    taint: Vec<String>,
    assigned: BTreeMap<String, Value>,
    has_approver: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct FailurePart {
    kind: String,
    reason: String,
    message: String,
    data: Option<Value>,
    sent: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct QuestionPart {
    reason: String,
    rule: Option<String>,
    earlier_arguments: Option<Value>,
    definition_changes: Option<Value>,
}

impl Fixture {
    /// Runs the case natively and gives what came out, in the form of `expect`.
    pub fn run(&self, plugin: &Plugin) -> Value {
        let settings = if self.settings.is_null() { json!({}) } else { self.settings.clone() };
        if let Err(error) = (plugin.configure)(&settings.to_string()) {
            return json!({ "error": error });
        }
        answer_prompts(self.prompt.as_ref().map(answer));
        let (call, context) = (self.call(), self.context());
        match self.kind.as_str() {
            "setup" => Some(json!("configured")),
            "filter" => plugin.filter.map(|run| run(call.tool(), &context).shown()),
            "predicate" => plugin.predicate.map(|run| run(&call, &context).shown()),
            "pre-hook" => plugin.pre_hook.map(|run| run(&call, &context).shown()),
            "post-hook" => plugin.post_hook.map(|run| run(&call, &self.result(), &context).shown()),
            "failure-hook" => plugin.failure_hook.map(|run| run(&call, &self.failure(), &context).shown()),
            "approver" => plugin.approver.map(|run| run(&call, &self.question(), &context).shown()),
            _ => None,
        }
        .unwrap_or_else(|| json!({ "no such kind": self.kind }))
    }

    fn tool(&self) -> Tool {
        let part = &self.tool;
        let mut tool = build::tool(part.server.as_deref().unwrap_or("test"), "tool");
        if let Some(definition) = &part.definition {
            tool.data.definition = definition.clone();
        }
        tool.data.trusted = part.trust_annotations;
        tool.data.approved.clone_from(&part.approved_fingerprints);
        if let Some(fingerprint) = &part.fingerprint {
            tool.data.fingerprint.clone_from(fingerprint);
        }
        tool
    }

    fn call(&self) -> ToolCall {
        build::call("tool", self.arguments.clone().unwrap_or_else(|| json!({}))).with_tool(self.tool())
    }

    fn context(&self) -> Context {
        let part = &self.context;
        let mut context = build::context();
        let data = &mut context.data;
        if let Some(now) = part.now_ms {
            data.now_ms = now;
        }
        if let Some(era) = &part.era {
            data.era.clone_from(era);
        }
        data.call_id = part.call_id.clone().or_else(|| (self.kind != "filter").then(|| "fixture-call".to_owned()));
        data.principal.clone_from(&part.principal);
        data.taint.clone_from(&part.taint);
        data.assigned.clone_from(&part.assigned);
        data.has_approver = part.has_approver;
        data.server = self.tool().server();
        context
    }

    fn result(&self) -> ToolResult {
        let mut result = build::result(self.result.clone().unwrap_or_else(|| json!({ "content": [] })));
        result.data.synthetic = self.synthetic;
        result
    }

    fn failure(&self) -> Failure {
        let part = &self.failure;
        let sent = match part.sent.as_str() {
            "sent" => Delivery::Sent,
            "not-sent" => Delivery::NotSent,
            _ => Delivery::Unknown,
        };
        let mut failure = build::failure(&part.kind, &part.reason, &part.message).with_delivery(sent);
        failure.data.data = part.data.as_ref().map(Value::to_string);
        failure
    }

    fn question(&self) -> Question {
        let part = &self.question;
        let mut question = build::question(&part.reason);
        question.data.rule.clone_from(&part.rule);
        question.data.earlier_arguments.clone_from(&part.earlier_arguments);
        question.data.definition_changes.clone_from(&part.definition_changes);
        question
    }
}

/// What the person says, from the form of `expect`.
fn answer(said: &Value) -> Result<Verdict, Unanswered> {
    let member = |name: &str, key: &str| said.pointer(&format!("/{name}/{key}")).and_then(Value::as_str).unwrap_or_default();
    match said.as_str() {
        Some("allow-once") => Ok(Verdict::AllowOnce),
        Some("allow-always") => Ok(Verdict::AllowAlways(None)),
        Some("unavailable") => Err(Unanswered::Unavailable),
        Some("unanswered") => Err(Unanswered::Unanswered),
        Some(other) => Err(Unanswered::Other(other.to_owned())),
        None if said.get("deny-and-halt").is_some() => {
            Ok(Verdict::DenyAndHalt(refusal(member("deny-and-halt", "reason"), member("deny-and-halt", "message"))))
        }
        None => Ok(Verdict::Deny(refusal(member("deny", "reason"), member("deny", "message")))),
    }
}

/// Runs every `*.json` in a folder and gives one line for each case that came out differently.
pub fn check(plugin: &Plugin, folder: impl AsRef<Path>) -> Result<(), String> {
    let folder = folder.as_ref();
    let entries = std::fs::read_dir(folder).map_err(|error| format!("cannot read `{}`: {error}", folder.display()))?;
    let mut paths: Vec<_> = entries.filter_map(Result::ok).map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    if paths.is_empty() {
        return Err(format!("`{}` holds no fixture", folder.display()));
    }
    let wrong: Vec<String> = paths.iter().filter_map(|path| check_one(plugin, path).err()).collect();
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

fn check_one(plugin: &Plugin, path: &Path) -> Result<(), String> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let text = std::fs::read_to_string(path).map_err(|error| format!("{name}: {error}"))?;
    let fixture: Fixture = serde_json::from_str(&text).map_err(|error| format!("{name}: {error}"))?;
    let shown = fixture.run(plugin);
    if fits(&fixture.expect, &shown) {
        Ok(())
    } else {
        Err(format!("{name}: {}\n  expected {}\n  got      {shown}", fixture.about, fixture.expect))
    }
}

/// Makes a test that runs every fixture in a folder of the crate against the plugin that [`export!`](crate::export) made.
///
/// ```ignore
/// #[cfg(test)]
/// mod tests {
///     callgate_sdk::fixtures!("fixtures");
/// }
/// ```
#[allow(clippy::crate_in_macro_def, reason = "the plugin is made in the crate that is tested")]
#[macro_export]
macro_rules! fixtures {
    ($folder:literal) => {
        #[test]
        fn fixtures() {
            let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/", $folder);
            if let Err(wrong) = $crate::testing::check(&crate::__callgate_plugin(), folder) {
                panic!("{wrong}");
            }
        }
    };
}
