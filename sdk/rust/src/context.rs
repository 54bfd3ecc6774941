//! The circumstances of the call.

use serde_json::Value;

#[cfg(target_arch = "wasm32")]
use crate::bindings::imports::callgate::plugin::context as host;
use crate::source::{from, read};

/// When, for whom and after what the call is made.
#[derive(Debug, Clone)]
pub struct Context {
    #[cfg(not(target_arch = "wasm32"))]
    pub(crate) data: crate::testing::ContextData,
}

impl Context {
    /// The call's id in the host's records; none while tools are listed.
    pub fn call_id(&self) -> Option<String> {
        from!(host::call_id(), self.data.call_id.clone())
    }

    /// The call's own time in milliseconds since the Unix epoch. It is recorded, so that a decision can be replayed.
    pub fn now_ms(&self) -> u64 {
        from!(host::now_ms(), self.data.now_ms)
    }

    /// The protocol's generation: `legacy` or `modern`.
    pub fn era(&self) -> String {
        from!(host::era(), self.data.era.clone())
    }

    /// On whose behalf the call is made; none where nobody is identified.
    pub fn principal(&self) -> Option<String> {
        from!(host::principal(), self.data.principal.clone())
    }

    /// The servers whose output is in the turn that leads to this call.
    pub fn taint(&self) -> Vec<String> {
        from!(host::taint(), self.data.taint.clone())
    }

    /// Whether the taint holds a server other than the tool's own and those to ignore.
    pub fn tainted(&self, ignore: &[&str]) -> bool {
        from!(
            host::tainted(&ignore.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>()),
            self.data.taint.iter().any(|server| *server != self.data.server && !ignore.contains(&server.as_str()))
        )
    }

    /// A value that the host program attached to the call, if this plugin's entry names the key.
    pub fn assigned(&self, key: &str) -> Option<Value> {
        let text = from!(host::assigned(key), self.data.assigned.get(key).map(Value::to_string));
        text.map(|text| read("an assigned value", &text))
    }

    /// Whether an ask can be put to somebody at all.
    pub fn has_approver(&self) -> bool {
        from!(host::has_approver(), self.data.has_approver)
    }
}
