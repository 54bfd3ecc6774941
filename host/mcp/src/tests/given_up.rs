//! Connecting, given up midway: it goes on for whoever comes next, and ends with the server.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use callgate_core::model::Era;
use callgate_core::upstream::{Connection, Upstream};
use tokio::task::JoinHandle;

use super::config;
use super::life::ends;
use crate::StdioServer;

static NEXT: AtomicUsize = AtomicUsize::new(0);

/// A server whose children write down their numbers, and say nothing as long as a file is missing.
struct Scene {
    server: Arc<StdioServer>,
    folder: PathBuf,
}

type Connecting = JoinHandle<Result<Arc<dyn Connection>, callgate_core::model::Error>>;

impl Scene {
    fn new() -> Self {
        let folder =
            std::env::temp_dir().join(format!("callgate-mcp-given-up-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed)));
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

/// A server that takes longer to start than any call may take must come up all the same.
#[tokio::test]
async fn a_start_that_a_caller_gave_up_goes_on_for_the_next() {
    let scene = Scene::new();
    let first = scene.connect();
    scene.child(0).await;
    give_up(first).await;
    let next = scene.connect();
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(scene.children().len(), 1, "the same child");
    scene.let_speak(true);
    let connection = next.await.unwrap().unwrap();
    assert_eq!((connection.id(), connection.era(), connection.is_open()), (1, Era::Legacy, true));
    assert_eq!((scene.children().len(), scene.server.connections()), (2, 1), "a probe, and the one that lives");
}

#[tokio::test]
async fn a_start_that_nobody_waits_for_ends_with_the_server() {
    for by_shutdown in [true, false] {
        let scene = Scene::new();
        let connecting = scene.connect();
        let silent = scene.child(0).await;
        if by_shutdown {
            scene.server.shutdown().await;
            assert!(connecting.await.unwrap().is_err_and(|error| error.message.contains("shut down")));
        } else {
            give_up(connecting).await;
            drop(scene);
        }
        assert!(ends(&silent).await, "{by_shutdown}");
    }
}
