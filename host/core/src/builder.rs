//! Putting a pipeline together.

use std::sync::Arc;

use arc_swap::ArcSwap;

use crate::catalog::{Catalog, ListingLimits};
use crate::extension::Prompter;
use crate::handler::Handler;
use crate::json::Json;
use crate::model::Assigns;
use crate::observe::Observer;
use crate::pipeline::Pipeline;
use crate::revision::Revision;
use crate::schema::SchemaCache;
use crate::steps::ask::Earlier;
use crate::store::{GrantStore, MemoryStore, PinStore};
use crate::upstream::Upstream;

/// Puts a pipeline together. What is not said has the default that the requirement names.
pub struct PipelineBuilder {
    upstream: Arc<dyn Upstream>,
    revision: Revision,
    grants: Arc<dyn GrantStore>,
    pins: Arc<dyn PinStore>,
    handler: Option<Arc<dyn Handler>>,
    prompter: Option<Arc<dyn Prompter>>,
    observers: Vec<Arc<dyn Observer>>,
    assigns: Assigns,
    trust_annotations: bool,
    limits: ListingLimits,
}

impl PipelineBuilder {
    /// For one server, with nothing that governs yet, and grants and pins in memory.
    pub fn new(upstream: Arc<dyn Upstream>) -> Self {
        let memory = Arc::new(MemoryStore::default());
        Self {
            upstream,
            revision: Revision::default(),
            grants: memory.clone(),
            pins: memory,
            handler: None,
            prompter: None,
            observers: Vec::new(),
            assigns: Assigns::default(),
            trust_annotations: false,
            limits: ListingLimits::default(),
        }
    }

    /// Governs by this revision.
    #[must_use]
    pub fn revision(self, revision: Revision) -> Self {
        Self { revision, ..self }
    }

    /// Keeps grants here.
    #[must_use]
    pub fn grants(self, grants: Arc<dyn GrantStore>) -> Self {
        Self { grants, ..self }
    }

    /// Keeps pins here.
    #[must_use]
    pub fn pins(self, pins: Arc<dyn PinStore>) -> Self {
        Self { pins, ..self }
    }

    /// Answers servers' requests for input with this. The upstream must have been told the same kinds.
    #[must_use]
    pub fn handler(self, handler: Arc<dyn Handler>) -> Self {
        Self { handler: Some(handler), ..self }
    }

    /// Lets approvers ask a person this way.
    #[must_use]
    pub fn prompter(self, prompter: Arc<dyn Prompter>) -> Self {
        Self { prompter: Some(prompter), ..self }
    }

    /// Tells this observer of everything that happens.
    #[must_use]
    pub fn observer(mut self, observer: Arc<dyn Observer>) -> Self {
        self.observers.push(observer);
        self
    }

    /// Values for hooks, approver and policy of calls that bring none of their own.
    #[must_use]
    pub fn assigns(self, assigns: impl IntoIterator<Item = (impl Into<String>, impl Into<Json>)>) -> Self {
        let assigns = assigns.into_iter().map(|(key, value)| (key.into(), value.into())).collect();
        Self { assigns: Arc::new(assigns), ..self }
    }

    /// Believes the server's own annotations (T9). Without, every hint has the protocol's worst value.
    #[must_use]
    pub fn trust_annotations(self, trust: bool) -> Self {
        Self { trust_annotations: trust, ..self }
    }

    /// Bounds listings by these.
    #[must_use]
    pub fn listing_limits(self, limits: ListingLimits) -> Self {
        Self { limits, ..self }
    }

    /// The pipeline.
    #[must_use]
    pub fn build(self) -> Pipeline {
        Pipeline {
            catalog: Catalog::new(self.trust_annotations, self.limits),
            upstream: self.upstream,
            revision: ArcSwap::from_pointee(self.revision),
            grants: self.grants,
            pins: self.pins,
            handler: self.handler,
            prompter: self.prompter,
            observers: self.observers,
            assigns: self.assigns,
            schemas: SchemaCache::default(),
            earlier: Earlier::default(),
        }
    }
}
