//! Answers a call with everything that a pre-hook can read, through every import that it may use: so tests see what a plugin
//! sees. For tests alone.

use callgate_sdk::log::Level;
use callgate_sdk::prelude::*;
use serde::Deserialize;

/// What to ask for by name.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// Pointers into the arguments.
    pub pointers: Vec<String>,
    /// Keys of assigned values.
    pub assigned: Vec<String>,
    /// Servers that are no taint.
    pub ignore: Vec<String>,
}

/// Ends the call with what was read, as structured content and as text.
pub fn echo(call: &ToolCall, context: &Context) -> Result<PreOutcome, String> {
    for level in [Level::Trace, Level::Debug, Level::Info, Level::Warn, Level::Error] {
        let line = format!("a line at {level:?}");
        match level {
            Level::Trace => log::trace(line),
            Level::Debug => log::debug(line),
            Level::Info => log::info(line),
            Level::Warn => log::warn(line),
            Level::Error => log::error(line),
        }
    }
    note("echoed");
    let seen = json!({ "tool": tool(call.tool()), "arguments": arguments(call)?, "context": around(context)? });
    Ok(halt(json!({ "content": [{ "type": "text", "text": seen.to_string() }], "structuredContent": seen })))
}

fn tool(tool: &Tool) -> Value {
    let hints = ["read-only", "destructive", "idempotent", "open-world", "no-such-hint"];
    let each = |of: &dyn Fn(&str) -> Value| hints.map(|name| (name.to_owned(), of(name))).into_iter().collect::<Value>();
    json!({
        "server": tool.server(),
        "name": tool.name(),
        "definition": tool.definition(),
        "annotation": each(&|name| tool.annotation(name).into()),
        "declared": each(&|name| tool.declares(name).into()),
        "fingerprint": tool.fingerprint(),
        "approved_fingerprints": tool.approved_fingerprints(),
    })
}

fn arguments(call: &ToolCall) -> Result<Value, String> {
    let pointers = &settings::<Settings>()?.pointers;
    let at: Value = pointers.iter().map(|pointer| (pointer.clone(), call.argument(pointer).unwrap_or_default())).collect();
    Ok(json!({ "text": call.arguments().json(), "value": call.arguments().value(), "at": at, "digest": call.arguments().digest() }))
}

fn around(context: &Context) -> Result<Value, String> {
    let Settings { assigned, ignore, .. } = settings::<Settings>()?;
    let ignore: Vec<&str> = ignore.iter().map(String::as_str).collect();
    let assigned: Value = assigned.iter().map(|key| (key.clone(), context.assigned(key).unwrap_or_default())).collect();
    Ok(json!({
        "call_id": context.call_id(),
        "now_ms": context.now_ms(),
        "era": context.era(),
        "principal": context.principal(),
        "taint": context.taint(),
        "tainted": context.tainted(&ignore),
        "assigned": assigned,
        "has_approver": context.has_approver(),
    }))
}

callgate_sdk::export!(pre_hook = echo, settings = Settings);
