//! Grants and pins that live as long as the process.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;

use crate::digest::Fingerprint;
use crate::model::{CallId, Grant, NewGrant, Principal, ServerIdentity};

use super::{AskedAbout, Baseline, BaselineKey, GrantStore, PinStore, PinnedTool, StoreError};

/// A store for programs and tests that need nothing to outlive them.
#[derive(Default)]
pub struct MemoryStore {
    grants: Mutex<Vec<Grant>>,
    baselines: Mutex<Vec<(BaselineKey, Baseline)>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl AskedAbout<'_> {
    /// Whether a stored grant settles this ask. Stores that cannot say this in their own language filter by it.
    #[must_use]
    pub fn is_settled_by(&self, grant: &Grant) -> bool {
        let given = &grant.given;
        is_for(given, self.principal, self.server, self.tool)
            && given.fingerprint == self.fingerprint
            && self.now_ms < given.expires_ms
            && grant.uses_left != Some(0)
            && self.causes.is_subset(&given.causes)
            && self.taint.is_subset(&given.taint)
            && given.terms.admit(self.arguments)
    }
}

fn is_for(given: &NewGrant, principal: Option<&Principal>, server: &ServerIdentity, tool: &str) -> bool {
    given.principal == principal.map(ToString::to_string)
        && given.server == server.name.as_str()
        && given.server_digest == server.digest
        && given.tool == tool
}

fn is_live(grant: &Grant, now_ms: u64) -> bool {
    now_ms < grant.given.expires_ms
}

#[async_trait]
impl GrantStore for MemoryStore {
    async fn settle(&self, ask: AskedAbout<'_>) -> Result<Option<String>, StoreError> {
        let mut grants = lock(&self.grants);
        let found = grants.iter_mut().find(|grant| ask.is_settled_by(grant));
        Ok(found.map(|grant| {
            grant.uses_left = grant.uses_left.map(|uses| uses.saturating_sub(1));
            grant.id.clone()
        }))
    }

    async fn is_live(&self, id: &str, now_ms: u64) -> Result<bool, StoreError> {
        Ok(lock(&self.grants).iter().any(|grant| grant.id == id && is_live(grant, now_ms)))
    }

    async fn record(&self, given: NewGrant, now_ms: u64) -> Result<String, StoreError> {
        let id = CallId::fresh().to_string();
        lock(&self.grants).push(Grant { id: id.clone(), created_ms: now_ms, uses_left: given.terms.uses, given });
        Ok(id)
    }

    async fn granted(
        &self,
        principal: Option<&Principal>,
        server: &ServerIdentity,
        tool: &str,
        now_ms: u64,
    ) -> Result<BTreeSet<Fingerprint>, StoreError> {
        let grants = lock(&self.grants);
        let live = grants
            .iter()
            .filter(|grant| is_for(&grant.given, principal, server, tool) && is_live(grant, now_ms) && grant.uses_left != Some(0));
        Ok(live.map(|grant| grant.given.fingerprint).collect())
    }

    async fn list(&self, now_ms: u64) -> Result<Vec<Grant>, StoreError> {
        Ok(lock(&self.grants).iter().filter(|grant| is_live(grant, now_ms)).cloned().collect())
    }

    async fn revoke(&self, id: &str) -> Result<bool, StoreError> {
        let mut grants = lock(&self.grants);
        let before = grants.len();
        grants.retain(|grant| grant.id != id);
        Ok(grants.len() < before)
    }
}

#[async_trait]
impl PinStore for MemoryStore {
    async fn baseline(&self, key: &BaselineKey) -> Result<Option<Baseline>, StoreError> {
        Ok(lock(&self.baselines).iter().find(|(known, _)| known == key).map(|(_, baseline)| baseline.clone()))
    }

    async fn record(&self, key: &BaselineKey, first: Baseline) -> Result<Baseline, StoreError> {
        let mut baselines = lock(&self.baselines);
        if let Some((_, standing)) = baselines.iter().find(|(known, _)| known == key) {
            return Ok(standing.clone());
        }
        baselines.push((key.clone(), first.clone()));
        Ok(first)
    }

    async fn accept(&self, key: &BaselineKey, tool: &str, pinned: Option<PinnedTool>) -> Result<(), StoreError> {
        let mut baselines = lock(&self.baselines);
        let standing = baselines.iter_mut().find(|(known, _)| known == key);
        let (_, baseline) = standing.ok_or_else(|| StoreError(format!("`{}` has no baseline yet", key.server)))?;
        match pinned {
            Some(pinned) => baseline.tools.insert(tool.to_owned(), pinned),
            None => baseline.tools.remove(tool),
        };
        Ok(())
    }

    async fn list(&self) -> Result<Vec<(BaselineKey, Baseline)>, StoreError> {
        Ok(lock(&self.baselines).clone())
    }
}
