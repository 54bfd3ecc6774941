//! The state file: where it is, how it is opened, and what is said when it cannot be used.

use std::fmt::{Debug, Formatter};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use callgate_core::store::StoreError;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous, SqliteTransaction};

use crate::{file, schema};

/// How long a writer waits for another process that writes. Transactions here take milliseconds.
const BUSY: Duration = Duration::from_secs(5);

/// Connections to one file. SQLite has one writer at a time; more than a few readers gain nothing.
const CONNECTIONS: u32 = 4;

/// Grants and pins in one SQLite file, which several processes may share. Needs a Tokio runtime.
///
/// What it said it recorded survives a crash (write-ahead log, synchronous FULL). Time never goes back: see [`crate`] and the
/// module `clock`. Clones share the file.
#[derive(Clone)]
pub struct SqliteStore {
    pub(crate) pool: SqlitePool,
    pub(crate) place: Place,
    /// The latest time that this process has seen, milliseconds since the Unix epoch.
    pub(crate) seen_ms: Arc<AtomicU64>,
}

/// Which file, for messages.
#[derive(Clone, Debug)]
pub(crate) struct Place(Arc<Path>);

/// Where the state is kept when nobody says otherwise: `$XDG_STATE_HOME/callgate/state.db`, else
/// `~/.local/state/callgate/state.db`; none where neither variable has an absolute path (XDG base directory specification).
#[must_use]
pub fn default_path() -> Option<PathBuf> {
    path_in(|name| std::env::var_os(name).map(PathBuf::from))
}

fn path_in(variable: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    let absolute = |name| variable(name).filter(|path| path.is_absolute());
    let state = absolute("XDG_STATE_HOME").or_else(|| Some(absolute("HOME")?.join(".local/state")))?;
    Some(state.join("callgate/state.db"))
}

impl SqliteStore {
    /// Opens the file, made with mode 0600 where it is absent, and brings it to this build's version.
    ///
    /// # Errors
    /// The file cannot be made or opened, is damaged, another program's, or a later build's.
    pub async fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        let place = Place(path.as_ref().into());
        // Made here and not by SQLite, so that it never has another mode; its log gets the same.
        drop(file::open_private(&place.0)?);
        let options = SqliteConnectOptions::new()
            .filename(&place.0)
            .create_if_missing(false)
            .foreign_keys(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .busy_timeout(BUSY)
            // The file may have been edited by others: what its schema says must not run functions, and pages are checked.
            .pragma("trusted_schema", "OFF")
            .pragma("cell_size_check", "ON");
        let pool = SqlitePoolOptions::new().max_connections(CONNECTIONS).acquire_timeout(2 * BUSY).connect_with(options).await;
        let pool = pool.map_err(|error| place.failed(error))?;
        schema::prepare(&pool, &place).await?;
        Ok(Self { pool, place, seen_ms: Arc::default() })
    }

    /// Closes the file; later requests fail.
    pub async fn close(&self) {
        self.pool.close().await;
    }

    /// A transaction that nobody else writes beside. What it reads stays true until it commits.
    pub(crate) async fn begin(&self) -> Result<SqliteTransaction<'static>, StoreError> {
        self.pool.begin_with("BEGIN IMMEDIATE").await.map_err(|error| self.place.failed(error))
    }
}

impl Debug for SqliteStore {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SqliteStore").field("path", &self.place.0).finish_non_exhaustive()
    }
}

impl Place {
    /// The database's error, with what to do.
    pub(crate) fn failed(&self, error: sqlx::Error) -> StoreError {
        let code = error.as_database_error().and_then(|error| error.code()).map(std::borrow::Cow::into_owned);
        // Extended codes hold the primary one in their low byte.
        let primary = code.and_then(|code| code.parse::<u32>().ok()).map(|code| code & 0xff);
        let advice = match primary {
            Some(5 | 6) => "another process has held it too long; end that, and try again",
            Some(8) => "make it and its folder writable",
            Some(11 | 26) => "it is damaged or no SQLite file: restore it from a backup, or move it away to start without grants and pins",
            Some(13) => "free space on its disk",
            Some(14) => "check that its folder exists and is yours",
            _ => "check the file and its disk",
        };
        StoreError(format!("the state file `{}` failed: {error}; {advice}", self.0.display()))
    }

    /// A reason not to use the file at all.
    pub(crate) fn refused(&self, why: &str) -> StoreError {
        StoreError(format!("the state file `{}` {why}", self.0.display()))
    }

    /// Something in the file is not what this build writes.
    pub(crate) fn unreadable(&self, what: &str) -> StoreError {
        self.refused(&format!("has a {what} that cannot be read; restore it from a backup"))
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::path_in;

    #[test]
    fn the_default_path_follows_xdg() {
        let path = |xdg: Option<&str>, home: Option<&str>| {
            path_in(|name| if name == "HOME" { home } else { xdg }.map(PathBuf::from)).map(|path| path.display().to_string())
        };
        assert_eq!(path(Some("/x"), Some("/h")).unwrap(), "/x/callgate/state.db");
        assert_eq!(path(Some("relative"), Some("/h")).unwrap(), "/h/.local/state/callgate/state.db");
        assert_eq!(path(None, Some("/h")).unwrap(), "/h/.local/state/callgate/state.db");
        assert_eq!(path(None, None), None);
    }
}
