//! Connecting, given up midway: nothing of it is left, and nobody else is hurt.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use callgate_core::model::Era;
use callgate_core::upstream::{Connection, Upstream};
use tokio::task::JoinHandle;

use super::config;
use super::life::{ends, runs};
use crate::StdioServer;

/// A server whose children write down their numbers, and say nothing as long as a file is missing.
struct Scene {
    server: Arc<StdioServer>,
    folder: PathBuf,
}

type Connecting = JoinHandle<Result<Arc<dyn Connection>, callgate_core::model::Error>>;

impl Scene {
    fn new() -> Self {
        let folder = std::env::temp_dir().join(format!("callgate-mcp-given-up-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let mut config = config(&[&format!("waits-for={}", folder.join("go").display())]);
        config.env.insert("PIDS".to_owned(), folder.join("pids").display().to_string());
        config.limits.probe = Duration::from_secs(60);
        Self { server: Arc::new(StdioServer::new(config)), folder }
    }

    fn connect(&self) -> Connecting {
        let server = Arc::clone(&self.server);
        tokio::spawn(async move { server.connect().await })
    }

    fn children(&self) -> Vec<String> {
        std::fs::read_to_string(self.folder.join("pids")).unwrap_or_default().lines().map(str::to_owned).collect()
    }

    /// The child of that place in the order of their starts, from 0.
    async fn child(&self, place: usize) -> String {
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(60) {
            if let Some(pid) = self.children().get(place) {
                return pid.clone();
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        panic!("no child {place}: {:?}", self.children());
    }

    fn let_speak(&self, speak: bool) {
        let go = self.folder.join("go");
        if speak { std::fs::write(go, "").unwrap() } else { std::fs::remove_file(go).unwrap() }
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        let _left = std::fs::remove_dir_all(&self.folder);
    }
}

async fn give_up(connecting: Connecting) {
    connecting.abort();
    assert!(connecting.await.is_err_and(|ended| ended.is_cancelled()));
}

#[tokio::test]
async fn a_connect_that_is_given_up_leaves_nothing_and_hurts_nobody() {
    let scene = Scene::new();
    let first = scene.connect();
    let silent = scene.child(0).await;
    let next = scene.connect();
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(scene.children().len(), 1, "who comes later waits");
    give_up(first).await;
    assert!(ends(&silent).await);
    scene.child(1).await;
    scene.let_speak(true);
    let connection = next.await.unwrap().unwrap();
    assert_eq!((connection.id(), connection.era(), connection.is_open()), (1, Era::Legacy, true));
    let (live, probed) = (scene.child(2).await, scene.child(1).await);
    assert!(runs(&live) && ends(&probed).await);

    // And in the other handshake, with a server whose era is known.
    scene.server.live().await.unwrap().running.end().await;
    scene.let_speak(false);
    let again = scene.connect();
    let silent = scene.child(3).await;
    give_up(again).await;
    assert!(ends(&silent).await && scene.server.live().await.is_none());
    scene.let_speak(true);
    let connection = scene.server.connect().await.unwrap();
    assert_eq!((connection.id(), connection.is_open(), scene.server.connections()), (2, true, 2));
    assert_eq!(scene.children().len(), 5, "its era is still known, so it was not asked for it again");
}
