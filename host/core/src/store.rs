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

/// An ask that a grant might settle.
#[derive(Clone, Copy, Debug)]
pub struct AskedAbout<'a> {
    /// Who calls.
    pub principal: Option<&'a Principal>,
    /// The server.
    pub server: &'a ServerIdentity,
    /// The tool.
    pub tool: &'a str,
    /// The definition that the call was checked against.
    pub fingerprint: Fingerprint,
    /// Why it is asked about: a grant must have been given under all of these.
    pub causes: &'a BTreeSet<String>,
    /// The call's taint: a grant must have been given under all of these.
    pub taint: &'a BTreeSet<String>,
    /// The final arguments: a grant's constraints must admit them.
    pub arguments: &'a Arguments,
    /// The call's time, milliseconds since the Unix epoch.
    pub now_ms: u64,
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

    /// Fingerprints of live grants for this principal and tool (PO-6).
    ///
    /// # Errors
    /// The store cannot answer.
    async fn granted(
        &self,
        principal: Option<&Principal>,
        server: &ServerIdentity,
        tool: &str,
        now_ms: u64,
    ) -> Result<BTreeSet<Fingerprint>, StoreError>;

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

/// Under which circumstances a baseline was taken. Others are another list, and cannot be compared (T33).
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
    /// The baseline, where one was recorded.
    ///
    /// # Errors
    /// The store cannot answer.
    async fn baseline(&self, key: &BaselineKey) -> Result<Option<Baseline>, StoreError>;

    /// Records a baseline if there is none, and gives the one that stands: of two hosts that race, the loser gets the winner's.
    ///
    /// # Errors
    /// It was not recorded.
    async fn record(&self, key: &BaselineKey, first: Baseline) -> Result<Baseline, StoreError>;

    /// Puts one tool's definition into an existing baseline, or takes it out: a person accepted the change.
    ///
    /// # Errors
    /// It was not recorded, or there is no baseline.
    async fn accept(&self, key: &BaselineKey, tool: &str, pinned: Option<PinnedTool>) -> Result<(), StoreError>;

    /// All baselines.
    ///
    /// # Errors
    /// The store cannot answer.
    async fn list(&self) -> Result<Vec<(BaselineKey, Baseline)>, StoreError>;
}
