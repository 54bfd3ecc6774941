//! The call and its arguments.

use serde_json::Value;

use crate::Tool;
#[cfg(target_arch = "wasm32")]
use crate::bindings::imports::callgate::plugin::call_arguments as host;
use crate::source::{from, read};

/// A call of a tool: which tool, and with what.
#[derive(Debug, Clone)]
pub struct ToolCall {
    pub(crate) tool: Tool,
    pub(crate) arguments: Arguments,
}

impl ToolCall {
    /// The tool that is called.
    pub fn tool(&self) -> &Tool {
        &self.tool
    }

    /// What is passed to it.
    pub fn arguments(&self) -> &Arguments {
        &self.arguments
    }

    /// The argument at a JSON pointer such as `/path`: short for [`Arguments::get`].
    pub fn argument(&self, pointer: &str) -> Option<Value> {
        self.arguments.get(pointer)
    }

    /// The text at a JSON pointer: short for [`Arguments::text`].
    pub fn text(&self, pointer: &str) -> Option<String> {
        self.arguments.text(pointer)
    }
}

/// The arguments of a call: a JSON object in canonical form. Integers keep all their 64 bits.
#[derive(Debug, Clone)]
pub struct Arguments {
    #[cfg(not(target_arch = "wasm32"))]
    pub(crate) data: crate::testing::ArgumentsData,
}

impl Arguments {
    /// All arguments, to look at or to change and pass to [`rewrite`](crate::rewrite).
    pub fn value(&self) -> Value {
        read("the arguments", &self.json())
    }

    /// All arguments as canonical JSON text.
    pub fn json(&self) -> String {
        from!(host::get_arguments(), self.data.value.to_string())
    }

    /// The value at an RFC 6901 pointer (the empty one is the whole object); none where there is none.
    ///
    /// Only that value is copied from the host: prefer it to [`value`](Self::value) where one argument is enough.
    pub fn get(&self, pointer: &str) -> Option<Value> {
        let text = from!(host::argument_at(pointer), self.data.value.pointer(pointer).map(Value::to_string));
        text.map(|text| read("an argument", &text))
    }

    /// The string at a pointer; none where there is nothing, **or something that is no string**. Use [`get`](Self::get)
    /// where those must not look the same: arguments are checked against the tool's schema only after the pre-hooks.
    pub fn text(&self, pointer: &str) -> Option<String> {
        match self.get(pointer) {
            Some(Value::String(text)) => Some(text),
            _ => None,
        }
    }

    /// SHA-256 over the canonical form, in lower-case hexadecimal.
    pub fn digest(&self) -> String {
        from!(host::digest(), self.data.digest.clone())
    }
}
