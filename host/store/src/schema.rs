//! The tables, and how a file of an earlier build gets them. Forward only: a file of a later build is refused, because this build
//! would not know what its rows mean.

use callgate_core::store::StoreError;
use sqlx::sqlite::SqlitePool;
use sqlx::{Row, SqliteConnection};

use crate::sqlite::Place;

/// Marks a SQLite file as ours (`PRAGMA application_id`): "CGst".
const APPLICATION: i64 = 0x4347_7374;

/// One step for each version, the first making version 1. A step that was released is never edited.
const STEPS: [&str; 1] = ["
    CREATE TABLE clock (
        only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
        high_ms  INTEGER NOT NULL
    ) STRICT;
    INSERT INTO clock VALUES (1, 0);

    CREATE TABLE grants (
        seq           INTEGER PRIMARY KEY AUTOINCREMENT,
        id            TEXT NOT NULL UNIQUE,
        principal     TEXT,
        server        TEXT NOT NULL,
        server_digest TEXT NOT NULL,
        tool          TEXT NOT NULL,
        fingerprint   TEXT NOT NULL,
        causes        TEXT NOT NULL,
        taint         TEXT NOT NULL,
        created_ms    INTEGER NOT NULL,
        expires_ms    INTEGER NOT NULL,
        uses_left     INTEGER CHECK (uses_left >= 0),
        terms         TEXT NOT NULL
    ) STRICT;
    CREATE INDEX grants_by_tool ON grants (server_digest, tool, fingerprint);

    CREATE TABLE baselines (
        id            INTEGER PRIMARY KEY AUTOINCREMENT,
        server        TEXT NOT NULL,
        server_digest TEXT NOT NULL,
        era           TEXT NOT NULL CHECK (era IN ('legacy', 'modern')),
        declared      TEXT NOT NULL,
        UNIQUE (server, server_digest, era, declared)
    ) STRICT;

    CREATE TABLE pins (
        baseline    INTEGER NOT NULL REFERENCES baselines (id) ON DELETE CASCADE,
        tool        TEXT NOT NULL,
        fingerprint TEXT NOT NULL,
        shape       TEXT NOT NULL,
        definition  TEXT NOT NULL,
        PRIMARY KEY (baseline, tool)
    ) STRICT;
"];

/// Brings a file to this build's version, in one transaction.
///
/// # Errors
/// The file is damaged, another program's, or a later build's.
pub(crate) async fn prepare(pool: &SqlitePool, place: &Place) -> Result<(), StoreError> {
    let mut transaction = pool.begin_with("BEGIN IMMEDIATE").await.map_err(|error| place.failed(error))?;
    let health: String = read(&mut transaction, place, "PRAGMA quick_check(1)").await?;
    if health != "ok" {
        return Err(
            place.refused(&format!("is damaged ({health}); restore it from a backup, or move it away to start without grants and pins"))
        );
    }
    let application: i64 = read(&mut transaction, place, "PRAGMA application_id").await?;
    let version: i64 = read(&mut transaction, place, "PRAGMA user_version").await?;
    let tables: i64 = read(&mut transaction, place, "SELECT count(*) FROM sqlite_schema").await?;
    if application != APPLICATION && (application != 0 || version != 0 || tables != 0) {
        return Err(place.refused("is another program's SQLite file; name another path"));
    }
    let done = usize::try_from(version).unwrap_or(usize::MAX);
    if done > STEPS.len() {
        return Err(place.refused(&format!(
            "has version {version}, and this build knows versions to {}; run the newer build that wrote it",
            STEPS.len()
        )));
    }
    for step in STEPS.iter().skip(done) {
        sqlx::raw_sql(*step).execute(&mut *transaction).await.map_err(|error| place.failed(error))?;
    }
    if done < STEPS.len() {
        // Pragmas take no parameters; these are numbers of our own.
        let mark = format!("PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {}", STEPS.len());
        sqlx::raw_sql(sqlx::AssertSqlSafe(mark)).execute(&mut *transaction).await.map_err(|error| place.failed(error))?;
    }
    transaction.commit().await.map_err(|error| place.failed(error))
}

async fn read<T>(connection: &mut SqliteConnection, place: &Place, query: &'static str) -> Result<T, StoreError>
where
    T: for<'r> sqlx::Decode<'r, sqlx::Sqlite> + sqlx::Type<sqlx::Sqlite>,
{
    let row = sqlx::query(query).fetch_one(connection).await.map_err(|error| place.failed(error))?;
    row.try_get(0).map_err(|error| place.failed(error))
}
