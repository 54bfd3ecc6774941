//! Things to call plugins about.

use std::sync::Arc;
use std::time::Duration;

use callgate_core::digest::Digest;
use callgate_core::json::Json;
use callgate_core::model::{
    Arguments, Call, CallId, Context, Era, Error, Kind, ListingId, PluginBudget, Principal, Reason, ServerIdentity, Tool, ToolResult,
};

pub(crate) fn tool(definition: &str) -> Arc<Tool> {
    let server = Arc::new(ServerIdentity { name: "files".parse().unwrap(), digest: Digest::of("files") });
    Arc::new(Tool::new(server, Json::parse(definition).unwrap(), true, ListingId::default()).unwrap())
}

pub(crate) fn context() -> Context {
    Context {
        call_id: Some(CallId::fresh()),
        now_ms: 1_800_000_000_000,
        server: "files".parse().unwrap(),
        era: Era::Modern,
        principal: Some(Principal::new("cli", "ann")),
        taint: ["web".to_owned()].into(),
        assigns: Arc::default(),
        has_approver: false,
        approved_fingerprints: Vec::new(),
        budget: PluginBudget::new(Duration::from_secs(10)),
    }
}

/// A call of `read_file`.
pub(crate) fn call(arguments: &str) -> Call {
    call_with(arguments, context())
}

pub(crate) fn call_with(arguments: &str, context: Context) -> Call {
    Call {
        tool: tool(r#"{"name":"read_file","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}"#),
        arguments: Arguments::parse(arguments).unwrap(),
        context: Arc::new(context),
    }
}

pub(crate) fn result(text: &str) -> ToolResult {
    ToolResult::text(text)
}

pub(crate) fn error() -> Error {
    Error::new(Kind::Denied, Reason::NoRule, "the call is not allowed")
}
