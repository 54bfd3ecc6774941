//! A configured server: connected when needed, in the era it speaks, and connected again when it has died.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use callgate_core::model::{Era, Error, ServerIdentity};
use callgate_core::upstream::{Connection, Upstream};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use crate::connection::StdioConnection;
use crate::fault::not_connected;
use crate::greet::greet;
use crate::{StdioConfig, WireCounts};

/// An MCP server that runs as a child process of this one. Dropped, it kills the child, when no call holds the connection any more;
/// [`StdioServer::shutdown`] lets the child end by itself first. Needs a Tokio runtime with time and I/O.
pub struct StdioServer {
    server: Arc<Server>,
}

/// What the server and the task that connects it share.
struct Server {
    config: StdioConfig,
    identity: Arc<ServerIdentity>,
    connections: AtomicU64,
    /// Held while connecting: whoever else wants the server waits for the same child.
    state: Mutex<State>,
    /// Cancelled when no more connections are wanted.
    closing: CancellationToken,
}

#[derive(Default)]
struct State {
    live: Option<Arc<StdioConnection>>,
    era: Option<Era>,
}

impl StdioServer {
    /// A server that is started at its first use.
    #[must_use]
    pub fn new(config: StdioConfig) -> Self {
        let identity = Arc::new(config.identity());
        let (connections, state, closing) = (AtomicU64::new(0), Mutex::default(), CancellationToken::new());
        Self { server: Arc::new(Server { config, identity, connections, state, closing }) }
    }

    /// How many connections have been made so far, dead ones included. Probes that found no modern server are not counted.
    #[must_use]
    pub fn connections(&self) -> u64 {
        self.server.connections.load(Ordering::Relaxed)
    }

    /// What the live connection has dropped so far; none where there is no connection.
    pub async fn counts(&self) -> Option<WireCounts> {
        self.server.state.lock().await.live.as_ref().map(|live| live.running.link.counts.read())
    }

    /// Ends the child: closes its input, waits, sends its group SIGTERM, waits, sends SIGKILL. Calls in flight fail. Returns when
    /// the child is gone; later connections are refused.
    pub async fn shutdown(&self) {
        self.server.closing.cancel();
        let mut state = self.server.state.lock().await;
        if let Some(live) = state.live.take() {
            live.running.end().await;
        }
    }

    #[cfg(test)]
    pub(crate) async fn live(&self) -> Option<Arc<StdioConnection>> {
        self.server.state.lock().await.live.clone()
    }
}

/// Ends a connecting that nobody waits for any more.
impl Drop for StdioServer {
    fn drop(&mut self) {
        self.server.closing.cancel();
    }
}

#[async_trait]
impl Upstream for StdioServer {
    fn identity(&self) -> Arc<ServerIdentity> {
        Arc::clone(&self.server.identity)
    }

    /// A caller that gives up midway does not end the start of the server: it goes on for the next caller, or one that takes longer
    /// than any call would never come up.
    async fn connect(&self) -> Result<Arc<dyn Connection>, Error> {
        if let Ok(state) = self.server.state.try_lock()
            && let Some(live) = state.live()
        {
            return Ok(live);
        }
        let connecting = tokio::spawn(Arc::clone(&self.server).connect());
        connecting.await.unwrap_or_else(|error| Err(not_connected(&self.server.config.name, error.to_string())))
    }
}

impl Server {
    async fn connect(self: Arc<Self>) -> Result<Arc<dyn Connection>, Error> {
        let connecting = async {
            let mut state = self.state.lock().await;
            match state.live() {
                Some(live) => Ok(live),
                None => self.start(&mut state).await,
            }
        };
        tokio::select! {
            biased;
            () = self.closing.cancelled() => Err(not_connected(&self.config.name, "it was shut down")),
            connected = connecting => connected,
        }
    }

    async fn start(&self, state: &mut State) -> Result<Arc<dyn Connection>, Error> {
        state.live = None;
        let greeted = greet(&self.config, state.era).await;
        state.era = greeted.as_ref().ok().map(|(_, hello)| hello.era);
        let (running, hello) = greeted?;
        let id = self.connections.fetch_add(1, Ordering::Relaxed) + 1;
        let live = Arc::new(StdioConnection { id, running, hello });
        state.live = Some(Arc::clone(&live));
        tracing::debug!(server = self.config.name.as_str(), era = live.era().as_str(), connection = id, "connected");
        Ok(live)
    }
}

impl State {
    fn live(&self) -> Option<Arc<dyn Connection>> {
        self.live.as_ref().filter(|live| live.is_open()).map(|live| Arc::clone(live) as Arc<dyn Connection>)
    }
}
