//! A pipeline around a scripted server, with everything that it reports.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use callgate_core::ListingLimits;
use callgate_core::digest::Fingerprint;
use callgate_core::extension::Prompter;
use callgate_core::handler::Handler;
use callgate_core::json::Json;
use callgate_core::model::{Error, Grant, NewGrant, Reply, ServerIdentity, ToolCall};
use callgate_core::observe::{Event, Outcome};
use callgate_core::pipeline::{Pipeline, PipelineBuilder};
use callgate_core::policy::Policy;
use callgate_core::revision::Revision;
use callgate_core::store::{
    AskedAbout, Baseline, BaselineKey, Baselines, GrantStore, Grantee, MemoryStore, PinStore, PinnedTool, StoreError,
};

use super::server::Server;

/// What a world is made of.
pub(crate) struct Setup {
    pub(crate) server: Server,
    pub(crate) revision: Revision,
    pub(crate) store: Arc<BrokenStore>,
    pub(crate) handler: Option<Arc<dyn Handler>>,
    pub(crate) prompter: Option<Arc<dyn Prompter>>,
    pub(crate) assigns: Vec<(String, Json)>,
    pub(crate) trust: bool,
    pub(crate) limits: ListingLimits,
}

pub(crate) struct World {
    pub(crate) server: Server,
    pub(crate) pipeline: Arc<Pipeline>,
    pub(crate) store: Arc<BrokenStore>,
    events: Arc<Mutex<Vec<String>>>,
    raw: Arc<Mutex<String>>,
}

impl Setup {
    /// A server with one tool, and nothing that governs.
    pub(crate) fn new(server: Server) -> Self {
        Self {
            server,
            revision: Revision { id: "r1".to_owned(), ..Revision::default() },
            store: Arc::default(),
            handler: None,
            prompter: None,
            assigns: Vec::new(),
            trust: false,
            limits: ListingLimits::default(),
        }
    }

    /// Governed by this policy.
    pub(crate) fn policy(server: Server, policy: Policy) -> Self {
        Self::new(server).with(|revision| revision.policy = Some(policy))
    }

    pub(crate) fn with(mut self, change: impl FnOnce(&mut Revision)) -> Self {
        change(&mut self.revision);
        self
    }

    pub(crate) fn handler(self, handler: impl Handler + 'static) -> Self {
        Self { handler: Some(Arc::new(handler)), ..self }
    }

    pub(crate) fn build(self) -> World {
        let (events, raw) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(String::new())));
        let (kept, kept_raw) = (events.clone(), raw.clone());
        let observe = move |event: &Event<'_>| {
            kept.lock().unwrap().push(told(event));
            kept_raw.lock().unwrap().push_str(&format!("{event:?}\n"));
        };
        let mut builder = PipelineBuilder::new(Arc::new(self.server.clone()))
            .revision(self.revision)
            .grants(self.store.clone())
            .pins(self.store.clone())
            .observer(Arc::new(observe))
            .assigns(self.assigns)
            .trust_annotations(self.trust)
            .listing_limits(self.limits);
        if let Some(handler) = self.handler {
            builder = builder.handler(handler);
        }
        if let Some(prompter) = self.prompter {
            builder = builder.prompter(prompter);
        }
        World { server: self.server, pipeline: Arc::new(builder.build()), store: self.store, events, raw }
    }
}

impl World {
    pub(crate) async fn run(&self, call: ToolCall) -> Result<Reply, Error> {
        self.pipeline.run(call).await
    }

    /// Calls `read` without arguments and says what came of it.
    pub(crate) async fn said(&self) -> String {
        said(&self.run(super::call("read", "{}")).await)
    }

    pub(crate) async fn error(&self, call: ToolCall) -> Error {
        self.run(call).await.expect_err("an error is expected")
    }

    pub(crate) async fn reply(&self, call: ToolCall) -> Json {
        self.run(call).await.expect("a result is expected").value().clone()
    }

    /// What happened, one line an event.
    pub(crate) fn events(&self) -> Vec<String> {
        self.events.lock().unwrap().clone()
    }

    /// All events with everything that is in them.
    pub(crate) fn raw_events(&self) -> String {
        self.raw.lock().unwrap().clone()
    }
}

/// `ok`, `tool_error`, or an error as `kind/reason/sent`.
pub(crate) fn said(outcome: &Result<Reply, Error>) -> String {
    match outcome {
        Ok(reply) if reply.is_error() => "tool_error".to_owned(),
        Ok(_) => "ok".to_owned(),
        Err(error) => format!("{}/{}/{}", error.kind.as_str(), error.reason.as_str(), error.sent.as_str()),
    }
}

fn told(event: &Event<'_>) -> String {
    match event {
        Event::Policy { decision, .. } => format!("policy {} {}", decision.effect.as_str(), decision.reason.as_str()),
        Event::HookStop { step, plugin, verdict, .. } => format!("{step} {plugin} {verdict}"),
        Event::HookException { step, plugin, failure, .. } => format!("{step} {plugin} failed {}", failure.kind.as_str()),
        Event::BaselineRecorded { tools, .. } => format!("baseline {tools}"),
        Event::ToolDropped { index, defect, .. } => format!("dropped {index}: {defect}"),
        Event::ToolRenamed { from, to, .. } => format!("renamed {from} {to}"),
        Event::ToolCallStop { outcome: Outcome::Result { is_error, synthetic }, .. } => {
            format!("stop result{}{}", if *is_error { " error" } else { "" }, if *synthetic { " synthetic" } else { "" })
        }
        Event::ToolCallStop { outcome: Outcome::Error { kind, reason, sent }, .. } => {
            format!("stop {}/{}/{}", kind.as_str(), reason.as_str(), sent.as_str())
        }
    }
}

/// A store in memory that fails at the call of that name, from the n-th such call on.
#[derive(Default)]
pub(crate) struct BrokenStore {
    inner: MemoryStore,
    broken: Mutex<Option<(&'static str, usize)>>,
    calls: AtomicUsize,
}

impl BrokenStore {
    pub(crate) fn break_at(&self, call: &'static str, after: usize) {
        *self.broken.lock().unwrap() = Some((call, after));
        self.calls.store(0, Ordering::Relaxed);
    }

    fn check(&self, call: &str) -> Result<(), StoreError> {
        let Some((broken, after)) = *self.broken.lock().unwrap() else { return Ok(()) };
        if broken != call || self.calls.fetch_add(1, Ordering::Relaxed) < after {
            return Ok(());
        }
        Err(StoreError("the disk is full".to_owned()))
    }
}

#[async_trait]
impl GrantStore for BrokenStore {
    async fn settle(&self, ask: AskedAbout<'_>) -> Result<Option<String>, StoreError> {
        self.check("settle")?;
        self.inner.settle(ask).await
    }

    async fn is_live(&self, id: &str, now_ms: u64) -> Result<bool, StoreError> {
        self.check("is_live")?;
        self.inner.is_live(id, now_ms).await
    }

    async fn record(&self, grant: NewGrant, now_ms: u64) -> Result<String, StoreError> {
        self.check("record")?;
        GrantStore::record(&self.inner, grant, now_ms).await
    }

    async fn granted(&self, grantee: Grantee<'_>) -> Result<BTreeSet<Fingerprint>, StoreError> {
        self.check("granted")?;
        self.inner.granted(grantee).await
    }

    async fn list(&self, now_ms: u64) -> Result<Vec<Grant>, StoreError> {
        GrantStore::list(&self.inner, now_ms).await
    }

    async fn revoke(&self, id: &str) -> Result<bool, StoreError> {
        self.inner.revoke(id).await
    }
}

#[async_trait]
impl PinStore for BrokenStore {
    async fn baselines(&self, server: &ServerIdentity) -> Result<Baselines, StoreError> {
        self.check("baseline")?;
        self.inner.baselines(server).await
    }

    async fn record(&self, key: &BaselineKey, first: Baseline) -> Result<Baselines, StoreError> {
        self.check("record_baseline")?;
        PinStore::record(&self.inner, key, first).await
    }

    async fn accept(&self, key: &BaselineKey, tool: &str, pinned: Option<PinnedTool>) -> Result<(), StoreError> {
        self.inner.accept(key, tool, pinned).await
    }

    async fn list(&self) -> Result<Vec<(BaselineKey, Baseline)>, StoreError> {
        PinStore::list(&self.inner).await
    }
}
