//! The engine: where plugins are compiled and where their sandboxes come from.
//!
//! Each class of plugins has sandboxes of its own, and so have approvers, since they wait for people: a full house of waiting
//! prompts never keeps a hook from running (T29).

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use callgate_core::digest::Digest;
use tokio::sync::Semaphore;
use wasmtime::component::Component;

use crate::limits::Class;
use crate::log::{LogSink, TracingSink};
use crate::queue::Queue;
use crate::{ticker, tunables};

/// How many sandboxes there are, and where plugins' words go.
#[derive(Clone)]
pub struct EngineOptions {
    /// Plugins that run at once, in each class. Workers are few, so more would only wait for a processor.
    pub running: usize,
    /// Approvers at work at once, in each class: nearly all of them wait for a person.
    pub reviewing: usize,
    /// How long a call waits for a free sandbox before it fails.
    pub patience: Duration,
    /// Takes the lines that plugins log.
    pub log: Arc<dyn LogSink>,
}

impl Default for EngineOptions {
    fn default() -> Self {
        Self { running: 64, reviewing: 64, patience: Duration::from_secs(1), log: Arc::new(TracingSink) }
    }
}

/// Compiles and runs plugins. Cheap to clone; one for a whole process.
#[derive(Clone)]
pub struct Engine(Arc<Inner>);

struct Inner {
    compiled: Arc<House>,
    interpreted: Arc<House>,
    log: Arc<dyn LogSink>,
}

/// The sandboxes of one class.
pub(crate) struct House {
    pub(crate) engine: wasmtime::Engine,
    pub(crate) running: Queue,
    pub(crate) reviewing: Semaphore,
    pub(crate) patience: Duration,
    pub(crate) pooled: bool,
    /// What is compiled and in use, by the digest of its bytes: several plugins of one component share its code, and a reload
    /// compiles only what is new.
    compiled: Mutex<HashMap<Digest, Weak<Component>>>,
}

/// Why there is no engine.
#[derive(Debug, thiserror::Error)]
#[error("the sandbox engine cannot start: {0}")]
pub struct EngineError(String);

impl Engine {
    /// An engine and the clock that its deadlines need.
    ///
    /// # Errors
    /// The machine cannot run one: no memory, no thread.
    pub fn new(options: &EngineOptions) -> Result<Self, EngineError> {
        let compiled = House::new(Class::Compiled, options)?;
        let interpreted = House::new(Class::Interpreted, options)?;
        // The clock is started where the engine is made: an epoch that nobody moves would be a deadline that never comes.
        ticker::start(vec![compiled.engine.weak(), interpreted.engine.weak()])
            .map_err(|error| EngineError(format!("no thread for its clock: {error}")))?;
        let (compiled, interpreted) = (Arc::new(compiled), Arc::new(interpreted));
        Ok(Self(Arc::new(Inner { compiled, interpreted, log: options.log.clone() })))
    }

    /// Whether sandboxes of that class come from a pool; without one calls are slower, and limits the same.
    #[must_use]
    pub fn is_pooled(&self, class: Class) -> bool {
        self.house(class).pooled
    }

    pub(crate) fn house(&self, class: Class) -> &Arc<House> {
        match class {
            Class::Compiled => &self.0.compiled,
            Class::Interpreted => &self.0.interpreted,
        }
    }

    pub(crate) fn log(&self) -> &Arc<dyn LogSink> {
        &self.0.log
    }
}

impl House {
    fn new(class: Class, options: &EngineOptions) -> Result<Self, EngineError> {
        let wanted = options.running.saturating_add(options.reviewing);
        // A quarter more than may be taken: a slot is free again a little after its permit.
        let slots = u32::try_from(wanted.saturating_add(wanted / 4).saturating_add(1)).unwrap_or(u32::MAX);
        let pooled = wasmtime::Engine::new(&tunables::pooled(class, slots));
        let is_pooled = pooled.is_ok();
        let engine = pooled
            .or_else(|error| {
                tracing::warn!(target: "callgate::engine", class = class.as_str(), %error, "no room for a pool of sandboxes: calls will be slower");
                wasmtime::Engine::new(&tunables::on_demand())
            })
            .map_err(|error| EngineError(error.to_string()))?;
        Ok(Self {
            engine,
            running: Queue::new(options.running),
            reviewing: Semaphore::new(options.reviewing),
            patience: options.patience,
            pooled: is_pooled,
            compiled: Mutex::default(),
        })
    }

    /// The compiled form of a component with that digest.
    pub(crate) fn compile(&self, digest: Digest, bytes: &[u8]) -> wasmtime::Result<Arc<Component>> {
        if let Some(known) = self.compiled.lock().unwrap_or_else(PoisonError::into_inner).get(&digest).and_then(Weak::upgrade) {
            return Ok(known);
        }
        // Not under the lock: it takes seconds for an interpreter. Two loads at once compile twice, and either will do.
        let component = Arc::new(Component::from_binary(&self.engine, bytes)?);
        let mut compiled = self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        compiled.retain(|_, component| component.strong_count() > 0);
        compiled.insert(digest, Arc::downgrade(&component));
        Ok(component)
    }
}
