//! The configuration, typed twice: what the user wrote ([`raw`]), then what the program uses ([`Config`]).
//!
//! Unknown keys are errors, with line and nearest name: a misspelt `deny` must stop the start. `${VAR}` is expanded after parsing,
//! in commands, paths and settings only: never where it could decide what is allowed (T35).

mod check;
mod error;
mod expand;
mod names;
mod policy;
pub mod raw;
mod units;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use callgate_core::digest::{Digest, Fingerprint};
use callgate_core::json::Json;
use callgate_core::model::{Effect, ServerName};
use callgate_core::observe::Capture;
use callgate_core::revision::{Approved, AskOptions, PinOptions, Powers, Scope, SendOptions, ShapeOptions, Strictness, Validate};

pub use check::warnings;
pub use error::ConfigError;
pub use policy::{ConditionTemplate, RuleTemplate};

/// Everything that a configuration file says, resolved: no option is left to interpret, every path is absolute or relative to the
/// working folder of the process.
#[derive(Clone, Debug)]
pub struct Config {
    /// The file it came from.
    pub file: PathBuf,
    /// A digest of the file: the revision's id.
    pub revision: String,
    /// Servers by name.
    pub servers: BTreeMap<ServerName, Server>,
    /// Plugins by name.
    pub plugins: BTreeMap<String, Plugin>,
    /// Filters in order.
    pub filters: Vec<Stage>,
    /// Pre-hooks in order.
    pub pre_hooks: Vec<Stage>,
    /// Post-hooks in order.
    pub post_hooks: Vec<Stage>,
    /// Failure hooks in order.
    pub failure_hooks: Vec<Stage>,
    /// Who decides asks.
    pub approver: Option<Stage>,
    /// The policy; none where the file says `policy = "none"`.
    pub policy: Option<PolicyTemplate>,
    /// What is checked against schemas.
    pub validate: Validate,
    /// How asks are settled.
    pub ask: AskOptions,
    /// Which definitions are approved.
    pub pins: PinOptions,
    /// How results are shaped.
    pub shape: ShapeOptions,
    /// Bounds of sending.
    pub send: SendOptions,
    /// What the stop event captures.
    pub capture: Capture,
    /// Values for hooks, approver and policy of calls that bring none.
    pub assigns: BTreeMap<String, Json>,
    /// Where grants and pins are kept; none is the user's state folder.
    pub store: Option<PathBuf>,
    /// Where decisions are logged.
    pub decision_log: DecisionLogPath,
}

/// Where decisions are logged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DecisionLogPath {
    /// `decisions.jsonl` beside the store.
    BesideStore,
    /// In this file.
    File(PathBuf),
    /// Nowhere.
    Nowhere,
}

/// One server.
#[derive(Clone, Debug)]
pub struct Server {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The child's environment, besides what every child gets.
    pub env: BTreeMap<String, String>,
    /// The child's working folder, absolute: the configuration's own where it names none. Never the folder that the host happens to be
    /// started in, whose files could take the place of the server's.
    pub cwd: PathBuf,
    /// Whether its own annotations count (T9).
    pub trust_annotations: bool,
}

/// One plugin.
#[derive(Clone, Debug)]
pub struct Plugin {
    /// The component.
    pub path: PathBuf,
    /// What its bytes must digest to.
    pub sha256: Option<Digest>,
    /// Limits that differ from its kind's.
    pub limits: Limits,
    /// Its settings, as JSON.
    pub settings: Json,
    /// Keys of the settings whose value came from the environment.
    pub has_expanded_settings: bool,
}

/// Limits that differ from the kind's defaults.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Fuel.
    pub fuel: Option<u64>,
    /// Running time.
    pub deadline: Option<Duration>,
    /// Bytes of all its memories.
    pub memory: Option<u64>,
}

/// One place in the pipeline.
#[derive(Clone, Debug)]
pub struct Stage {
    /// Which plugin.
    pub plugin: String,
    /// What it may do.
    pub may: Powers,
    /// Which calls it is about.
    pub scope: Scope,
    /// Which assigns it sees.
    pub assigns: BTreeSet<String>,
}

/// A policy whose predicates are still names.
#[derive(Clone, Debug, Default)]
pub struct PolicyTemplate {
    /// Rules that deny.
    pub deny: Vec<RuleTemplate>,
    /// Rules that ask.
    pub ask: Vec<RuleTemplate>,
    /// Rules that allow.
    pub allow: Vec<RuleTemplate>,
    /// What becomes of a call that no rule matches.
    pub default: Option<Effect>,
}

impl Config {
    /// Reads a file.
    ///
    /// # Errors
    /// The file, the line where there is one, the cause, and what to do.
    pub fn read(file: &Path) -> Result<Self, ConfigError> {
        let text = std::fs::read_to_string(file).map_err(|error| ConfigError::unreadable(file, &error))?;
        Self::parse(file, &text, &|name| std::env::var(name).ok())
    }

    /// Reads a text as if it stood in `file`, with `variables` in place of the environment.
    ///
    /// # Errors
    /// As [`Config::read`].
    pub fn parse(file: &Path, text: &str, variables: &dyn Fn(&str) -> Option<String>) -> Result<Self, ConfigError> {
        let raw: raw::Config = toml::from_str(text).map_err(|error| ConfigError::toml(file, text, &error))?;
        Resolver { file, folder: file.parent().unwrap_or(Path::new("")), variables }
            .config(raw, Digest::of(text))
            .map_err(|what| ConfigError::meaning(file, what))
    }

    /// Every plugin that the pipeline or a rule refers to.
    #[must_use]
    pub fn used_plugins(&self) -> BTreeSet<&str> {
        let stages = [&self.filters, &self.pre_hooks, &self.post_hooks, &self.failure_hooks].into_iter().flatten().chain(&self.approver);
        let rules = self.policy.iter().flat_map(|policy| [&policy.deny, &policy.ask, &policy.allow]).flatten();
        let predicates = rules.flat_map(|rule| rule.condition.predicates());
        stages.map(|stage| stage.plugin.as_str()).chain(predicates).collect()
    }
}

/// Turns what was written into what is used. Errors are one clause; the file is put before it.
struct Resolver<'a> {
    file: &'a Path,
    folder: &'a Path,
    variables: &'a dyn Fn(&str) -> Option<String>,
}

type Resolved<T> = Result<T, String>;

impl Resolver<'_> {
    fn config(&self, raw: raw::Config, digest: Digest) -> Resolved<Config> {
        let plugins = collect(raw.plugin, |name, plugin| self.plugin(name, plugin))?;
        let policy = match raw.policy {
            Some(raw::PolicyOrNone::None) => None,
            Some(raw::PolicyOrNone::Policy(policy)) => Some(policy::template(*policy)?),
            None => Some(PolicyTemplate::default()),
        };
        let stages = |entries: Vec<raw::Entry>| entries.into_iter().map(stage).collect::<Resolved<Vec<_>>>();
        let pipeline = raw.pipeline;
        let config = Config {
            file: self.file.to_owned(),
            revision: digest.to_string().chars().take(12).collect(),
            servers: raw.server.into_iter().map(|(name, server)| self.server(&name, server)).collect::<Resolved<_>>()?,
            plugins,
            filters: stages(pipeline.filters)?,
            pre_hooks: stages(pipeline.pre_hooks)?,
            post_hooks: stages(pipeline.post_hooks)?,
            failure_hooks: stages(pipeline.failure_hooks)?,
            approver: pipeline.approver.map(stage).transpose()?,
            policy,
            validate: validate(raw.validate.unwrap_or_default()),
            ask: ask(raw.ask.unwrap_or_default())?,
            pins: pins(raw.pins.unwrap_or_default())?,
            shape: raw.shape.and_then(|shape| shape.max_bytes).map_or_else(ShapeOptions::default, |max_bytes| ShapeOptions { max_bytes }),
            send: send(raw.send.unwrap_or_default())?,
            capture: capture(&raw.telemetry.unwrap_or_default()),
            assigns: raw
                .assigns
                .into_iter()
                .map(|(key, value)| Ok((key.clone(), of(format!("assigns.{key}"), units::json(value))?)))
                .collect::<Resolved<_>>()?,
            store: raw.store.and_then(|store| store.path).map(|path| self.path(&path)).transpose()?,
            decision_log: match raw.log.and_then(|log| log.decisions).as_deref() {
                None => DecisionLogPath::BesideStore,
                Some("none") => DecisionLogPath::Nowhere,
                Some(path) => DecisionLogPath::File(self.path(path)?),
            },
        };
        names::check(&config)?;
        Ok(config)
    }

    fn server(&self, name: &str, raw: raw::Server) -> Resolved<(ServerName, Server)> {
        let name: ServerName = name.parse().map_err(|error: callgate_core::model::InvalidServerName| error.to_string())?;
        let command = raw.command.iter().map(|word| self.expand(word)).collect::<Resolved<Vec<_>>>()?;
        if command.first().is_none_or(String::is_empty) {
            return Err(format!("server `{name}` has no command: `command` needs the program and its arguments"));
        }
        let env = raw.env.into_iter().map(|(key, value)| Ok((key, self.expand(&value)?))).collect::<Resolved<_>>()?;
        let cwd = Path::new(".").join(self.path(raw.cwd.as_deref().unwrap_or_default())?);
        let cwd =
            std::path::absolute(&cwd).map_err(|error| format!("server `{name}`: its `cwd` {} cannot be told: {error}", cwd.display()))?;
        Ok((name, Server { command, env, cwd, trust_annotations: raw.trust_annotations.unwrap_or(false) }))
    }

    fn plugin(&self, name: &str, raw: raw::Plugin) -> Resolved<Plugin> {
        let limits = raw.limits.unwrap_or_default();
        let mut settings = raw
            .settings
            .map_or_else(|| Ok(Json::object()), |table| of(format!("plugin.{name}.settings"), units::json(toml::Value::Table(table))))?;
        let has_expanded_settings = expand::json(&mut settings, self.variables)?;
        Ok(Plugin {
            path: self.path(&raw.path)?,
            sha256: raw.sha256.map(|text| text.parse()).transpose().map_err(|error| format!("plugin `{name}`: {error}"))?,
            limits: Limits {
                fuel: limits.fuel,
                deadline: limits.deadline.map(|text| of(format!("plugin.{name}.limits.deadline"), units::duration(&text))).transpose()?,
                memory: limits.memory.map(|text| of(format!("plugin.{name}.limits.memory"), units::bytes(&text))).transpose()?,
            },
            settings,
            has_expanded_settings,
        })
    }

    fn expand(&self, text: &str) -> Resolved<String> {
        expand::text(text, self.variables)
    }

    fn path(&self, path: &str) -> Resolved<PathBuf> {
        Ok(self.folder.join(self.expand(path)?))
    }
}

/// Puts the key before what is wrong with its value.
fn of<T>(key: impl std::fmt::Display, value: Resolved<T>) -> Resolved<T> {
    value.map_err(|what| format!("`{key}`: {what}"))
}

fn collect<T, U>(raw: BTreeMap<String, T>, convert: impl Fn(&str, T) -> Resolved<U>) -> Resolved<BTreeMap<String, U>> {
    raw.into_iter().map(|(name, value)| convert(&name, value).map(|value| (name, value))).collect()
}

fn stage(raw: raw::Entry) -> Resolved<Stage> {
    let table = match raw {
        raw::Entry::Name(plugin) => raw::EntryTable { plugin, ..raw::EntryTable::default() },
        raw::Entry::Table(table) => *table,
    };
    let mut may = Powers::default();
    for power in table.may {
        match power {
            raw::Power::Word(word) => match word {
                raw::PowerWord::Deny => may.deny = true,
                raw::PowerWord::Ask => may.ask = true,
                raw::PowerWord::Halt => may.halt = true,
                raw::PowerWord::Replace => may.replace = true,
                raw::PowerWord::Withhold => may.withhold = true,
                raw::PowerWord::Decide => may.decide = true,
                raw::PowerWord::Always => may.always = true,
            },
            raw::Power::Rewrite(rewrite) => {
                let pointers =
                    rewrite.rewrite.iter().map(|text| text.parse().map_err(|error| format!("`may` of `{}`: {error}", table.plugin)));
                may.rewrite.extend(pointers.collect::<Resolved<Vec<_>>>()?);
            }
        }
    }
    let scope = table.r#match.unwrap_or_default();
    let plugin = &table.plugin;
    let glob = |text: Option<String>| {
        text.map(|text| policy::name_glob(&text).map_err(|what| format!("`match` of `{plugin}`: {what}"))).transpose()
    };
    let scope = Scope { server: glob(scope.server)?, tool: glob(scope.tool)? };
    Ok(Stage { plugin: table.plugin, may, scope, assigns: table.assigns.into_iter().collect() })
}

fn validate(raw: raw::Validate) -> Validate {
    let structured_content = match raw.structured_content.unwrap_or(raw::Strictness::Strict) {
        raw::Strictness::Strict => Strictness::Strict,
        raw::Strictness::Warn => Strictness::Warn,
        raw::Strictness::Off => Strictness::Off,
    };
    Validate { arguments: raw.arguments.unwrap_or(true), structured_content }
}

fn ask(raw: raw::Ask) -> Resolved<AskOptions> {
    let default = AskOptions::default();
    Ok(AskOptions {
        timeout: raw.timeout.map_or(Ok(default.timeout), |text| of("ask.timeout", units::duration(&text)))?,
        grant_ttl: raw.grant_ttl.map_or(Ok(default.grant_ttl), |text| of("ask.grant_ttl", units::duration(&text)))?,
        allow_anonymous_grants: raw.allow_anonymous_grants.unwrap_or(default.allow_anonymous_grants),
    })
}

fn send(raw: raw::Send) -> Resolved<SendOptions> {
    let default = SendOptions::default();
    Ok(SendOptions {
        timeout: raw.timeout.map_or(Ok(default.timeout), |text| of("send.timeout", units::duration(&text)))?,
        max_rounds: raw.max_rounds.unwrap_or(default.max_rounds),
        plugin_budget: raw.plugin_budget.map_or(Ok(default.plugin_budget), |text| of("send.plugin_budget", units::duration(&text)))?,
        ..default
    })
}

fn pins(raw: raw::Pins) -> Resolved<PinOptions> {
    let approved = match raw.approved {
        None | Some(raw::ApprovedPins::FirstListing) => Approved::FirstListing,
        Some(raw::ApprovedPins::Fingerprints(map)) => {
            let parse = |(name, text): (String, String)| {
                let fingerprint: Fingerprint = text.parse().map_err(|error| format!("`pins.approved.{name}`: {error}"))?;
                Ok((name, fingerprint))
            };
            Approved::Fingerprints(map.into_iter().map(parse).collect::<Resolved<_>>()?)
        }
    };
    Ok(PinOptions { approved, allow_new_tools: raw.allow_new_tools.unwrap_or(false) })
}

fn capture(raw: &raw::Telemetry) -> Capture {
    let wants = |payload| raw.capture_payloads.contains(&payload);
    Capture { arguments: wants(raw::Payload::Arguments), result: wants(raw::Payload::Result) }
}
