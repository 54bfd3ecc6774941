//! One component of four kinds, each with a behaviour that tests can tell. For tests alone.
//!
//! With `overreach = true` its filter reads the arguments, which a filter may not: the host ends that invocation as `refused`,
//! although the component imports them for its other kinds.

use callgate_sdk::bindings::imports::callgate::plugin::call_arguments;
use callgate_sdk::prelude::*;
use serde::Deserialize;

/// How it should misbehave.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// Whether the filter reads what it may not.
    pub overreach: bool,
}

/// Hides the tool named `hidden`.
pub fn visible(tool: &Tool, _context: &Context) -> Result<bool, String> {
    if settings::<Settings>()?.overreach && cfg!(target_arch = "wasm32") {
        log::info(call_arguments::get_arguments());
    }
    Ok(tool.name() != "hidden")
}

/// Holds where the argument `go` is true.
pub fn goes(call: &ToolCall, _context: &Context) -> bool {
    call.argument("/go") == Some(Value::Bool(true))
}

/// Denies the tool named `denied`, asks about the one named `asked`, and adds an argument `seen` to all other calls.
pub fn before(call: &ToolCall, _context: &Context) -> PreOutcome {
    match call.tool().name().as_str() {
        "denied" => deny("many_kinds", "this tool is denied"),
        "asked" => ask("many_kinds", "this tool is asked about"),
        _ => {
            let mut arguments = call.arguments().value();
            if let Some(object) = arguments.as_object_mut() {
                object.insert("seen".to_owned(), Value::Bool(true));
            }
            rewrite(arguments)
        }
    }
}

/// Withholds errors, replaces what says `replace me`, and keeps the rest.
pub fn after(_call: &ToolCall, result: &ToolResult, _context: &Context) -> PostOutcome {
    if result.is_error() {
        return withhold("many_kinds", "an error is nobody's business");
    }
    match result.text("/content/0/text").as_deref() {
        Some("replace me") => replace(json!({ "content": [{ "type": "text", "text": "replaced" }] })),
        _ => keep(),
    }
}

callgate_sdk::export!(filter = visible, predicate = goes, pre_hook = before, post_hook = after, settings = Settings);

#[cfg(test)]
mod tests {
    use super::*;
    use callgate_sdk::testing;

    #[test]
    fn each_kind_answers() {
        testing::configured(Settings::default());
        let (call, context) = (testing::call("x", json!({ "go": true })), testing::context());
        assert_eq!(visible(call.tool(), &context), Ok(true));
        assert!(goes(&call, &context));
        assert_eq!(before(&call, &context), rewrite(json!({ "go": true, "seen": true })));
        assert_eq!(after(&call, &testing::result(json!({ "content": [] })), &context), keep());
    }
}
