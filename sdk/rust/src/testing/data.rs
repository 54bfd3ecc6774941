//! What the handles hold natively.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::Delivery;

#[derive(Debug, Clone)]
pub(crate) struct ToolData {
    pub(crate) server: String,
    pub(crate) definition: Value,
    pub(crate) trusted: bool,
    pub(crate) fingerprint: String,
    pub(crate) approved: Vec<String>,
}

impl ToolData {
    pub(crate) fn name(&self) -> String {
        self.definition.get("name").and_then(Value::as_str).unwrap_or_default().to_owned()
    }

    /// What the server itself said.
    pub(crate) fn declared(&self, name: &str) -> Option<bool> {
        let key = match name {
            "read-only" => "readOnlyHint",
            "destructive" => "destructiveHint",
            "idempotent" => "idempotentHint",
            "open-world" => "openWorldHint",
            _ => return None,
        };
        self.definition.get("annotations")?.get(key)?.as_bool()
    }

    /// As the host says it: the protocol's worst value, unless the server is trusted and said something.
    pub(crate) fn annotation(&self, name: &str) -> Option<bool> {
        let worst = match name {
            "read-only" | "idempotent" => false,
            "destructive" | "open-world" => true,
            _ => return None,
        };
        if !self.trusted {
            return Some(worst);
        }
        if name == "destructive" && self.declared("read-only") == Some(true) {
            return Some(false);
        }
        Some(self.declared(name).unwrap_or(worst))
    }
}

#[derive(Debug, Clone)]
pub(crate) struct ArgumentsData {
    pub(crate) value: Value,
    pub(crate) digest: String,
}

#[derive(Debug, Clone)]
pub(crate) struct ContextData {
    pub(crate) call_id: Option<String>,
    pub(crate) now_ms: u64,
    pub(crate) era: String,
    pub(crate) principal: Option<String>,
    pub(crate) taint: Vec<String>,
    /// The tool's own server, which never counts as taint.
    pub(crate) server: String,
    pub(crate) assigned: BTreeMap<String, Value>,
    pub(crate) has_approver: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct ResultData {
    pub(crate) text: String,
    pub(crate) synthetic: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct FailureData {
    pub(crate) kind: String,
    pub(crate) reason: String,
    pub(crate) message: String,
    pub(crate) data: Option<String>,
    pub(crate) sent: Delivery,
}

#[derive(Debug, Clone)]
pub(crate) struct QuestionData {
    pub(crate) reason: String,
    pub(crate) rule: Option<String>,
    pub(crate) earlier_arguments: Option<Value>,
    pub(crate) definition_changes: Option<Value>,
}
