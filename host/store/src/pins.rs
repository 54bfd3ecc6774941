//! Approved definitions in SQLite.

use async_trait::async_trait;
use callgate_core::digest::Digest;
use callgate_core::json::Json;
use callgate_core::model::{Era, ServerIdentity};
use callgate_core::store::{Baseline, BaselineKey, Baselines, PinStore, PinnedTool, StoreError};
use callgate_core::upstream::InputKinds;
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};

use crate::SqliteStore;

#[async_trait]
impl PinStore for SqliteStore {
    async fn baselines(&self, server: &ServerIdentity) -> Result<Baselines, StoreError> {
        // One transaction, so that a baseline is never read half before and half after a change.
        let mut transaction = self.pool.begin().await.map_err(|error| self.place.failed(error))?;
        self.of_server(&mut transaction, server.name.as_str(), server.digest).await
    }

    async fn record(&self, key: &BaselineKey, first: Baseline) -> Result<Baselines, StoreError> {
        let mut transaction = self.begin().await?;
        let standing = self.of_server(&mut transaction, &key.server, key.server_digest).await?;
        if !standing.0.is_empty() {
            return Ok(standing);
        }
        let id = self.insert(&mut transaction, key).await?;
        for (tool, pinned) in &first.tools {
            self.put(&mut transaction, id, tool, pinned).await?;
        }
        transaction.commit().await.map_err(|error| self.place.failed(error))?;
        Ok(Baselines(vec![(key.clone(), first)]))
    }

    async fn accept(&self, key: &BaselineKey, tool: &str, pinned: Option<PinnedTool>) -> Result<(), StoreError> {
        let mut transaction = self.begin().await?;
        let id = match self.find(&mut transaction, key).await? {
            Some(id) => id,
            None if self.is_known(&mut transaction, key).await? => self.insert(&mut transaction, key).await?,
            None => return Err(StoreError(format!("`{}` has no baseline yet", key.server))),
        };
        match pinned {
            Some(pinned) => self.put(&mut transaction, id, tool, &pinned).await?,
            None => {
                let removed = sqlx::query("DELETE FROM pins WHERE baseline = ? AND tool = ?").bind(id).bind(tool);
                removed.execute(&mut *transaction).await.map_err(|error| self.place.failed(error))?;
            }
        }
        transaction.commit().await.map_err(|error| self.place.failed(error))
    }

    async fn list(&self) -> Result<Vec<(BaselineKey, Baseline)>, StoreError> {
        let mut transaction = self.pool.begin().await.map_err(|error| self.place.failed(error))?;
        let rows = sqlx::query("SELECT * FROM baselines ORDER BY id").fetch_all(&mut *transaction).await;
        self.read(&mut transaction, rows.map_err(|error| self.place.failed(error))?).await
    }
}

impl SqliteStore {
    async fn of_server(&self, connection: &mut SqliteConnection, server: &str, digest: Digest) -> Result<Baselines, StoreError> {
        let rows = sqlx::query("SELECT * FROM baselines WHERE server = ? AND server_digest = ? ORDER BY id")
            .bind(server)
            .bind(digest.to_string())
            .fetch_all(&mut *connection)
            .await;
        self.read(connection, rows.map_err(|error| self.place.failed(error))?).await.map(Baselines)
    }

    async fn read(&self, connection: &mut SqliteConnection, rows: Vec<SqliteRow>) -> Result<Vec<(BaselineKey, Baseline)>, StoreError> {
        let mut read = Vec::new();
        for row in rows {
            let (id, key) = key(&row).ok_or_else(|| self.place.unreadable("baseline"))?;
            read.push((key, self.tools(connection, id).await?));
        }
        Ok(read)
    }

    async fn insert(&self, connection: &mut SqliteConnection, key: &BaselineKey) -> Result<i64, StoreError> {
        let inserted = sqlx::query("INSERT INTO baselines (server, server_digest, era, declared) VALUES (?, ?, ?, ?)")
            .bind(&key.server)
            .bind(key.server_digest.to_string())
            .bind(key.era.as_str())
            .bind(declared_text(key.declared))
            .execute(connection)
            .await;
        inserted.map(|inserted| inserted.last_insert_rowid()).map_err(|error| self.place.failed(error))
    }

    /// Whether the server has a baseline under any circumstances.
    async fn is_known(&self, connection: &mut SqliteConnection, key: &BaselineKey) -> Result<bool, StoreError> {
        let found = sqlx::query("SELECT 1 FROM baselines WHERE server = ? AND server_digest = ?")
            .bind(&key.server)
            .bind(key.server_digest.to_string())
            .fetch_optional(connection)
            .await;
        found.map(|row| row.is_some()).map_err(|error| self.place.failed(error))
    }

    async fn find(&self, connection: &mut SqliteConnection, key: &BaselineKey) -> Result<Option<i64>, StoreError> {
        let found = sqlx::query("SELECT id FROM baselines WHERE server = ? AND server_digest = ? AND era = ? AND declared = ?")
            .bind(&key.server)
            .bind(key.server_digest.to_string())
            .bind(key.era.as_str())
            .bind(declared_text(key.declared))
            .fetch_optional(connection)
            .await;
        let id = found.and_then(|row| row.map(|row| row.try_get(0)).transpose());
        id.map_err(|error| self.place.failed(error))
    }

    async fn tools(&self, connection: &mut SqliteConnection, baseline: i64) -> Result<Baseline, StoreError> {
        let rows = sqlx::query("SELECT * FROM pins WHERE baseline = ?").bind(baseline).fetch_all(connection).await;
        let rows = rows.map_err(|error| self.place.failed(error))?;
        let tools = rows.iter().map(pin).collect::<Option<_>>();
        tools.map(|tools| Baseline { tools }).ok_or_else(|| self.place.unreadable("pinned definition"))
    }

    async fn put(&self, connection: &mut SqliteConnection, baseline: i64, tool: &str, pinned: &PinnedTool) -> Result<(), StoreError> {
        sqlx::query("INSERT OR REPLACE INTO pins (baseline, tool, fingerprint, shape, definition) VALUES (?, ?, ?, ?, ?)")
            .bind(baseline)
            .bind(tool)
            .bind(pinned.fingerprint.to_string())
            .bind(pinned.shape.to_string())
            .bind(pinned.definition.to_string())
            .execute(connection)
            .await
            .map_err(|error| self.place.failed(error))?;
        Ok(())
    }
}

fn key(row: &SqliteRow) -> Option<(i64, BaselineKey)> {
    let text = |column| row.try_get::<String, _>(column).ok();
    let key = BaselineKey {
        server: text("server")?,
        server_digest: text("server_digest")?.parse().ok()?,
        era: [Era::Legacy, Era::Modern].into_iter().find(|era| Some(era.as_str()) == text("era").as_deref())?,
        declared: declared(&text("declared")?)?,
    };
    Some((row.try_get("id").ok()?, key))
}

fn pin(row: &SqliteRow) -> Option<(String, PinnedTool)> {
    let text = |column| row.try_get::<String, _>(column).ok();
    let pinned = PinnedTool {
        fingerprint: text("fingerprint")?.parse().ok()?,
        shape: text("shape")?.parse().ok()?,
        definition: Json::parse(&text("definition")?).ok()?,
    };
    Some((text("tool")?, pinned))
}

/// The words of what was declared, in one order, so that equal kinds have equal texts.
fn declared_text(kinds: InputKinds) -> String {
    let words = [("form", kinds.form), ("url", kinds.url), ("sampling", kinds.sampling), ("roots", kinds.roots)];
    words.into_iter().filter(|(_, on)| *on).map(|(word, _)| word).collect::<Vec<_>>().join(" ")
}

fn declared(text: &str) -> Option<InputKinds> {
    let mut kinds = InputKinds::default();
    for word in text.split_whitespace() {
        match word {
            "form" => kinds.form = true,
            "url" => kinds.url = true,
            "sampling" => kinds.sampling = true,
            "roots" => kinds.roots = true,
            _ => return None,
        }
    }
    Some(kinds)
}
