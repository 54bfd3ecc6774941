//! The result of a call.

use serde_json::Value;

#[cfg(target_arch = "wasm32")]
use crate::bindings::imports::callgate::plugin::tool_result as host;
use crate::source::{from, read};

/// What the server answered, or what the hook before this one left of it.
#[derive(Debug, Clone)]
pub struct ToolResult {
    #[cfg(not(target_arch = "wasm32"))]
    pub(crate) data: crate::testing::ResultData,
}

impl ToolResult {
    /// The whole result object. A number of more digits than a double holds loses some here: see [`json`](Self::json).
    pub fn value(&self) -> Value {
        read("the result", &self.json())
    }

    /// The whole result as JSON text, exactly as the protocol carried it. To change a part and leave the rest byte for
    /// byte, work on this text and answer with [`replace_text`](crate::replace_text).
    pub fn json(&self) -> String {
        from!(host::get_result(), self.data.text.clone())
    }

    /// The value at an RFC 6901 pointer; none where there is none.
    pub fn get(&self, pointer: &str) -> Option<Value> {
        let text = from!(host::result_at(pointer), self.value().pointer(pointer).map(Value::to_string));
        text.map(|text| read("a part of the result", &text))
    }

    /// The string at a pointer; none where there is nothing, or something that is no string.
    pub fn text(&self, pointer: &str) -> Option<String> {
        match self.get(pointer) {
            Some(Value::String(text)) => Some(text),
            _ => None,
        }
    }

    /// Whether the result says that the tool failed.
    pub fn is_error(&self) -> bool {
        from!(host::is_error(), self.value().get("isError") == Some(&Value::Bool(true)))
    }

    /// Whether a pre-hook of this host made the result, and not the server.
    pub fn synthetic(&self) -> bool {
        from!(host::synthetic(), self.data.synthetic)
    }
}
