//! A configured server: connected when needed, in the era it speaks, and connected again when it has died.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use callgate_core::model::{Era, Error, Reason, ServerIdentity};
use callgate_core::upstream::{Connection, Upstream};
use tokio::sync::Mutex;

use crate::connection::StdioConnection;
use crate::fault::not_connected;
use crate::handshake::{self, Hello, Probed};
use crate::supervisor::Running;
use crate::{StdioConfig, WireCounts};

/// An MCP server that runs as a child process of this one. Dropped, it kills the child, when no call holds the connection any more;
/// [`StdioServer::shutdown`] lets the child end by itself first. Needs a Tokio runtime with time and I/O.
pub struct StdioServer {
    config: StdioConfig,
    identity: Arc<ServerIdentity>,
    connections: AtomicU64,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    live: Option<Arc<StdioConnection>>,
    era: Option<Era>,
    shut_down: bool,
}

impl StdioServer {
    /// A server that is started at its first use.
    #[must_use]
    pub fn new(config: StdioConfig) -> Self {
        let identity = Arc::new(config.identity());
        Self { config, identity, connections: AtomicU64::new(0), state: Mutex::default() }
    }

    /// How many connections have been made so far, dead ones included. Probes that found no modern server are not counted.
    #[must_use]
    pub fn connections(&self) -> u64 {
        self.connections.load(Ordering::Relaxed)
    }

    /// What the live connection has dropped so far; none where there is no connection.
    pub async fn counts(&self) -> Option<WireCounts> {
        self.state.lock().await.live.as_ref().map(|live| live.running.link.counts.read())
    }

    /// Ends the child: closes its input, waits, sends its group SIGTERM, waits, sends SIGKILL. Calls in flight fail. Returns when
    /// the child is gone; later connections are refused.
    pub async fn shutdown(&self) {
        let mut state = self.state.lock().await;
        state.shut_down = true;
        if let Some(live) = state.live.take() {
            live.running.end().await;
        }
    }

    #[cfg(test)]
    pub(crate) async fn live(&self) -> Option<Arc<StdioConnection>> {
        self.state.lock().await.live.clone()
    }

    /// A child and its greeting. What is known of the server's era is tried first, and if that fails, all of it is found out again.
    async fn greet(&self, known: Option<Era>) -> Result<(Running, Hello), Error> {
        if known == Some(Era::Legacy) {
            let running = Running::start(&self.config)?;
            if let Ok(hello) = handshake::initialize(&running.link, self.config.limits.start).await {
                return Ok((running, hello));
            }
        }
        let silent = match self.probe(self.config.limits.probe).await? {
            (running, Probed::Modern(hello)) => return Ok((running, hello)),
            (_killed, Probed::Legacy { silent }) => silent,
        };
        // A fresh process: what the probe did to the old one nobody knows, and its late answer must not be taken for another.
        let running = Running::start(&self.config)?;
        match handshake::initialize(&running.link, self.config.limits.start).await {
            Ok(hello) => Ok((running, hello)),
            // Slow to start, and now refusing the old handshake: it may be modern after all.
            Err(refused) if silent && refused.reason == Reason::ErrorReply => {
                drop(running);
                match self.probe(self.config.limits.start).await? {
                    (running, Probed::Modern(hello)) => Ok((running, hello)),
                    (_killed, Probed::Legacy { .. }) => Err(self.unusable(&refused)),
                }
            }
            Err(refused) => Err(self.unusable(&refused)),
        }
    }

    async fn probe(&self, patience: std::time::Duration) -> Result<(Running, Probed), Error> {
        let running = Running::start(&self.config)?;
        let probed = handshake::discover(&running.link, patience).await?;
        Ok((running, probed))
    }

    /// Nothing of a call was sent, whatever became of the handshake.
    fn unusable(&self, cause: &Error) -> Error {
        if cause.reason == Reason::NotConnected {
            return cause.clone();
        }
        Error {
            data: cause.data.clone(),
            ..not_connected(&self.config.name, format!("{}; run its command by hand to see why", cause.message))
        }
    }
}

#[async_trait]
impl Upstream for StdioServer {
    fn identity(&self) -> Arc<ServerIdentity> {
        Arc::clone(&self.identity)
    }

    async fn connect(&self) -> Result<Arc<dyn Connection>, Error> {
        // Held while connecting: whoever else wants the server waits for the same child. Whoever gives up midway drops what it began
        // and with it the child; the next in line then begins anew. Nothing is kept before a handshake is done.
        let mut state = self.state.lock().await;
        if state.shut_down {
            return Err(not_connected(&self.config.name, "it was shut down"));
        }
        if let Some(live) = state.live.as_ref().filter(|live| live.is_open()) {
            return Ok(Arc::clone(live) as Arc<dyn Connection>);
        }
        state.live = None;
        let greeted = self.greet(state.era).await;
        state.era = greeted.as_ref().ok().map(|(_, hello)| hello.era);
        let (running, hello) = greeted?;
        let id = self.connections.fetch_add(1, Ordering::Relaxed) + 1;
        let live = Arc::new(StdioConnection { id, running, hello });
        state.live = Some(Arc::clone(&live));
        tracing::debug!(server = self.config.name.as_str(), era = live.era().as_str(), connection = id, "connected");
        Ok(live)
    }
}
