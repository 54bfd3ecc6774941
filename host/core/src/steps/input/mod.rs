//! Input rounds: what a server may ask for during a call, checked before anyone sees it, and answered by the handler.
//!
//! Both eras pass here: the modern one's input requests, and the legacy one's requests during a call.

mod elicitation;
mod sampling;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use crate::handler::{Handler, Root};
use crate::json::{Json, Object};
use crate::model::{Error, Kind, Reason, Sent, ServerName};
use crate::run::Run;
use crate::schema::SchemaCache;
use crate::upstream::{InputGate, InputKinds, InputRefusal};

use super::encode::{Answers, Encoded};

/// JSON-RPC: the method is not there.
const METHOD_NOT_FOUND: i64 = -32_601;
/// JSON-RPC: the parameters do not pass.
const INVALID_PARAMS: i64 = -32_602;
/// JSON-RPC: nobody answered.
const INTERNAL_ERROR: i64 = -32_603;

/// One call's gate. Requests are counted over all its rounds.
pub(super) struct Gate {
    handler: Option<Arc<dyn Handler>>,
    kinds: InputKinds,
    server: ServerName,
    left: AtomicUsize,
    max_requests: usize,
    max_bytes: usize,
    deadline: Instant,
    cancel: CancellationToken,
    schemas: SchemaCache,
}

/// Why a server gets no answer.
#[derive(Debug, PartialEq)]
enum Refused {
    /// This kind was not declared.
    Undeclared,
    /// It does not pass a check.
    Unfit(String),
    /// The handler gave no answer.
    Unanswered,
}

impl Gate {
    pub(super) fn new(run: &Run<'_>, encoded: &Encoded) -> Self {
        let handler = run.pipeline.handler.clone();
        let handled = handler.as_ref().map(|handler| handler.kinds()).unwrap_or_default();
        let declared = encoded.connection.declared();
        Self {
            handler,
            kinds: handled.both(declared),
            server: run.pipeline.upstream.identity().name.clone(),
            left: AtomicUsize::new(run.revision.send.max_input_requests),
            max_requests: run.revision.send.max_input_requests,
            max_bytes: run.revision.send.max_input_bytes,
            deadline: encoded.deadline,
            cancel: encoded.cancel.clone(),
            schemas: run.pipeline.schemas.clone(),
        }
    }

    pub(super) fn server(&self) -> &ServerName {
        &self.server
    }

    /// Answers one `input_required` result (MCP 2026-07-28, basic/patterns/mrtr). State goes back byte for byte.
    pub(super) async fn answer_round(&self, result: &Json) -> Result<Answers, Error> {
        let state = match result.get("requestState") {
            None => None,
            Some(Json::String(state)) if state.len() <= self.max_bytes => Some(Json::String(state.clone())),
            Some(Json::String(_)) => return Err(self.error(Reason::InputRefused, "sent more state than is echoed")),
            Some(_) => return Err(self.error(Reason::Protocol, "sent a `requestState` that is no string")),
        };
        let requests = match result.get("inputRequests") {
            None => None,
            Some(requests) => {
                Some(requests.as_object().ok_or_else(|| self.error(Reason::Protocol, "sent `inputRequests` that are no object"))?)
            }
        };
        let mut responses = Object::new();
        for (key, request) in requests.into_iter().flatten() {
            let method = request.get("method").and_then(Json::as_str).unwrap_or_default();
            let params = request.get("params").cloned().unwrap_or_else(Json::object);
            let answer = self.one(method, &params).await.map_err(|refused| self.refused(method, &refused))?;
            responses.insert(key.clone(), answer);
        }
        if responses.is_empty() && state.is_none() {
            // A round with neither would be the same call once more, and the server may act twice.
            return Err(self.error(Reason::Protocol, "asked for input without saying which"));
        }
        Ok(Answers { responses: (!responses.is_empty()).then(|| responses.into()), state })
    }

    async fn one(&self, method: &str, params: &Json) -> Result<Json, Refused> {
        let counted = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        if counted.is_err() {
            return Err(Refused::Unfit(format!("more than {} requests in one call", self.max_requests)));
        }
        if params.to_string().len() > self.max_bytes {
            return Err(Refused::Unfit(format!("more than {} bytes in one request", self.max_bytes)));
        }
        let handler = self.handler.as_ref().ok_or(Refused::Undeclared)?;
        let answer = async {
            match method {
                "elicitation/create" => self.elicit(handler, params).await,
                "sampling/createMessage" => self.sample(handler, params).await,
                "roots/list" => self.roots(handler).await,
                _ => Err(Refused::Undeclared),
            }
        };
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => Err(Refused::Unanswered),
            answer = tokio::time::timeout_at(self.deadline.into(), answer) => answer.unwrap_or(Err(Refused::Unanswered)),
        }
    }

    async fn elicit(&self, handler: &Arc<dyn Handler>, params: &Json) -> Result<Json, Refused> {
        let elicitation = elicitation::read(params, self.kinds)?;
        let answer = handler.elicit(&self.server, elicitation.clone()).await;
        // The form's schema is the server's, so it is compiled where that holds up no other call.
        let schemas = self.schemas.clone();
        let written = tokio::task::spawn_blocking(move || elicitation::write(answer, &elicitation, &schemas)).await;
        written.unwrap_or(Err(Refused::Unanswered))
    }

    async fn sample(&self, handler: &Arc<dyn Handler>, params: &Json) -> Result<Json, Refused> {
        if !self.kinds.sampling {
            return Err(Refused::Undeclared);
        }
        sampling::check(params)?;
        handler.sample(&self.server, params.clone()).await.ok_or(Refused::Unanswered)
    }

    async fn roots(&self, handler: &Arc<dyn Handler>) -> Result<Json, Refused> {
        if !self.kinds.roots {
            return Err(Refused::Undeclared);
        }
        let roots = handler.roots(&self.server).await.ok_or(Refused::Unanswered)?;
        if roots.iter().any(|root| !root.uri.starts_with("file://")) {
            return Err(Refused::Unanswered);
        }
        let root = |root: &Root| -> Json {
            let name = root.name.as_deref().map(|name| ("name", name));
            [("uri", root.uri.as_str())].into_iter().chain(name).collect()
        };
        Ok([("roots", Json::from(roots.iter().map(root).collect::<Vec<_>>()))].into_iter().collect())
    }

    fn refused(&self, method: &str, refused: &Refused) -> Error {
        let method = crate::shape::show_text(&method.chars().take(64).collect::<String>());
        match refused {
            Refused::Undeclared => self.error(Reason::InputRefused, &format!("asked for `{method}`, which was not declared to it")),
            Refused::Unfit(why) => self.error(Reason::InputRefused, &format!("asked for `{method}` in a way that is refused: {why}")),
            Refused::Unanswered => self.error(Reason::InputFailed, &format!("asked for `{method}`, and nobody answered")),
        }
    }

    fn error(&self, reason: Reason, what: &str) -> Error {
        Error::new(Kind::Upstream, reason, format!("server `{}` {what}", self.server)).with_sent(Sent::Unknown)
    }
}

#[async_trait]
impl InputGate for Gate {
    async fn answer(&self, method: &str, params: &Json) -> Result<Json, InputRefusal> {
        self.one(method, params).await.map_err(|refused| match refused {
            Refused::Undeclared => InputRefusal { code: METHOD_NOT_FOUND, message: "this client did not declare that".to_owned() },
            Refused::Unfit(message) => InputRefusal { code: INVALID_PARAMS, message },
            Refused::Unanswered => InputRefusal { code: INTERNAL_ERROR, message: "nobody answered".to_owned() },
        })
    }
}

impl InputKinds {
    /// What both handle.
    fn both(self, other: Self) -> Self {
        Self {
            form: self.form && other.form,
            url: self.url && other.url,
            sampling: self.sampling && other.sampling,
            roots: self.roots && other.roots,
        }
    }
}
