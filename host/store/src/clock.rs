//! Time that never goes back (T36): a grant that has expired stays expired, whatever becomes of the system's clock.
//!
//! The high-water mark is the latest time that any process with this file has seen. It is kept in memory to the millisecond and in
//! the file to [`STEP_MS`], because each step is a write that waits for the disk. A clock that was once far ahead makes grants
//! expire too early until time catches up, and new ones are refused: that is the safe side, and [`SqliteStore::reset_clock`] is the way
//! out.

use std::sync::atomic::Ordering;

use callgate_core::store::StoreError;
use sqlx::{Row, SqliteConnection};

use crate::SqliteStore;

/// How far the mark in the file may lag behind.
const STEP_MS: u64 = 1000;

impl SqliteStore {
    /// Forgets the latest time that was seen, for one that was wrong, and takes every grant back: one that had expired by it could live
    /// again. Gives the number of those grants. Other processes with this file keep the time that they have seen until they end.
    ///
    /// # Errors
    /// Nothing was changed.
    pub async fn reset_clock(&self, now_ms: u64) -> Result<u64, StoreError> {
        let failed = |error| self.place.failed(error);
        let mut transaction = self.begin().await?;
        let taken = sqlx::query("DELETE FROM grants").execute(&mut *transaction).await.map_err(failed)?.rows_affected();
        sqlx::query("UPDATE clock SET high_ms = ?").bind(to_row(now_ms)).execute(&mut *transaction).await.map_err(failed)?;
        transaction.commit().await.map_err(failed)?;
        self.seen_ms.store(now_ms, Ordering::Release);
        Ok(taken)
    }

    /// The time to use, inside a transaction that writes.
    pub(crate) async fn time(&self, connection: &mut SqliteConnection, now_ms: u64) -> Result<u64, StoreError> {
        let now = self.seen_ms.fetch_max(now_ms, Ordering::AcqRel).max(now_ms);
        let kept = self.kept(connection).await?;
        if now > kept.saturating_add(STEP_MS) || (kept == 0 && now > 0) {
            sqlx::query("UPDATE clock SET high_ms = max(high_ms, ?)")
                .bind(to_row(now))
                .execute(connection)
                .await
                .map_err(|error| self.place.failed(error))?;
        }
        Ok(now.max(kept))
    }

    /// The time to use where nothing else is written. Takes a write transaction only where the mark in the file is old.
    pub(crate) async fn time_to_read(&self, now_ms: u64) -> Result<u64, StoreError> {
        let mut connection = self.pool.acquire().await.map_err(|error| self.place.failed(error))?;
        let now = self.seen_ms.fetch_max(now_ms, Ordering::AcqRel).max(now_ms);
        let kept = self.kept(&mut connection).await?;
        drop(connection);
        if now <= kept.saturating_add(STEP_MS) {
            return Ok(now.max(kept));
        }
        let mut transaction = self.begin().await?;
        let time = self.time(&mut transaction, now_ms).await?;
        transaction.commit().await.map_err(|error| self.place.failed(error))?;
        Ok(time)
    }

    async fn kept(&self, connection: &mut SqliteConnection) -> Result<u64, StoreError> {
        let row = sqlx::query("SELECT high_ms FROM clock").fetch_one(connection).await;
        let kept: i64 = row.and_then(|row| row.try_get(0)).map_err(|error| self.place.failed(error))?;
        Ok(from_row(kept))
    }
}

/// A time for a row. SQLite's integers are signed; the year 292 million is far enough.
pub(crate) fn to_row(ms: u64) -> i64 {
    i64::try_from(ms).unwrap_or(i64::MAX)
}

/// A time from a row.
pub(crate) fn from_row(ms: i64) -> u64 {
    u64::try_from(ms).unwrap_or(0)
}
