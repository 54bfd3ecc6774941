//! What an authorisation is for: everything that will be sent, and under which circumstances (T2, T3, T4).

use std::time::Instant;

use crate::digest::{ArgsDigest, Digest, Fingerprint};
use crate::json::Json;
use crate::model::Call;
use crate::run::Run;

use super::meta;

/// A call as it was decided on. Made anew of what will be sent, it must be equal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Seal {
    arguments: ArgsDigest,
    server: Digest,
    connection: u64,
    tool: String,
    fingerprint: Fingerprint,
    meta: Digest,
    principal: Option<String>,
    revision: String,
    deadline: Instant,
}

impl Seal {
    pub(super) fn of(run: &Run<'_>, call: &Call) -> Self {
        Self {
            arguments: call.arguments.digest(),
            server: call.tool.server().digest,
            connection: call.tool.listing().connection,
            tool: call.tool.name().to_owned(),
            fingerprint: call.tool.fingerprint(),
            meta: Digest::of_json(&Json::from(meta::kept(&run.options.meta))),
            principal: run.options.principal.as_ref().map(ToString::to_string),
            revision: run.revision.id.clone(),
            deadline: run.deadline,
        }
    }

    /// What differs, by name.
    pub(super) fn differences(&self, other: &Seal) -> Vec<&'static str> {
        [
            ("arguments", self.arguments == other.arguments),
            ("server", self.server == other.server),
            ("connection", self.connection == other.connection),
            ("tool", self.tool == other.tool),
            ("fingerprint", self.fingerprint == other.fingerprint),
            ("meta", self.meta == other.meta),
            ("principal", self.principal == other.principal),
            ("revision", self.revision == other.revision),
            ("deadline", self.deadline == other.deadline),
        ]
        .into_iter()
        .filter_map(|(name, same)| (!same).then_some(name))
        .collect()
    }
}
