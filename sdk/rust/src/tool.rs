//! The tool that is called or listed.

use serde_json::Value;

#[cfg(target_arch = "wasm32")]
use crate::bindings::imports::callgate::plugin::tool as host;
use crate::source::{from, read};

/// The tool that is called or listed, as its server defined it.
#[derive(Debug, Clone)]
pub struct Tool {
    #[cfg(not(target_arch = "wasm32"))]
    pub(crate) data: crate::testing::ToolData,
}

impl Tool {
    /// The name under which the host knows the server.
    pub fn server(&self) -> String {
        from!(host::server(), self.data.server.clone())
    }

    /// The tool's name as the server gave it, without any prefix.
    pub fn name(&self) -> String {
        from!(host::name(), self.data.name())
    }

    /// The raw definition, unknown fields included. Its text was written by the server: do not trust it.
    pub fn definition(&self) -> Value {
        read("the tool's definition", &self.definition_text())
    }

    /// The raw definition as JSON text, exactly as the server sent it.
    pub fn definition_text(&self) -> String {
        from!(host::definition(), self.data.definition.to_string())
    }

    /// Whether the tool only reads: false unless its server says so and is trusted to.
    pub fn read_only(&self) -> bool {
        self.annotation("read-only").unwrap_or(false)
    }

    /// Whether the tool may destroy something: true unless its server says otherwise and is trusted to.
    pub fn destructive(&self) -> bool {
        self.annotation("destructive").unwrap_or(true)
    }

    /// Whether calling the tool again with the same arguments changes nothing more.
    pub fn idempotent(&self) -> bool {
        self.annotation("idempotent").unwrap_or(false)
    }

    /// Whether the tool deals with an open world, such as the web.
    pub fn open_world(&self) -> bool {
        self.annotation("open-world").unwrap_or(true)
    }

    /// A hint by name (`read-only`, `destructive`, `idempotent`, `open-world`): what the trusted server said, or else the
    /// protocol's worst value; none for any other name.
    pub fn annotation(&self, name: &str) -> Option<bool> {
        from!(host::annotation(name), self.data.annotation(name))
    }

    /// Whether the server itself gave that hint, trusted or not.
    pub fn declares(&self, name: &str) -> bool {
        from!(host::annotation_declared(name), self.data.declared(name).is_some())
    }

    /// SHA-256 over the canonical form of the definition, in lower-case hexadecimal.
    pub fn fingerprint(&self) -> String {
        from!(host::fingerprint(), self.data.fingerprint.clone())
    }

    /// The fingerprints that are approved for this caller.
    pub fn approved_fingerprints(&self) -> Vec<String> {
        from!(host::approved_fingerprints(), self.data.approved.clone())
    }
}
