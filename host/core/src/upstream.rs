//! The seam to the wire: what the pipeline needs of a server, and the request that only the pipeline can make.

use std::sync::Arc;
use std::time::Instant;

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use crate::json::{Json, Object};
use crate::model::{CallId, Era, Error, Progress, ProgressSink, ServerIdentity};

/// One configured MCP server, connected when needed.
#[async_trait]
pub trait Upstream: Send + Sync {
    /// Which server this is.
    fn identity(&self) -> Arc<ServerIdentity>;

    /// The live connection; a new one where there is none or the last has ended.
    ///
    /// # Errors
    /// Kind `transport` where the server cannot be started or does not speak MCP.
    async fn connect(&self) -> Result<Arc<dyn Connection>, Error>;
}

/// One connection to a server: a child process, or a conversation over HTTP.
#[async_trait]
pub trait Connection: Send + Sync {
    /// Counted up with each connection of one upstream, from 1.
    fn id(&self) -> u64;

    /// How often the server has said that its tool list changed. Counted before the notice is acted on in any other way.
    fn generation(&self) -> u64;

    /// Whether the connection can still be sent to.
    fn is_open(&self) -> bool;

    /// How the server speaks.
    fn era(&self) -> Era;

    /// The server's instructions, raw.
    fn instructions(&self) -> Option<String>;

    /// Which kinds of input requests were declared to the server. A server may offer other tools under other capabilities.
    fn declared(&self) -> InputKinds;

    /// `_meta` keys that this host must send with each request; they win over a caller's.
    fn host_meta(&self) -> Object;

    /// Asks for one page of `tools/list` and gives the raw result object.
    ///
    /// # Errors
    /// Kind `transport` or `upstream`.
    async fn list_page(&self, cursor: Option<&str>, deadline: Instant) -> Result<Json, Error>;

    /// Sends one round of `tools/call`, once: no repeat, redirect or reconnection of its own (T5). Gives the raw result object,
    /// complete or `input_required`. Requests of a legacy server that belong to this call go through `input`. Ends at the round's
    /// deadline or cancellation, and then tells the server so.
    ///
    /// # Errors
    /// Kind `transport`, `upstream` or `invalid_result` (a reply that is not strict JSON), with `sent` saying whether the request
    /// left: `no` only where no byte of it did.
    async fn call(&self, round: Round, input: &dyn InputGate) -> Result<Json, Error>;
}

/// Answers a server's requests for input, after the checks that the pipeline makes.
#[async_trait]
pub trait InputGate: Send + Sync {
    /// The bare result object for `elicitation/create`, `sampling/createMessage` or `roots/list`.
    ///
    /// # Errors
    /// What to answer the server with instead.
    async fn answer(&self, method: &str, params: &Json) -> Result<Json, InputRefusal>;
}

/// A JSON-RPC error for a server that asked for input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputRefusal {
    /// The JSON-RPC code.
    pub code: i64,
    /// One clause, in the host's words.
    pub message: String,
}

/// Kinds of input that a server may ask for during a call. Each is declared only if a handler is set for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InputKinds {
    /// Elicitation by form.
    pub form: bool,
    /// Elicitation by URL.
    pub url: bool,
    /// Sampling, without tools and contexts.
    pub sampling: bool,
    /// Roots.
    pub roots: bool,
}

impl InputKinds {
    /// The `capabilities` object of a client that handles these.
    #[must_use]
    pub fn capabilities(self) -> Json {
        let elicitation: Json =
            [("form", self.form), ("url", self.url)].into_iter().filter(|(_, on)| *on).map(|(key, _)| (key, Json::object())).collect();
        [
            ("elicitation", (self.form || self.url).then_some(elicitation)),
            ("sampling", self.sampling.then(Json::object)),
            ("roots", self.roots.then(Json::object)),
        ]
        .into_iter()
        .filter_map(|(key, value)| Some((key, value?)))
        .collect()
    }
}

/// One round of one call, as it goes on the wire. Only the pipeline makes one: out of an authorised and encoded call, or, where
/// nothing is governed, out of the call as given.
pub struct Round {
    pub(crate) params: String,
    pub(crate) call_id: CallId,
    pub(crate) progress: Option<ProgressSink>,
    pub(crate) deadline: Instant,
    pub(crate) cancel: CancellationToken,
}

/// Without the parameters: arguments are not logged.
impl std::fmt::Debug for Round {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Round").field("call_id", &self.call_id).finish_non_exhaustive()
    }
}

impl Round {
    /// The `params` of `tools/call` as JSON text, to be written as it is.
    #[must_use]
    pub fn params(&self) -> &str {
        &self.params
    }

    /// The logical call's id. Its text is also the progress token, where progress is wanted.
    #[must_use]
    pub fn call_id(&self) -> &CallId {
        &self.call_id
    }

    /// Whether progress notices are wanted.
    #[must_use]
    pub fn wants_progress(&self) -> bool {
        self.progress.is_some()
    }

    /// Passes a progress notice on to whoever wants it; its text is cleaned first.
    pub fn report(&self, progress: Progress) {
        if let Some(sink) = &self.progress {
            let message = progress.message.map(|text| crate::shape::clean_text(&text).text);
            sink.send(Progress { message, ..progress });
        }
    }

    /// When to give up.
    #[must_use]
    pub fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Cancelled when the caller no longer wants the call.
    #[must_use]
    pub fn cancel(&self) -> &CancellationToken {
        &self.cancel
    }
}
