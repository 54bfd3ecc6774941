//! Standing approvals in SQLite.

use std::collections::BTreeSet;

use async_trait::async_trait;
use callgate_core::digest::Fingerprint;
use callgate_core::model::{CallId, Grant, NewGrant};
use callgate_core::store::{AskedAbout, GrantStore, Grantee, StoreError};
use sqlx::SqliteConnection;

use crate::SqliteStore;
use crate::clock::to_row;
use crate::grant_row::{self, set_text};

/// SQLite narrows down; what a grant is for is said in one place, for all stores. `IS` and not `=`: nobody in particular is not the
/// empty name (T34).
const CANDIDATES: &str = "SELECT * FROM grants
    WHERE server_digest = ? AND tool = ? AND principal IS ? AND expires_ms > ?
    ORDER BY seq";

#[async_trait]
impl GrantStore for SqliteStore {
    async fn settle(&self, ask: AskedAbout<'_>) -> Result<Option<String>, StoreError> {
        let failed = |error| self.place.failed(error);
        let mut transaction = self.begin().await?;
        let now_ms = self.time(&mut transaction, ask.grantee.now_ms).await?;
        let ask = AskedAbout { grantee: Grantee { now_ms, ..ask.grantee }, ..ask };
        let grants = self.candidates(&mut transaction, ask.grantee).await?;
        let settled = grants.into_iter().find(|grant| ask.is_settled_by(grant));
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
        if grant.expires_ms <= now && now > now_ms {
            return Err(self.place.refused(&behind(now - now_ms)));
        }
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

    async fn granted(&self, grantee: Grantee<'_>) -> Result<BTreeSet<Fingerprint>, StoreError> {
        let grantee = Grantee { now_ms: self.time_to_read(grantee.now_ms).await?, ..grantee };
        let mut connection = self.pool.acquire().await.map_err(|error| self.place.failed(error))?;
        let grants = self.candidates(&mut connection, grantee).await?;
        let approving = grants.iter().filter(|grant| grantee.holds(grant) && grant.approves_definition());
        Ok(approving.map(|grant| grant.given.fingerprint).collect())
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

impl SqliteStore {
    async fn candidates(&self, connection: &mut SqliteConnection, grantee: Grantee<'_>) -> Result<Vec<Grant>, StoreError> {
        let rows = sqlx::query(CANDIDATES)
            .bind(grantee.server.digest.to_string())
            .bind(grantee.tool)
            .bind(grantee.principal.map(ToString::to_string))
            .bind(to_row(grantee.now_ms))
            .fetch_all(connection)
            .await
            .map_err(|error| self.place.failed(error))?;
        rows.iter().map(|row| grant_row::grant(row, &self.place)).collect()
    }
}

/// A grant that would be over before it began: a person would be asked for it again and again.
fn behind(milliseconds: u64) -> String {
    let hours = milliseconds / 3_600_000;
    format!(
        "has seen a time that is {hours} h ahead of this host's clock, so a grant given now would be over already; set the clock right, or if \
         that other time was wrong, take all grants back and forget it with `callgate grants reset-clock`"
    )
}
