//! Makers and builders of the data.

use serde_json::{Value, json};

use super::{ArgumentsData, ContextData, FailureData, QuestionData, ResultData, ToolData};
use crate::{Arguments, Context, Delivery, Failure, Question, Tool, ToolCall, ToolResult};

/// Stands for a digest where a test does not care.
const SOME_DIGEST: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// A tool whose server is not trusted with hints.
pub fn tool(server: &str, name: &str) -> Tool {
    Tool {
        data: ToolData {
            server: server.to_owned(),
            definition: json!({ "name": name, "inputSchema": { "type": "object" } }),
            trusted: false,
            fingerprint: SOME_DIGEST.to_owned(),
            approved: Vec::new(),
        },
    }
}

/// A call of a tool of a server named `test`.
pub fn call(name: &str, arguments: Value) -> ToolCall {
    ToolCall { tool: tool("test", name), arguments: Arguments { data: ArgumentsData { value: arguments, digest: SOME_DIGEST.to_owned() } } }
}

/// Nobody's call, in the modern era, at the start of 2026, untainted.
pub fn context() -> Context {
    Context {
        data: ContextData {
            call_id: Some("test-call".to_owned()),
            now_ms: 1_767_225_600_000,
            era: "modern".to_owned(),
            principal: None,
            taint: Vec::new(),
            server: "test".to_owned(),
            assigned: std::collections::BTreeMap::new(),
            has_approver: false,
        },
    }
}

/// A result that the server gave.
pub fn result(value: Value) -> ToolResult {
    result_text(&value.to_string())
}

/// A result that the server gave, byte for byte.
pub fn result_text(json: &str) -> ToolResult {
    ToolResult { data: ResultData { text: json.to_owned(), synthetic: false } }
}

/// An error; whether it was sent cannot be told.
pub fn failure(kind: &str, reason: &str, message: &str) -> Failure {
    Failure {
        data: FailureData {
            kind: kind.to_owned(),
            reason: reason.to_owned(),
            message: message.to_owned(),
            data: None,
            sent: Delivery::Unknown,
        },
    }
}

/// A question that no named rule asks, about a tool that was never approved.
pub fn question(reason: &str) -> Question {
    Question { data: QuestionData { reason: reason.to_owned(), rule: None, earlier_arguments: None, definition_changes: None } }
}

/// Builder methods: each takes the value and gives it back changed.
macro_rules! builders {
    ($type:ty { $($(#[$doc:meta])* $name:ident($($arg:ident: $kind:ty),*) |$this:ident| $body:expr;)+ }) => {
        #[doc = "For native tests."]
        impl $type {$(
            $(#[$doc])*
            #[must_use]
            pub fn $name(mut self, $($arg: $kind),*) -> Self {
                let $this = &mut self;
                $body;
                self
            }
        )+}
    };
}

builders!(Tool {
    /// With this raw definition.
    with_definition(definition: Value) |tool| tool.data.definition = definition;
    /// With a hint in its definition, by the protocol's name, such as `readOnlyHint`.
    with_hint(name: &str, value: bool) |tool| {
        if let Some(definition) = tool.data.definition.as_object_mut()
            && let Some(hints) = definition.entry("annotations").or_insert_with(|| json!({})).as_object_mut()
        {
            hints.insert(name.to_owned(), Value::Bool(value));
        }
    };
    /// Of a server that is trusted with hints.
    trusted() |tool| tool.data.trusted = true;
    /// With this fingerprint.
    with_fingerprint(fingerprint: &str) |tool| tool.data.fingerprint = fingerprint.to_owned();
    /// With these approved fingerprints.
    with_approved(fingerprints: &[&str]) |tool| {
        tool.data.approved = fingerprints.iter().map(|one| (*one).to_owned()).collect();
    };
});

builders!(ToolCall {
    /// Of this tool.
    with_tool(tool: Tool) |call| call.tool = tool;
    /// With this digest of its arguments.
    with_digest(digest: &str) |call| call.arguments.data.digest = digest.to_owned();
});

builders!(Context {
    /// While tools are listed.
    listing() |context| context.data.call_id = None;
    /// At this time.
    at_ms(now: u64) |context| context.data.now_ms = now;
    /// Of an older protocol.
    legacy() |context| context.data.era = "legacy".to_owned();
    /// On behalf of somebody.
    with_principal(principal: &str) |context| context.data.principal = Some(principal.to_owned());
    /// After these servers' output.
    with_taint(servers: impl IntoIterator<Item = &'static str>) |context| {
        context.data.taint = servers.into_iter().map(str::to_owned).collect();
    };
    /// For a tool of this server, whose own output is no taint.
    for_server(server: &str) |context| context.data.server = server.to_owned();
    /// With a value that the host program attached.
    with_assigned(key: &str, value: Value) |context| { context.data.assigned.insert(key.to_owned(), value); };
    /// With somebody to ask.
    with_approver() |context| context.data.has_approver = true;
});

builders!(ToolResult {
    /// Made by a pre-hook.
    made_by_host() |result| result.data.synthetic = true;
});

builders!(Failure {
    /// With data.
    with_data(data: Value) |failure| failure.data.data = Some(data.to_string());
    /// Sent, or not, or nobody knows.
    with_delivery(delivery: Delivery) |failure| failure.data.sent = delivery;
});

builders!(Question {
    /// Asked by this rule.
    by_rule(rule: &str) |question| question.data.rule = Some(rule.to_owned());
    /// After a call with these arguments was approved.
    after(arguments: Value) |question| question.data.earlier_arguments = Some(arguments);
    /// About a tool whose definition changed by this JSON Patch.
    with_changes(patch: Value) |question| question.data.definition_changes = Some(patch);
});
