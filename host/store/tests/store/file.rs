//! The state file itself: who may read it, what survives, and what is refused.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use callgate_core::store::{GrantStore, PinStore};
use callgate_store::SqliteStore;

use crate::support::{Asked, Folder, baseline, key, key_with, pinned};

async fn open(path: &Path) -> SqliteStore {
    SqliteStore::open(path).await.unwrap()
}

async fn refusal(path: &Path) -> String {
    SqliteStore::open(path).await.unwrap_err().to_string()
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// Runs SQL on a file behind the store's back.
async fn edit(path: &Path, sql: &'static str) {
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(path).create_if_missing(true);
    let pool = sqlx::SqlitePool::connect_with(options).await.unwrap();
    sqlx::raw_sql(sql).execute(&pool).await.unwrap();
    pool.close().await;
}

#[tokio::test]
async fn only_its_owner_may_read_it() {
    let folder = Folder::new();
    let path = folder.join("new/er/state.db");
    let store = open(&path).await;
    PinStore::record(&store, &key(), baseline(&[("a", "{}")])).await.unwrap();
    assert_eq!(mode(path.parent().unwrap()), 0o700);
    for file in ["state.db", "state.db-wal", "state.db-shm"] {
        assert_eq!(mode(&path.with_file_name(file)), 0o600, "{file}");
    }
    let open_to_all = folder.join("open.db");
    std::fs::write(&open_to_all, "").unwrap();
    std::fs::set_permissions(&open_to_all, std::fs::Permissions::from_mode(0o644)).unwrap();
    open(&open_to_all).await;
    assert_eq!(mode(&open_to_all), 0o600);
}

#[tokio::test]
async fn everything_is_there_after_reopening() {
    let folder = Folder::new();
    let path = folder.join("state.db");
    let asked = Asked::new();
    let mut grant = asked.grant();
    grant.terms.uses = Some(2);
    let store = open(&path).await;
    let id = GrantStore::record(&store, grant, 1000).await.unwrap();
    PinStore::record(&store, &key(), baseline(&[("a", "{}")])).await.unwrap();
    store.settle(asked.about()).await.unwrap().unwrap();
    store.close().await;
    assert!(store.settle(asked.about()).await.is_err());
    let store = open(&path).await;
    assert_eq!(store.settle(asked.about()).await.unwrap(), Some(id));
    assert_eq!(store.settle(asked.about()).await.unwrap(), None);
    assert_eq!(store.baselines(&asked.server).await.unwrap().0, [(key(), baseline(&[("a", "{}")]))]);
}

#[tokio::test]
async fn two_handles_share_one_file() {
    let folder = Folder::new();
    let path = folder.join("state.db");
    let (one, other) = tokio::join!(open(&path), open(&path));
    let asked = Asked::new();
    for _ in 0..10 {
        let mut grant = asked.grant();
        grant.terms.uses = Some(1);
        GrantStore::record(&one, grant, 1000).await.unwrap();
        let (first, second) = tokio::join!(one.settle(asked.about()), other.settle(asked.about()));
        assert_eq!(usize::from(first.unwrap().is_some()) + usize::from(second.unwrap().is_some()), 1);
    }
    let key = key();
    let (first, second) =
        tokio::join!(PinStore::record(&one, &key, baseline(&[("a", "1")])), PinStore::record(&other, &key, baseline(&[("a", "2")])));
    assert_eq!(first.unwrap(), second.unwrap());
    let id = GrantStore::record(&one, asked.grant(), 1000).await.unwrap();
    assert!(other.revoke(&id).await.unwrap());
    assert!(!one.is_live(&id, 1000).await.unwrap());
}

#[tokio::test]
async fn time_does_not_go_back() {
    let folder = Folder::new();
    let path = folder.join("state.db");
    let asked = Asked::new();
    let store = open(&path).await;
    let id = GrantStore::record(&store, asked.grant(), 1000).await.unwrap();
    assert!(!store.is_live(&id, 20_000).await.unwrap());
    assert_eq!(store.settle(asked.about()).await.unwrap(), None);
    let refusal = GrantStore::record(&store, asked.grant(), 1000).await.unwrap_err().to_string();
    assert!(refusal.contains("clock") && refusal.contains("grants reset-clock"), "{refusal}");
    store.close().await;
    let store = open(&path).await;
    assert_eq!(store.settle(asked.about()).await.unwrap(), None);
    assert_eq!(GrantStore::list(&store, 1000).await.unwrap(), []);
    assert!(store.granted(asked.grantee()).await.unwrap().is_empty());
    assert!(!store.is_live(&id, 1000).await.unwrap());
}

/// A clock that was once far ahead is no reason to lose approvals for ever; but nothing that had expired comes back.
#[tokio::test]
async fn a_wrong_time_can_be_forgotten() {
    let folder = Folder::new();
    let path = folder.join("state.db");
    let asked = Asked::new();
    let store = open(&path).await;
    let id = GrantStore::record(&store, asked.grant(), 1000).await.unwrap();
    assert!(!store.is_live(&id, 400 * 86_400_000).await.unwrap());
    assert!(GrantStore::record(&store, asked.grant(), 2000).await.is_err());
    assert_eq!(store.reset_clock(2000).await.unwrap(), 1);
    assert!(!store.is_live(&id, 2000).await.unwrap(), "it had expired");
    let again = GrantStore::record(&store, asked.grant(), 2000).await.unwrap();
    assert!(store.is_live(&again, 2000).await.unwrap());
    store.close().await;
    assert!(open(&path).await.is_live(&again, 3000).await.unwrap());
}

#[tokio::test]
async fn what_is_not_ours_is_refused() {
    let folder = Folder::new();
    let newer = folder.join("newer.db");
    open(&newer).await.close().await;
    edit(&newer, "PRAGMA user_version = 99").await;
    let refusal_text = refusal(&newer).await;
    assert!(
        refusal_text.contains("newer.db") && refusal_text.contains("version 99") && refusal_text.contains("run the newer"),
        "{refusal_text}"
    );

    let other = folder.join("other.db");
    edit(&other, "CREATE TABLE theirs (x)").await;
    assert!(refusal(&other).await.contains("another program's"));

    let text = folder.join("text.db");
    std::fs::write(&text, "this is no database, whatever its name says\n".repeat(50)).unwrap();
    let refusal_text = refusal(&text).await;
    assert!(refusal_text.contains("text.db") && refusal_text.contains("restore it from a backup"), "{refusal_text}");
    assert!(std::fs::read_to_string(&text).unwrap().starts_with("this is no database"), "left as it was");
}

#[tokio::test]
async fn damage_is_noticed() {
    let folder = Folder::new();
    let path = folder.join("state.db");
    let store = open(&path).await;
    for tool in 0..200 {
        let key = key_with(|key| key.server = format!("s{tool}"));
        PinStore::record(&store, &key, baseline(&[("a", &format!("\"{}\"", "x".repeat(1000)))])).await.unwrap();
    }
    store.close().await;
    let mut bytes = std::fs::read(&path).unwrap();
    for byte in bytes.iter_mut().skip(4096).step_by(7) {
        *byte ^= 0x55;
    }
    std::fs::write(&path, bytes).unwrap();
    let refusal = refusal(&path).await;
    assert!(refusal.contains("state.db") && refusal.contains("damaged"), "{refusal}");
}

#[tokio::test]
async fn a_row_that_does_not_read_back_is_an_error() {
    let folder = Folder::new();
    let path = folder.join("state.db");
    let asked = Asked::new();
    let store = open(&path).await;
    GrantStore::record(&store, asked.grant(), 1000).await.unwrap();
    PinStore::record(&store, &key(), baseline(&[("a", "{}")])).await.unwrap();
    edit(&path, r#"UPDATE grants SET terms = '{"unknown":1}'; UPDATE pins SET definition = '{'"#).await;
    let error = store.settle(asked.about()).await.unwrap_err().to_string();
    assert!(error.contains("`terms`"), "{error}");
    assert!(store.baselines(&asked.server).await.is_err());
    assert!(store.accept(&key(), "a", Some(pinned("{}"))).await.is_ok());
}

#[tokio::test]
async fn a_place_that_cannot_be_written_is_an_error() {
    let folder = Folder::new();
    std::fs::write(folder.join("file"), "").unwrap();
    for path in [folder.join("file/state.db"), folder.path().to_owned(), "/proc/callgate/state.db".into()] {
        let refusal = refusal(&path).await;
        assert!(refusal.contains(path.to_str().unwrap()), "{refusal}");
    }
    let path = folder.join("full.db");
    let store = open(&path).await;
    edit(&path, "DROP TABLE clock").await;
    assert!(store.settle(Asked::new().about()).await.is_err());
    assert!(store.is_live("x", 1000).await.is_err());
    assert!(GrantStore::record(&store, Asked::new().grant(), 1000).await.is_err());
}
