//! Requests that a legacy server makes: which are answered at once, which go to the call that they belong to, which are refused.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;

use callgate_core::json::Json;
use callgate_core::model::Era;
use callgate_core::upstream::{InputGate, InputKinds, InputRefusal};

use crate::limits::INPUT_REQUEST;
use crate::link::Link;
use crate::pending::{Ask, NotAsked};
use crate::protocol::{self, METHOD_NOT_FOUND, REFUSED};

impl Link {
    /// Deals with a request of the server's that had so many bytes.
    pub(crate) fn requested(&self, id: Json, method: String, params: Json, bytes: usize) {
        if self.era() == Some(Era::Modern) {
            return self.refuse(&id, METHOD_NOT_FOUND, "a server makes no requests in this version of the protocol");
        }
        if method == "ping" {
            return self.notify(protocol::answer(&id, &Json::object()));
        }
        let unfit = match is_declared(self.declared, &method) {
            false => Some(NotAsked::Undeclared),
            true => (bytes > INPUT_REQUEST).then_some(NotAsked::TooLarge),
        };
        if let Err((id, why)) = self.pending.ask(Ask { id, method, params }, unfit, &self.limits) {
            let (code, message) = why.explain();
            self.refuse(&id, code, message);
        }
    }
}

impl NotAsked {
    fn explain(self) -> (i64, &'static str) {
        let message = match self {
            NotAsked::Undeclared => return (METHOD_NOT_FOUND, "this client does not offer that"),
            NotAsked::TooLarge => "the request is too large",
            NotAsked::NoCall => "input may be asked for only while a tool is called",
            NotAsked::SeveralCalls => "several calls are running, so nobody knows whose input this asks for",
            NotAsked::AbandonedCall => "a call that was given up may still be running, so nobody knows whose input this asks for",
            NotAsked::TooMany => "this call has asked for input too often",
        };
        (REFUSED, message)
    }
}

fn is_declared(declared: InputKinds, method: &str) -> bool {
    match method {
        "elicitation/create" => declared.form || declared.url,
        "sampling/createMessage" => declared.sampling,
        "roots/list" => declared.roots,
        _ => false,
    }
}

type Answering<'a> = Pin<Box<dyn Future<Output = Result<Json, InputRefusal>> + Send + 'a>>;

/// What one call was asked, answered one after the other: a person is shown one question at a time. Whatever is still open when
/// the call ends is refused.
pub(crate) struct Asks<'a> {
    link: &'a Link,
    gate: &'a dyn InputGate,
    now: Option<(Json, Answering<'a>)>,
    waiting: VecDeque<Ask>,
}

impl<'a> Asks<'a> {
    pub(crate) fn new(link: &'a Link, gate: &'a dyn InputGate) -> Self {
        Self { link, gate, now: None, waiting: VecDeque::new() }
    }

    /// One more.
    pub(crate) fn push(&mut self, ask: Ask) {
        self.waiting.push_back(ask);
        self.next();
    }

    /// The server does not want that one any more.
    pub(crate) fn withdraw(&mut self, id: &Json) {
        self.waiting.retain(|ask| ask.id != *id);
        if self.now.as_ref().is_some_and(|(open, _)| open == id) {
            self.now = None;
            self.next();
        }
    }

    /// Works on what was asked; never returns, and may be dropped while it waits.
    pub(crate) async fn work(&mut self) {
        loop {
            let Some((_, answering)) = &mut self.now else { std::future::pending().await };
            let answer = answering.await;
            if let Some((id, _)) = self.now.take() {
                match answer {
                    Ok(result) => self.link.notify(protocol::answer(&id, &result)),
                    Err(refusal) => self.link.refuse(&id, refusal.code, &refusal.message),
                }
            }
            self.next();
        }
    }

    fn next(&mut self) {
        if self.now.is_none()
            && let Some(Ask { id, method, params }) = self.waiting.pop_front()
        {
            let gate = self.gate;
            self.now = Some((id, Box::pin(async move { gate.answer(&method, &params).await })));
        }
    }
}

impl Drop for Asks<'_> {
    fn drop(&mut self) {
        let now = self.now.take().map(|(id, _)| id);
        for id in now.into_iter().chain(self.waiting.drain(..).map(|ask| ask.id)) {
            self.link.refuse(&id, REFUSED, "the call has ended");
        }
    }
}
