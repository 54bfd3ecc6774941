//! What must outlive a call: grants, and the baseline of approved definitions.
//!
//! A store that cannot answer, or cannot write what it must, is a deny; it is never an old allow.

mod memory;

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;

use crate::digest::{Digest, Fingerprint};
use crate::json::Json;
use crate::model::{Arguments, Era, Grant, NewGrant, Principal, ServerIdentity};
use crate::upstream::InputKinds;

pub use memory::MemoryStore;

/// The store did not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct StoreError(pub String);

/// Whose grants are looked for: who calls what, where, and under which circumstances.
#[derive(Clone, Copy, Debug)]
pub struct Grantee<'a> {
    /// Who calls.
    pub principal: Option<&'a Principal>,
    /// The server.
    pub server: &'a ServerIdentity,
    /// The tool.
    pub tool: &'a str,
    /// The call's taint: a grant must have been given under all of these.
    pub taint: &'a BTreeSet<String>,
    /// The call's time, milliseconds since the Unix epoch.
    pub now_ms: u64,
}

/// An ask that a grant might settle.
#[derive(Clone, Copy, Debug)]
pub struct AskedAbout<'a> {
    /// Who calls what.
    pub grantee: Grantee<'a>,
    /// The definition that the call was checked against.
    pub fingerprint: Fingerprint,
    /// Why it is asked about: a grant must have been given under all of these.
    pub causes: &'a BTreeSet<String>,
    /// The final arguments: a grant's constraints must admit them.
    pub arguments: &'a Arguments,
}

impl Grantee<'_> {
    /// Whether a stored grant is this caller's, for this tool and taint, and live.
    #[must_use]
    pub fn holds(&self, grant: &Grant) -> bool {
        let given = &grant.given;
        given.principal == self.principal.map(ToString::to_string)
            && given.server == self.server.name.as_str()
            && given.server_digest == self.server.digest
            && given.tool == self.tool
            && self.taint.is_subset(&given.taint)
            && self.now_ms < given.expires_ms
            && grant.uses_left != Some(0)
    }
}

impl AskedAbout<'_> {
    /// Whether a stored grant settles this ask. Stores that cannot say this in their own language filter by it.
    #[must_use]
    pub fn is_settled_by(&self, grant: &Grant) -> bool {
        let given = &grant.given;
        self.grantee.holds(grant)
            && given.fingerprint == self.fingerprint
            && self.causes.is_subset(&given.causes)
            && given.terms.admit(self.arguments)
    }
}

/// Standing approvals.
#[async_trait]
pub trait GrantStore: Send + Sync {
    /// Uses a live grant that settles this ask and gives its id. Finding and using is one atomic step: of two calls that race for
    /// a last use, one gets it.
    ///
    /// # Errors
    /// The store cannot answer.
    async fn settle(&self, ask: AskedAbout<'_>) -> Result<Option<String>, StoreError>;

    /// Whether a grant is neither revoked nor expired.
    ///
    /// # Errors
    /// The store cannot answer.
    async fn is_live(&self, id: &str, now_ms: u64) -> Result<bool, StoreError>;

    /// Records a grant, durably, and gives its id.
    ///
    /// # Errors
    /// It was not recorded.
    async fn record(&self, grant: NewGrant, now_ms: u64) -> Result<String, StoreError>;

    /// Fingerprints that grants approve for every call of this grantee (PO-6): those of grants that it holds and that
    /// [approve the definition](Grant::approves_definition).
    ///
    /// # Errors
    /// The store cannot answer.
    async fn granted(&self, grantee: Grantee<'_>) -> Result<BTreeSet<Fingerprint>, StoreError>;

    /// All live grants, the oldest first.
    ///
    /// # Errors
    /// The store cannot answer.
    async fn list(&self, now_ms: u64) -> Result<Vec<Grant>, StoreError>;

    /// Takes a grant back; false where there is none of that id.
    ///
    /// # Errors
    /// It may not have been revoked.
    async fn revoke(&self, id: &str) -> Result<bool, StoreError>;
}

/// Under which circumstances a baseline was taken. Under others a server may list other tools, or define them otherwise (T33).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaselineKey {
    /// The server's name, to show.
    pub server: String,
    /// The server's identity.
    pub server_digest: Digest,
    /// How it spoke.
    pub era: Era,
    /// What was declared to it.
    pub declared: InputKinds,
}

/// The definitions of a server's first complete listing, by tool name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Baseline {
    /// The tools.
    pub tools: BTreeMap<String, PinnedTool>,
}

/// One approved definition.
#[derive(Clone, Debug, PartialEq)]
pub struct PinnedTool {
    /// Its digest.
    pub fingerprint: Fingerprint,
    /// The digest without the name, by which a rename is noticed.
    pub shape: Digest,
    /// The definition itself, so that a change can be shown.
    pub definition: Json,
}

/// Approved definitions.
#[async_trait]
pub trait PinStore: Send + Sync {
    /// A server's baselines, under whatever circumstances they were taken, the first recorded first.
    ///
    /// # Errors
    /// The store cannot answer.
    async fn baselines(&self, server: &ServerIdentity) -> Result<Baselines, StoreError>;

    /// Records a baseline if the server has none at all, and gives those that stand: of two hosts that race, the loser gets the
    /// winner's. A server that was seen before adds nothing to what is approved by speaking another era (T33).
    ///
    /// # Errors
    /// It was not recorded.
    async fn record(&self, key: &BaselineKey, first: Baseline) -> Result<Baselines, StoreError>;

    /// Puts one tool's definition into a baseline, or takes it out: a person accepted the change. A server that has a baseline
    /// under other circumstances gets one under these.
    ///
    /// # Errors
    /// It was not recorded, or the server has no baseline yet.
    async fn accept(&self, key: &BaselineKey, tool: &str, pinned: Option<PinnedTool>) -> Result<(), StoreError>;

    /// All baselines.
    ///
    /// # Errors
    /// The store cannot answer.
    async fn list(&self) -> Result<Vec<(BaselineKey, Baseline)>, StoreError>;
}

/// What is approved of one server: its baselines, under whatever circumstances they were taken.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Baselines(pub Vec<(BaselineKey, Baseline)>);

impl Baselines {
    /// What a listed tool is compared with: its own definition where that is approved under any circumstances, else the one
    /// approved under these, else the one approved under others.
    #[must_use]
    pub fn pinned(&self, key: &BaselineKey, name: &str, fingerprint: Fingerprint) -> Option<&PinnedTool> {
        let known = || self.0.iter().filter_map(|(taken, baseline)| Some((taken, baseline.tools.get(name)?)));
        let same = known().find(|(_, pinned)| pinned.fingerprint == fingerprint);
        let here = || known().find(|(taken, _)| *taken == key);
        same.or_else(here).or_else(|| known().next_back()).map(|(_, pinned)| pinned)
    }

    /// The baseline that a listing under these circumstances is compared with; none for a server that was never seen.
    #[must_use]
    pub fn standing(&self, key: &BaselineKey, listed: &Baseline) -> Option<Baseline> {
        let here = self.0.iter().find(|(taken, _)| taken == key);
        let mut standing = here.map(|(_, baseline)| baseline.clone()).unwrap_or_default();
        let pinned = listed.tools.iter().filter_map(|(name, tool)| Some((name.clone(), self.pinned(key, name, tool.fingerprint)?.clone())));
        standing.tools.extend(pinned);
        (!self.0.is_empty()).then_some(standing)
    }
}

impl BaselineKey {
    /// Whether the baseline is this server's.
    #[must_use]
    pub fn is_of(&self, server: &str, digest: Digest) -> bool {
        self.server == server && self.server_digest == digest
    }
}
