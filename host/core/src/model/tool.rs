//! A tool, as its server defined it.

use std::sync::Arc;

use crate::digest::{Digest, Fingerprint};
use crate::json::Json;

use super::ServerIdentity;

/// Bytes that one definition may have: 256 KiB. Larger ones are dropped from the listing; real definitions stay below 50 KiB.
pub const MAX_DEFINITION_BYTES: usize = 256 << 10;

/// A tool with its raw definition, the server it belongs to, and the listing it came from.
#[derive(Clone, Debug)]
pub struct Tool {
    server: Arc<ServerIdentity>,
    name: String,
    definition: Json,
    fingerprint: Fingerprint,
    shape: Digest,
    trusted: bool,
    listing: ListingId,
}

/// Which listing of which connection a tool came from: sending needs a listing of the same connection (T4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct ListingId {
    /// The connection, counted from 1 by whoever connects.
    pub connection: u64,
    /// How often the server has said that its list changed.
    pub generation: u64,
}

/// Why a listed tool is not offered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ToolDefect {
    /// No object.
    #[error("its definition is not an object")]
    NotAnObject,
    /// No usable name (T23).
    #[error("its name is not 1 to 128 of A-Z, a-z, 0-9, `_`, `.` and `-`")]
    Name,
    /// Another tool of the list has this name, or one that differs in case only; both are dropped.
    #[error("its name is that of another tool in the list, or differs from it in case only")]
    Twin,
    /// `inputSchema` is no object schema.
    #[error("its `inputSchema` is not a schema of type object")]
    InputSchema,
    /// `outputSchema` is there and no schema.
    #[error("its `outputSchema` is not an object")]
    OutputSchema,
    /// Over [`MAX_DEFINITION_BYTES`].
    #[error("its definition has more than {MAX_DEFINITION_BYTES} bytes")]
    TooLarge,
}

/// A behaviour hint (MCP's tool annotations), by the name that rules and plugins use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hint {
    /// `readOnlyHint`: changes nothing.
    ReadOnly,
    /// `destructiveHint`: may destroy or overwrite.
    Destructive,
    /// `idempotentHint`: a second call changes nothing more.
    Idempotent,
    /// `openWorldHint`: reaches what is outside the server.
    OpenWorld,
}

impl Tool {
    /// A tool from one entry of a listing. `trusted` says whether this server's own hints count (T9).
    ///
    /// # Errors
    /// A definition that cannot be offered safely: see [`ToolDefect`].
    pub fn new(server: Arc<ServerIdentity>, definition: Json, trusted: bool, listing: ListingId) -> Result<Self, ToolDefect> {
        let Json::Object(members) = &definition else { return Err(ToolDefect::NotAnObject) };
        let name = members.get("name").and_then(Json::as_str).filter(|name| is_name(name)).ok_or(ToolDefect::Name)?.to_owned();
        if members.get("inputSchema").and_then(|schema| schema.get("type")).and_then(Json::as_str) != Some("object") {
            return Err(ToolDefect::InputSchema);
        }
        if members.get("outputSchema").is_some_and(|schema| schema.as_object().is_none()) {
            return Err(ToolDefect::OutputSchema);
        }
        let canonical = definition.canonical();
        if canonical.len() > MAX_DEFINITION_BYTES {
            return Err(ToolDefect::TooLarge);
        }
        let nameless = members.iter().filter(|(key, _)| *key != "name").map(|(key, value)| (key.clone(), value.clone())).collect();
        Ok(Self {
            server,
            name,
            fingerprint: Fingerprint(Digest::of(canonical)),
            shape: Digest::of_json(&nameless),
            definition,
            trusted,
            listing,
        })
    }

    /// A tool that does not exist, for filters to be run on where a name is unknown: what hides and what is not there take the same
    /// way (T30).
    pub(crate) fn stand_in(server: Arc<ServerIdentity>, name: &str) -> Self {
        Self {
            server,
            // The name decides which filters are concerned, so it must be the one that was asked for.
            name: if is_name(name) { name } else { "unknown" }.to_owned(),
            definition: Json::object(),
            fingerprint: Fingerprint(Digest::of("{}")),
            shape: Digest::of("{}"),
            trusted: false,
            listing: ListingId::default(),
        }
    }

    /// The server it belongs to.
    #[must_use]
    pub fn server(&self) -> &Arc<ServerIdentity> {
        &self.server
    }

    /// Its name, as the server knows it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The raw definition, unknown fields included.
    #[must_use]
    pub fn definition(&self) -> &Json {
        &self.definition
    }

    /// The digest of the definition (PO-6).
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    /// The digest of the definition without its name: equal for a renamed tool (T33).
    #[must_use]
    pub fn shape(&self) -> Digest {
        self.shape
    }

    /// Where it was listed.
    #[must_use]
    pub fn listing(&self) -> ListingId {
        self.listing
    }

    /// The schema of its arguments.
    #[must_use]
    pub fn input_schema(&self) -> &Json {
        self.definition.get("inputSchema").unwrap_or(&Json::Null)
    }

    /// The schema of its structured content, where it has one.
    #[must_use]
    pub fn output_schema(&self) -> Option<&Json> {
        self.definition.get("outputSchema")
    }

    /// A hint's effective value. The protocol's worst value where the server is not trusted or does not say; nothing that is
    /// read-only is destructive.
    #[must_use]
    pub fn hint(&self, hint: Hint) -> bool {
        if hint == Hint::Destructive && self.hint(Hint::ReadOnly) {
            return false;
        }
        self.declared(hint).filter(|_| self.trusted).unwrap_or(hint.worst())
    }

    /// What the server itself said of a hint, trusted or not.
    #[must_use]
    pub fn declared(&self, hint: Hint) -> Option<bool> {
        self.definition.get("annotations")?.get(hint.member())?.as_bool()
    }
}

impl Hint {
    /// All of them.
    pub const ALL: [Hint; 4] = [Hint::ReadOnly, Hint::Destructive, Hint::Idempotent, Hint::OpenWorld];

    /// The hint that plugins call so: `read-only`, `destructive`, `idempotent`, `open-world`.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|hint| hint.name() == name)
    }

    /// The name that plugins use.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Hint::ReadOnly => "read-only",
            Hint::Destructive => "destructive",
            Hint::Idempotent => "idempotent",
            Hint::OpenWorld => "open-world",
        }
    }

    fn member(self) -> &'static str {
        match self {
            Hint::ReadOnly => "readOnlyHint",
            Hint::Destructive => "destructiveHint",
            Hint::Idempotent => "idempotentHint",
            Hint::OpenWorld => "openWorldHint",
        }
    }

    /// What the protocol assumes where nobody says (MCP 2026-07-28, server/tools).
    fn worst(self) -> bool {
        matches!(self, Hint::Destructive | Hint::OpenWorld)
    }
}

fn is_name(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
    (1..=128).contains(&name.len()) && name.bytes().all(allowed)
}
