//! Why a call is asked about.

use serde_json::Value;

#[cfg(target_arch = "wasm32")]
use crate::bindings::imports::callgate::plugin::question as host;
use crate::source::{from, read};

/// Why the call is asked about, and what was approved before.
#[derive(Debug, Clone)]
pub struct Question {
    #[cfg(not(target_arch = "wasm32"))]
    pub(crate) data: crate::testing::QuestionData,
}

impl Question {
    /// The reason of the deciding ask: a stable snake_case word, such as `tool_changed`.
    pub fn reason(&self) -> String {
        from!(host::reason(), self.data.reason.clone())
    }

    /// The name of the policy rule that asked, if a named one did.
    pub fn rule(&self) -> Option<String> {
        from!(host::rule(), self.data.rule.clone())
    }

    /// The arguments of the call to this tool that the same principal approved last, if there was one.
    pub fn earlier_arguments(&self) -> Option<Value> {
        let text = from!(host::earlier_arguments(), self.data.earlier_arguments.as_ref().map(Value::to_string));
        text.map(|text| read("the earlier arguments", &text))
    }

    /// A JSON Patch from the approved definition to the current one, if it changed.
    pub fn definition_changes(&self) -> Option<Value> {
        let text = from!(host::definition_changes(), self.data.definition_changes.as_ref().map(Value::to_string));
        text.map(|text| read("the definition's changes", &text))
    }
}
