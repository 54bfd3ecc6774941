//! Grants and pins that live as long as the process.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;

use crate::digest::{Digest, Fingerprint};
use crate::model::{CallId, Grant, NewGrant, ServerIdentity};

use super::{AskedAbout, Baseline, BaselineKey, Baselines, GrantStore, Grantee, PinStore, PinnedTool, StoreError};

/// A store for programs and tests that need nothing to outlive them.
#[derive(Default)]
pub struct MemoryStore {
    grants: Mutex<Vec<Grant>>,
    baselines: Mutex<Vec<(BaselineKey, Baseline)>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
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

    async fn granted(&self, grantee: Grantee<'_>) -> Result<BTreeSet<Fingerprint>, StoreError> {
        let grants = lock(&self.grants);
        let approving = grants.iter().filter(|grant| grantee.holds(grant) && grant.approves_definition());
        Ok(approving.map(|grant| grant.given.fingerprint).collect())
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

fn standing(baselines: &[(BaselineKey, Baseline)], server: &str, digest: Digest) -> Baselines {
    Baselines(baselines.iter().filter(|(key, _)| key.is_of(server, digest)).cloned().collect())
}

#[async_trait]
impl PinStore for MemoryStore {
    async fn baselines(&self, server: &ServerIdentity) -> Result<Baselines, StoreError> {
        Ok(standing(&lock(&self.baselines), server.name.as_str(), server.digest))
    }

    async fn record(&self, key: &BaselineKey, first: Baseline) -> Result<Baselines, StoreError> {
        let mut baselines = lock(&self.baselines);
        if standing(&baselines, &key.server, key.server_digest).0.is_empty() {
            baselines.push((key.clone(), first));
        }
        Ok(standing(&baselines, &key.server, key.server_digest))
    }

    async fn accept(&self, key: &BaselineKey, tool: &str, pinned: Option<PinnedTool>) -> Result<(), StoreError> {
        let mut baselines = lock(&self.baselines);
        if standing(&baselines, &key.server, key.server_digest).0.is_empty() {
            return Err(StoreError(format!("`{}` has no baseline yet", key.server)));
        }
        if !baselines.iter().any(|(known, _)| known == key) {
            baselines.push((key.clone(), Baseline::default()));
        }
        for (_, baseline) in baselines.iter_mut().filter(|(known, _)| known == key) {
            match &pinned {
                Some(pinned) => baseline.tools.insert(tool.to_owned(), pinned.clone()),
                None => baseline.tools.remove(tool),
            };
        }
        Ok(())
    }

    async fn list(&self) -> Result<Vec<(BaselineKey, Baseline)>, StoreError> {
        Ok(lock(&self.baselines).clone())
    }
}
