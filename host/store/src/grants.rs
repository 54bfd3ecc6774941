//! Standing approvals in SQLite.

use std::collections::BTreeSet;

use async_trait::async_trait;
use callgate_core::digest::Fingerprint;
use callgate_core::model::{CallId, Grant, NewGrant, Principal, ServerIdentity};
use callgate_core::store::{AskedAbout, GrantStore, StoreError};
use sqlx::Row;

use crate::SqliteStore;
use crate::clock::to_row;
use crate::grant_row::{self, set_text};

/// `IS` and not `=`: nobody in particular is not the empty name (T34).
const CANDIDATES: &str = "SELECT * FROM grants
    WHERE server_digest = ? AND tool = ? AND fingerprint = ? AND server = ? AND principal IS ?
      AND expires_ms > ? AND (uses_left IS NULL OR uses_left > 0)
    ORDER BY seq";

#[async_trait]
impl GrantStore for SqliteStore {
    async fn settle(&self, ask: AskedAbout<'_>) -> Result<Option<String>, StoreError> {
        let failed = |error| self.place.failed(error);
        let mut transaction = self.begin().await?;
        let ask = AskedAbout { now_ms: self.time(&mut transaction, ask.now_ms).await?, ..ask };
        let rows = sqlx::query(CANDIDATES)
            .bind(ask.server.digest.to_string())
            .bind(ask.tool)
            .bind(ask.fingerprint.to_string())
            .bind(ask.server.name.as_str())
            .bind(ask.principal.map(ToString::to_string))
            .bind(to_row(ask.now_ms))
            .fetch_all(&mut *transaction)
            .await
            .map_err(failed)?;
        // SQLite narrows down; what a grant settles is said in one place, for all stores.
        let mut settled = None;
        for row in &rows {
            let grant = grant_row::grant(row, &self.place)?;
            if ask.is_settled_by(&grant) {
                settled = Some(grant);
                break;
            }
        }
        if let Some(grant) = &settled
            && grant.uses_left.is_some()
        {
            sqlx::query("UPDATE grants SET uses_left = uses_left - 1 WHERE id = ?")
                .bind(&grant.id)
                .execute(&mut *transaction)
                .await
                .map_err(failed)?;
        }
        // Before the commit nothing is used, so nothing may be allowed by it.
        transaction.commit().await.map_err(failed)?;
        Ok(settled.map(|grant| grant.id))
    }

    async fn is_live(&self, id: &str, now_ms: u64) -> Result<bool, StoreError> {
        let now = self.time_to_read(now_ms).await?;
        let found = sqlx::query("SELECT 1 FROM grants WHERE id = ? AND expires_ms > ?")
            .bind(id)
            .bind(to_row(now))
            .fetch_optional(&self.pool)
            .await
            .map_err(|error| self.place.failed(error))?;
        Ok(found.is_some())
    }

    async fn record(&self, grant: NewGrant, now_ms: u64) -> Result<String, StoreError> {
        let failed = |error| self.place.failed(error);
        let id = CallId::fresh().to_string();
        let mut transaction = self.begin().await?;
        let now = self.time(&mut transaction, now_ms).await?;
        sqlx::query(
            "INSERT INTO grants (id, principal, server, server_digest, tool, fingerprint, causes, taint,
                                 created_ms, expires_ms, uses_left, terms)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        )
        .bind(&id)
        .bind(grant.principal)
        .bind(grant.server)
        .bind(grant.server_digest.to_string())
        .bind(grant.tool)
        .bind(grant.fingerprint.to_string())
        .bind(set_text(&grant.causes))
        .bind(set_text(&grant.taint))
        .bind(to_row(now))
        .bind(to_row(grant.expires_ms))
        .bind(grant.terms.uses)
        .bind(grant.terms.to_json().to_string())
        .execute(&mut *transaction)
        .await
        .map_err(failed)?;
        transaction.commit().await.map_err(failed)?;
        Ok(id)
    }

    async fn granted(
        &self,
        principal: Option<&Principal>,
        server: &ServerIdentity,
        tool: &str,
        now_ms: u64,
    ) -> Result<BTreeSet<Fingerprint>, StoreError> {
        let now = self.time_to_read(now_ms).await?;
        let rows = sqlx::query(
            "SELECT DISTINCT fingerprint FROM grants
             WHERE server_digest = ? AND tool = ? AND server = ? AND principal IS ?
               AND expires_ms > ? AND (uses_left IS NULL OR uses_left > 0)",
        )
        .bind(server.digest.to_string())
        .bind(tool)
        .bind(server.name.as_str())
        .bind(principal.map(ToString::to_string))
        .bind(to_row(now))
        .fetch_all(&self.pool)
        .await
        .map_err(|error| self.place.failed(error))?;
        let fingerprint = |row| Row::try_get::<String, _>(row, 0).ok()?.parse().ok();
        rows.iter().map(fingerprint).collect::<Option<_>>().ok_or_else(|| self.place.unreadable("grant whose `fingerprint`"))
    }

    async fn list(&self, now_ms: u64) -> Result<Vec<Grant>, StoreError> {
        let now = self.time_to_read(now_ms).await?;
        let rows = sqlx::query("SELECT * FROM grants WHERE expires_ms > ? ORDER BY seq")
            .bind(to_row(now))
            .fetch_all(&self.pool)
            .await
            .map_err(|error| self.place.failed(error))?;
        rows.iter().map(|row| grant_row::grant(row, &self.place)).collect()
    }

    async fn revoke(&self, id: &str) -> Result<bool, StoreError> {
        let done = sqlx::query("DELETE FROM grants WHERE id = ?").bind(id).execute(&self.pool).await;
        done.map(|done| done.rows_affected() > 0).map_err(|error| self.place.failed(error))
    }
}
