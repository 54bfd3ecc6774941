//! All that a call depends on, as one immutable value: a call stays on the revision that it started with.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use crate::digest::Fingerprint;
use crate::extension::{Approver, FailureHook, Filter, PostHook, PreHook};
use crate::json::Pointer;
use crate::model::Context;
use crate::observe::Capture;
use crate::policy::{Glob, Policy};

/// Configuration, extension points and policy, as they are at one time.
#[derive(Clone, Default)]
pub struct Revision {
    /// What records call it.
    pub id: String,
    /// Which tools exist for a caller: all must say visible.
    pub filters: Vec<Entry<dyn Filter>>,
    /// In the order in which they run.
    pub pre_hooks: Vec<Entry<dyn PreHook>>,
    /// In the order in which they run.
    pub post_hooks: Vec<Entry<dyn PostHook>>,
    /// In the order in which they run.
    pub failure_hooks: Vec<Entry<dyn FailureHook>>,
    /// Rules; without any, hooks and schemas alone govern.
    pub policy: Option<Policy>,
    /// Who decides asks.
    pub approver: Option<Entry<dyn Approver>>,
    /// What is checked against the tools' schemas; none leaves both unchecked outside a governed call.
    pub validate: Option<Validate>,
    /// How asks are settled.
    pub ask: AskOptions,
    /// Which definitions are approved.
    pub pins: PinOptions,
    /// Bytes that a shaped result may have (`max_result_bytes_for_llm`).
    pub shape: ShapeOptions,
    /// Bounds of sending.
    pub send: SendOptions,
    /// What is captured with the stop event.
    pub capture: Capture,
}

/// One extension point in the pipeline.
pub struct Entry<T: ?Sized> {
    /// Its name in the configuration.
    pub name: String,
    /// What runs.
    pub extension: Arc<T>,
    /// What it may do. It is held to it, whatever it says.
    pub powers: Powers,
    /// Which calls it is about; all of them where nothing is said.
    pub scope: Scope,
    /// Which of the call's assigns it sees.
    pub assigns: AssignScope,
}

impl<T: ?Sized> Clone for Entry<T> {
    fn clone(&self) -> Self {
        Self {
            name: self.name.clone(),
            extension: self.extension.clone(),
            powers: self.powers.clone(),
            scope: self.scope.clone(),
            assigns: self.assigns.clone(),
        }
    }
}

impl<T: ?Sized> Entry<T> {
    /// The host program's own code, usually a closure: it has every power and sees every assign.
    pub fn trusted(name: impl Into<String>, extension: Arc<T>) -> Self {
        Self { name: name.into(), extension, powers: Powers::all(), scope: Scope::default(), assigns: AssignScope::All }
    }

    /// A plugin: it has the powers that are named here and sees no assign.
    pub fn plugin(name: impl Into<String>, extension: Arc<T>, powers: Powers) -> Self {
        Self { name: name.into(), extension, powers, scope: Scope::default(), assigns: AssignScope::Only(BTreeSet::new()) }
    }
}

/// What an extension point may do beyond looking.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Powers {
    /// A pre-hook may deny.
    pub deny: bool,
    /// A pre-hook may ask.
    pub ask: bool,
    /// A pre-hook may change what is at or below these pointers. Changing an array's length needs the array itself.
    pub rewrite: Vec<Pointer>,
    /// A pre-hook may end the call with a result of its own.
    pub halt: bool,
    /// A post- or failure hook may replace.
    pub replace: bool,
    /// A post-hook may withhold.
    pub withhold: bool,
    /// An approver may allow without having asked a person.
    pub decide: bool,
    /// An approver may allow for good.
    pub always: bool,
}

impl Powers {
    /// Everything.
    #[must_use]
    pub fn all() -> Self {
        Self {
            deny: true,
            ask: true,
            rewrite: vec![Pointer::root()],
            halt: true,
            replace: true,
            withhold: true,
            decide: true,
            always: true,
        }
    }
}

/// Which calls an entry is about. The host looks, so a plugin that is not concerned is not even started.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// Only servers that match.
    pub server: Option<Glob>,
    /// Only tools that match.
    pub tool: Option<Glob>,
}

impl Scope {
    /// Whether a call of this tool is concerned.
    #[must_use]
    pub fn concerns(&self, server: &str, tool: &str) -> bool {
        let matches = |glob: &Option<Glob>, text| glob.as_ref().is_none_or(|glob| glob.matches(text));
        matches(&self.server, server) && matches(&self.tool, tool)
    }
}

/// Which of a call's assigns an extension point sees (T21).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AssignScope {
    /// All of them.
    All,
    /// Those of these keys.
    Only(BTreeSet<String>),
}

impl AssignScope {
    /// The context as an extension point of this scope may see it.
    #[must_use]
    pub fn narrow(&self, context: &Arc<Context>) -> Arc<Context> {
        match self {
            AssignScope::All => context.clone(),
            AssignScope::Only(_) if context.assigns.is_empty() => context.clone(),
            AssignScope::Only(keys) => {
                let seen = context.assigns.iter().filter(|(key, _)| keys.contains(*key));
                let assigns = Arc::new(seen.map(|(key, value)| (key.clone(), value.clone())).collect());
                Arc::new(Context { assigns, ..Context::clone(context) })
            }
        }
    }
}

/// What is checked against schemas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Validate {
    /// Arguments that do not fit are never sent.
    pub arguments: bool,
    /// Structured content of results that are no errors.
    pub structured_content: Strictness,
}

/// What becomes of structured content that does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strictness {
    /// It is not looked at.
    Off,
    /// It is reported and passes.
    Warn,
    /// The caller gets an error.
    Strict,
}

impl Default for Validate {
    fn default() -> Self {
        Self { arguments: true, structured_content: Strictness::Strict }
    }
}

/// How asks are settled.
#[derive(Clone, Debug)]
pub struct AskOptions {
    /// How long an approver may take.
    pub timeout: Duration,
    /// How long a grant lives, and at most.
    pub grant_ttl: Duration,
    /// Whether calls without a principal make and use grants.
    pub allow_anonymous_grants: bool,
}

impl Default for AskOptions {
    fn default() -> Self {
        Self { timeout: Duration::from_secs(60), grant_ttl: Duration::from_secs(24 * 60 * 60), allow_anonymous_grants: false }
    }
}

/// Which definitions are approved (PO-6). Counts only with a policy.
#[derive(Clone, Debug, Default)]
pub struct PinOptions {
    /// What counts as approved.
    pub approved: Approved,
    /// Whether a tool that the baseline does not know passes the pin.
    pub allow_new_tools: bool,
}

/// What counts as approved.
#[derive(Clone, Debug, Default)]
pub enum Approved {
    /// The first complete listing that a client with a policy reads.
    #[default]
    FirstListing,
    /// Exactly these.
    Fingerprints(BTreeMap<String, Fingerprint>),
}

/// How results are shaped for a model.
#[derive(Clone, Copy, Debug)]
pub struct ShapeOptions {
    /// Bytes that a whole shaped result may have.
    pub max_bytes: usize,
}

impl Default for ShapeOptions {
    fn default() -> Self {
        Self { max_bytes: 100 << 10 }
    }
}

/// Bounds of sending.
#[derive(Clone, Copy, Debug)]
pub struct SendOptions {
    /// For the whole call, all rounds included, without the wait for an approver.
    pub timeout: Duration,
    /// Input rounds; SDKs use 10.
    pub max_rounds: usize,
    /// Input requests of one call, over all rounds.
    pub max_input_requests: usize,
    /// Bytes of one input request and of the state that is echoed.
    pub max_input_bytes: usize,
    /// Running time that all plugins of one call share.
    pub plugin_budget: Duration,
    /// How long the plugins of one step may take by the wall clock, waits for a sandbox included: the backstop behind their limits.
    pub plugin_wall_clock: Duration,
}

impl Default for SendOptions {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(60),
            max_rounds: 10,
            max_input_requests: 32,
            max_input_bytes: 256 << 10,
            plugin_budget: Duration::from_secs(2),
            plugin_wall_clock: Duration::from_secs(10),
        }
    }
}

impl Revision {
    /// Whether anything here governs; without, calls are sent as given (R6).
    #[must_use]
    pub fn governs(&self) -> bool {
        self.policy.is_some()
            || self.validate.is_some()
            || !self.filters.is_empty()
            || !self.pre_hooks.is_empty()
            || !self.post_hooks.is_empty()
            || !self.failure_hooks.is_empty()
    }

    /// What is checked inside the pipeline: arguments and structured content unless something else was said.
    #[must_use]
    pub fn validation(&self) -> Validate {
        self.validate.unwrap_or_default()
    }
}
