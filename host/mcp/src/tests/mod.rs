//! Whole conversations with the scripted server. What a call does is tried here, below the pipeline: only that can make a `Round`.

mod calls;
mod given_up;
mod input;
mod life;

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use callgate_core::json::Json;
use callgate_core::model::{Error, Progress};
use callgate_core::upstream::{Connection, InputGate, InputKinds, InputRefusal, Upstream};
use tokio_util::sync::CancellationToken;

use crate::connection::StdioConnection;
use crate::exchange::CallHooks;
use crate::{StdioConfig, StdioServer};

pub(super) const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/scripted.py");

/// A gate that answers everything with its own text after a while.
pub(super) struct Gate(pub(super) Duration);

#[async_trait]
impl InputGate for Gate {
    async fn answer(&self, method: &str, params: &Json) -> Result<Json, InputRefusal> {
        tokio::time::sleep(self.0).await;
        match method {
            "roots/list" => Err(InputRefusal { code: -1, message: "no roots".to_owned() }),
            _ => Ok([("for", params.clone())].into_iter().collect()),
        }
    }
}

/// A connection and what a call on it reported.
#[derive(Clone)]
pub(super) struct Talk {
    pub(super) server: Arc<StdioServer>,
    pub(super) connection: Arc<StdioConnection>,
    pub(super) progress: Arc<Mutex<Vec<Progress>>>,
    pub(super) cancel: CancellationToken,
    pub(super) patience: Duration,
    pub(super) gate: Duration,
}

pub(super) fn config(words: &[&str]) -> StdioConfig {
    let command = ["python3", SCRIPT].iter().chain(words).copied();
    let mut config = StdioConfig::new("scripted".parse().unwrap(), command);
    config.declared = InputKinds { form: true, roots: true, ..InputKinds::default() };
    config.limits.not_json_grace = Duration::from_millis(300);
    config
}

pub(super) async fn talk(config: StdioConfig) -> Talk {
    let server = Arc::new(StdioServer::new(config));
    let opened = server.connect().await.unwrap();
    let connection = server.live().await.unwrap();
    assert_eq!(opened.id(), connection.id());
    Talk {
        server,
        connection,
        progress: Arc::default(),
        cancel: CancellationToken::new(),
        patience: Duration::from_secs(20),
        gate: Duration::ZERO,
    }
}

impl Talk {
    pub(super) async fn call(&self, tool: &str) -> Result<String, Error> {
        let progress = Arc::clone(&self.progress);
        let gate = Gate(self.gate);
        let hooks =
            CallHooks { token: Some("token"), report: &|notice| progress.lock().unwrap().push(notice), input: &gate, cancel: &self.cancel };
        let params = format!(r#"{{"name":"{tool}","arguments":{{"n":1.0}},"_meta":{{"progressToken":"token"}}}}"#);
        let result = self.connection.running.link.call(&params, Instant::now() + self.patience, hooks).await?;
        let text = result.get("content").and_then(|content| content.as_array()?.first()?.get("text")?.as_str());
        Ok(text.map_or_else(|| result.to_string(), str::to_owned))
    }

    pub(super) fn counts(&self) -> crate::WireCounts {
        self.connection.running.link.counts.read()
    }
}
