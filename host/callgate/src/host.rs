//! From a configuration to pipelines: the only file that knows every part.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use callgate_core::ListingLimits;
use callgate_core::model::ServerName;
use callgate_core::pipeline::PipelineBuilder;
use callgate_core::policy::{Policy, PredicateEntry, Rule};
use callgate_core::revision::{AssignScope, Entry, Revision};
use callgate_core::store::StoreError;
use callgate_core::upstream::InputKinds;
use callgate_mcp::{StdioConfig, StdioServer, WireLimits};
use callgate_store::{DecisionLog, SqliteStore};
use callgate_wasm::{Capability, Engine, EngineOptions, Kind, LimitOverrides, LoadOptions, Plugin};
use tokio::sync::OnceCell;

use crate::config::{Config, DecisionLogPath, PolicyTemplate, RuleTemplate, Stage};

/// Bytes that a component file may have; more is not read.
const MAX_COMPONENT_BYTES: u64 = callgate_wasm::limits::MAX_COMPONENT_BYTES as u64;

/// How a configuration is taken.
#[derive(Clone, Copy, Debug, Default)]
pub struct HostOptions {
    /// Loads plugins that have no `sha256`. Only ever a switch of the person who starts the program, never of a file (T35).
    pub dev: bool,
}

/// A configuration, with what it needs to govern calls: plugins, the store, servers.
pub struct Host {
    config: Config,
    options: HostOptions,
    revision: Mutex<Option<Revision>>,
    store: OnceCell<Arc<SqliteStore>>,
    log: OnceCell<Arc<DecisionLog>>,
    servers: Mutex<Vec<Arc<StdioServer>>>,
}

/// A configuration that cannot be put to work: file or plugin, cause, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct HostError(String);

impl Host {
    /// A host for a configuration. Nothing is loaded or started yet.
    #[must_use]
    pub fn new(config: Config, options: HostOptions) -> Self {
        Self { config, options, revision: Mutex::new(None), store: OnceCell::new(), log: OnceCell::new(), servers: Mutex::new(Vec::new()) }
    }

    /// The configuration.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The store of grants and pins, opened once.
    ///
    /// # Errors
    /// The file, the cause and what to do.
    pub async fn store(&self) -> Result<Arc<SqliteStore>, StoreError> {
        let open = || async { SqliteStore::open(self.store_path()?).await.map(Arc::new) };
        self.store.get_or_try_init(open).await.cloned()
    }

    fn store_path(&self) -> Result<PathBuf, StoreError> {
        let unset = || StoreError("neither XDG_STATE_HOME nor HOME is set; name a file with `[store] path`".to_owned());
        self.config.store.clone().or_else(callgate_store::default_path).ok_or_else(unset)
    }

    /// The log of decisions, opened once; none where the configuration wants none.
    async fn log(&self) -> Result<Option<Arc<DecisionLog>>, StoreError> {
        let path = match &self.config.decision_log {
            DecisionLogPath::Nowhere => return Ok(None),
            DecisionLogPath::File(path) => path.clone(),
            DecisionLogPath::BesideStore => self.store_path()?.with_file_name("decisions.jsonl"),
        };
        let open = || async { DecisionLog::open(&path).map(Arc::new) };
        self.log.get_or_try_init(open).await.cloned().map(Some)
    }

    /// A pipeline for one server, to which these kinds of input are declared; its person and handler are the caller's to add.
    ///
    /// # Errors
    /// A plugin, the store or a log that cannot be used.
    pub async fn pipeline(&self, server: &ServerName, declared: InputKinds) -> Result<PipelineBuilder, HostError> {
        let configured = self.config.servers.get(server).ok_or_else(|| HostError(format!("there is no server `{server}`")))?;
        let revision = self.revision()?;
        let store = self.store().await.map_err(|error| HostError(error.to_string()))?;
        let upstream = Arc::new(StdioServer::new(StdioConfig {
            name: server.clone(),
            command: configured.command.clone(),
            env: configured.env.clone(),
            cwd: Some(configured.cwd.clone()),
            declared,
            limits: limits(self.config.send.timeout),
        }));
        self.servers.lock().unwrap_or_else(PoisonError::into_inner).push(upstream.clone());
        let builder = PipelineBuilder::new(upstream)
            .revision(revision)
            .grants(store.clone())
            .pins(store)
            .trust_annotations(configured.trust_annotations)
            .assigns(self.config.assigns.clone())
            .listing_limits(listing_limits(self.config.send.timeout));
        let log = self.log().await.map_err(|error| HostError(error.to_string()))?;
        Ok(match log {
            Some(log) => builder.observer(log),
            None => builder,
        })
    }

    /// Ends every server that this host started, and writes out what is logged.
    pub async fn shutdown(&self) {
        let servers = std::mem::take(&mut *self.servers.lock().unwrap_or_else(PoisonError::into_inner));
        for server in servers {
            server.shutdown().await;
        }
        if let Some(Err(error)) = self.log.get().map(|log| log.flush()) {
            tracing::error!(target: "callgate::log", %error, "decisions were not logged");
        }
    }

    /// The revision that the configuration describes, with its plugins loaded; made once.
    ///
    /// # Errors
    /// The plugin, the cause and what to do.
    pub fn revision(&self) -> Result<Revision, HostError> {
        let mut made = self.revision.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(revision) = made.as_ref() {
            return Ok(revision.clone());
        }
        let revision = self.build()?;
        *made = Some(revision.clone());
        Ok(revision)
    }

    fn build(&self) -> Result<Revision, HostError> {
        let config = &self.config;
        let plugins = Plugins::load(config, self.options)?;
        let file = &config.file;
        Ok(Revision {
            id: config.revision.clone(),
            filters: entries(&config.filters, |stage| plugins.part(file, stage, Kind::Filter, Plugin::filter))?,
            pre_hooks: entries(&config.pre_hooks, |stage| plugins.part(file, stage, Kind::PreHook, Plugin::pre_hook))?,
            post_hooks: entries(&config.post_hooks, |stage| plugins.part(file, stage, Kind::PostHook, Plugin::post_hook))?,
            failure_hooks: entries(&config.failure_hooks, |stage| plugins.part(file, stage, Kind::FailureHook, Plugin::failure_hook))?,
            policy: config.policy.as_ref().map(|template| policy(template, file, &plugins)).transpose()?,
            approver: config.approver.as_ref().map(|stage| plugins.part(file, stage, Kind::Approver, Plugin::approver)).transpose()?,
            validate: Some(config.validate),
            ask: config.ask.clone(),
            pins: config.pins.clone(),
            shape: config.shape,
            send: config.send,
            capture: config.capture,
        })
    }
}

/// A start ends a little before the call that waits for it does: its own error says what the server did.
fn limits(timeout: Duration) -> WireLimits {
    let default = WireLimits::default();
    let probe = default.probe.min(timeout / 4);
    WireLimits { probe, start: default.start.min(timeout * 6 / 10), ..default }
}

/// Neither may a listing.
fn listing_limits(timeout: Duration) -> ListingLimits {
    let default = ListingLimits::default();
    ListingLimits { timeout: default.timeout.min(timeout), ..default }
}

fn entries<T: ?Sized>(stages: &[Stage], part: impl Fn(&Stage) -> Result<Entry<T>, HostError>) -> Result<Vec<Entry<T>>, HostError> {
    stages.iter().map(part).collect()
}

fn policy(template: &PolicyTemplate, file: &Path, plugins: &Plugins) -> Result<Policy, HostError> {
    let rules = |rules: &[RuleTemplate]| -> Result<Vec<Rule>, HostError> {
        rules.iter().map(|rule| rule.resolve(&|name| plugins.predicate(file, name))).collect()
    };
    Ok(Policy { deny: rules(&template.deny)?, ask: rules(&template.ask)?, allow: rules(&template.allow)?, default: template.default })
}

/// The plugins that the configuration uses, loaded.
struct Plugins(BTreeMap<String, Plugin>);

impl Plugins {
    fn load(config: &Config, options: HostOptions) -> Result<Self, HostError> {
        let used = config.used_plugins();
        if used.is_empty() {
            return Ok(Self(BTreeMap::new()));
        }
        let engine = Engine::new(&EngineOptions::default()).map_err(|error| HostError(error.to_string()))?;
        let load = |name: &str| load(config, options, &engine, name).map(|plugin| (name.to_owned(), plugin));
        used.into_iter().map(load).collect::<Result<_, _>>().map(Self)
    }

    /// A plugin in its place, held to the powers that it was given there.
    fn part<T: ?Sized>(
        &self,
        file: &Path,
        stage: &Stage,
        kind: Kind,
        part: impl Fn(&Plugin) -> Option<Arc<T>>,
    ) -> Result<Entry<T>, HostError> {
        let extension = self.0.get(&stage.plugin).and_then(part).ok_or_else(|| not_of_kind(file, &stage.plugin, kind))?;
        Ok(Entry {
            name: stage.plugin.clone(),
            extension,
            powers: stage.may.clone(),
            scope: stage.scope.clone(),
            assigns: AssignScope::Only(stage.assigns.clone()),
        })
    }

    fn predicate(&self, file: &Path, name: &str) -> Result<PredicateEntry, HostError> {
        let predicate = self.0.get(name).and_then(Plugin::predicate).ok_or_else(|| not_of_kind(file, name, Kind::Predicate))?;
        Ok(PredicateEntry { name: name.to_owned(), predicate, assigns: AssignScope::Only(std::collections::BTreeSet::new()) })
    }
}

fn load(config: &Config, options: HostOptions, engine: &Engine, name: &str) -> Result<Plugin, HostError> {
    let file = config.file.display();
    let Some(plugin) = config.plugins.get(name) else { return Err(HostError(format!("{file}: there is no `[plugin.{name}]`"))) };
    let path = plugin.path.display();
    if plugin.sha256.is_none() && !options.dev {
        return Err(HostError(format!(
            "{file}: plugin `{name}` has no `sha256`; `callgate plugin inspect {path}` shows it, and --dev loads without"
        )));
    }
    let bytes =
        read_component(&plugin.path).map_err(|error| HostError(format!("{file}: plugin `{name}`: {path} cannot be read: {error}")))?;
    let is_approver = config.approver.as_ref().is_some_and(|stage| stage.plugin == name);
    let load = LoadOptions {
        sha256: plugin.sha256,
        settings: plugin.settings.clone(),
        limits: LimitOverrides {
            fuel: plugin.limits.fuel,
            deadline: plugin.limits.deadline,
            memory: plugin.limits.memory.and_then(|bytes| usize::try_from(bytes).ok()),
            ..LimitOverrides::default()
        },
        // Who is made an approver may ask a person; nobody else may.
        capabilities: if is_approver { vec![Capability::Prompt] } else { Vec::new() },
        ..LoadOptions::new(name)
    };
    engine.load(&bytes, load).map_err(|error| HostError(format!("{file}: plugin `{name}` ({path}): {error}")))
}

/// Reads a component file, but never more than one may have: a file can be anything.
///
/// # Errors
/// It cannot be read, or is no regular file.
pub fn read_component(path: &Path) -> std::io::Result<Vec<u8>> {
    use std::io::Read;
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path)?;
    if !file.metadata()?.is_file() {
        return Err(std::io::Error::other("it is not a regular file"));
    }
    file.take(MAX_COMPONENT_BYTES + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn not_of_kind(file: &Path, plugin: &str, kind: Kind) -> HostError {
    HostError(format!(
        "{}: plugin `{plugin}` is used as a {kind}, but does not export that kind; `callgate plugin inspect` shows what it is",
        file.display()
    ))
}
