//! A loaded plugin: compiled, linked for each of its kinds, its settings taken. It holds no running instance.

use std::fmt::{Debug, Formatter};
use std::sync::Arc;

use callgate_core::digest::Digest;
use wasmtime::component::{Component, ComponentExportIndex, InstancePre};

use crate::engine::House;
use crate::inspect::Inspection;
use crate::kind::Kind;
use crate::limits::{Class, Limits};
use crate::log::LogSink;
use crate::state::State;

/// A loaded plugin. Cheap to clone; the extension points that it gives keep it alive.
#[derive(Clone)]
pub struct Plugin(Arc<Loaded>);

pub(crate) struct Loaded {
    pub(crate) name: String,
    /// As JSON text, for `configure`.
    pub(crate) settings: String,
    pub(crate) setup: ComponentExportIndex,
    pub(crate) bound: Vec<Bound>,
    /// Held so that the next plugin of this component finds it compiled.
    #[expect(dead_code, reason = "the instances use it by themselves")]
    pub(crate) component: Arc<Component>,
    pub(crate) inspection: Inspection,
    pub(crate) house: Arc<House>,
    pub(crate) log: Arc<dyn LogSink>,
}

/// A plugin as one of its kinds: linked with that kind's functions alone.
pub(crate) struct Bound {
    pub(crate) kind: Kind,
    pub(crate) limits: Limits,
    pub(crate) pre: InstancePre<State>,
    pub(crate) function: ComponentExportIndex,
}

impl Plugin {
    pub(crate) fn new(loaded: Loaded) -> Self {
        Self(Arc::new(loaded))
    }

    pub(crate) fn loaded(&self) -> &Arc<Loaded> {
        &self.0
    }

    /// Its name in the configuration.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// SHA-256 of the component.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.0.inspection.digest
    }

    /// What it is.
    #[must_use]
    pub fn kinds(&self) -> &[Kind] {
        &self.0.inspection.kinds
    }

    /// Which sandboxes it runs in.
    #[must_use]
    pub fn class(&self) -> Class {
        self.0.inspection.class
    }

    /// What it is and may do, with the limits that it has.
    #[must_use]
    pub fn inspection(&self) -> &Inspection {
        &self.0.inspection
    }
}

impl Debug for Plugin {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        write!(f, "Plugin({}, {})", self.name(), self.digest())
    }
}
