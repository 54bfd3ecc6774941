//! From bytes to a plugin: digest, scan, permissions, compiling, linking, settings. Whatever is wrong is said here, before any call.

use callgate_core::digest::Digest;
use callgate_core::json::Json;
use callgate_core::model::Failure;
use callgate_core::schema::Schema;
use wasmtime::component::{Component, ComponentExportIndex};

use crate::engine::Engine;
use crate::inspect::{Inspection, inspect};
use crate::kind::Kind;
use crate::limits::{Class, LimitOverrides, Limits, MAX_SETTINGS_BYTES};
use crate::link::link;
use crate::log::one_line;
use crate::plugin::{Bound, Loaded, Plugin};
use crate::scan::ScanError;

/// What an operator may grant beyond a kind's row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Capability {
    /// Ask a person. For approvers.
    Prompt,
}

impl Capability {
    /// The word in the configuration.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Capability::Prompt => "prompt",
        }
    }
}

/// How to load one plugin.
#[derive(Clone, Debug)]
pub struct LoadOptions {
    /// Its name in the configuration: what logs and records call it.
    pub name: String,
    /// The digest that its bytes must have; none takes any bytes (for development only).
    pub sha256: Option<Digest>,
    /// Its settings, an object.
    pub settings: Json,
    /// Limits other than the defaults.
    pub limits: LimitOverrides,
    /// What it is granted.
    pub capabilities: Vec<Capability>,
    /// Which class it is; guessed from the component where nothing is said.
    pub class: Option<Class>,
}

impl LoadOptions {
    /// A plugin of that name, without settings, grants and limits of its own.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            sha256: None,
            settings: Json::object(),
            limits: LimitOverrides::default(),
            capabilities: Vec::new(),
            class: None,
        }
    }
}

/// Why a plugin is not loaded. The caller says which plugin and file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// Other bytes than were vetted.
    #[error("its SHA-256 is {found}, but {expected} is expected: vet the new file and set its digest, or restore the old file")]
    Digest {
        /// What the configuration says.
        expected: Digest,
        /// What the bytes have.
        found: Digest,
    },
    /// Not worth compiling.
    #[error(transparent)]
    Scan(#[from] ScanError),
    /// No kind is exported.
    #[error(
        "it exports none of filter, predicate, pre-hook, post-hook, failure-hook and approver of `callgate:plugin`, so there is nothing to call: build it against the contract in `wit/`"
    )]
    NoKind,
    /// `setup` is missing.
    #[error("it does not export `callgate:plugin/setup`, which every plugin must: add `configure`, even if it takes no settings")]
    NoSetup,
    /// Built for another version of the contract.
    #[error(
        "`{name}` is version {found} of the contract, and this host has {supported}: rebuild the plugin, or use a host that supports {found}"
    )]
    Version {
        /// The export or import.
        name: String,
        /// Its version.
        found: String,
        /// This host's.
        supported: &'static str,
    },
    /// An import that none of its kinds may have.
    #[error("it imports `{import}`, which a plugin of kind {kinds} may not use: build it without")]
    ImportOfOtherKind {
        /// The import.
        import: String,
        /// The component's kinds.
        kinds: String,
    },
    /// An import that must be granted.
    #[error("it imports `{import}`, which needs the capability `{}`: grant it in `capabilities`, or use another plugin", capability.as_str())]
    NotGranted {
        /// The import.
        import: String,
        /// What is missing.
        capability: Capability,
    },
    /// WASI.
    #[error("it imports `{0}`, and this version offers no WASI: build it without (`wasm32-unknown-unknown`, `--stub-wasi`)")]
    Wasi(String),
    /// Something that this host does not offer.
    #[error("it imports `{0}`, which this host does not offer: build it without")]
    ForeignImport(String),
    /// A function that a newer contract has.
    #[error("it imports `{function}` of `{import}`, which this host is too old to have: use a newer host, or build it without")]
    NewerFunction {
        /// The interface.
        import: String,
        /// The function.
        function: String,
    },
    /// The compiler says no.
    #[error("it cannot be compiled: {0}")]
    Compile(String),
    /// An import or export of another type than the contract's.
    #[error("it does not fit the contract: {0}")]
    Contract(String),
    /// A limit that cannot be given.
    #[error("its limit `{name}` is {value}, but at most {most} can be given to a plugin that is {class}", class = class.as_str())]
    Limit {
        /// Which.
        name: &'static str,
        /// What was asked for.
        value: usize,
        /// What can be given.
        most: usize,
        /// The plugin's class.
        class: Class,
    },
    /// The component's own schema.
    #[error("its settings schema cannot be used: {0}")]
    SettingsSchema(String),
    /// Settings that are no object or too large.
    #[error("its settings must be an object of at most {MAX_SETTINGS_BYTES} bytes of JSON")]
    SettingsForm,
    /// Settings that its schema does not take.
    #[error("its settings do not fit its schema: {0}")]
    SettingsMismatch(String),
    /// Settings that it does not take itself.
    #[error("it does not accept its settings: {0}")]
    SettingsRefused(String),
    /// It broke while taking its settings.
    #[error("it broke while taking its settings: {}", said(.0))]
    Setup(Failure),
    /// The host broke.
    #[error("the host panicked while loading it, which is a bug of the host")]
    Panic,
}

impl Engine {
    /// Loads a plugin. Takes as long as compiling does: call it where blocking is allowed, and before a swap, never in a call.
    ///
    /// # Errors
    /// See [`LoadError`].
    pub fn load(&self, bytes: &[u8], options: LoadOptions) -> Result<Plugin, LoadError> {
        let found = Digest::of(bytes);
        if let Some(expected) = options.sha256.filter(|expected| *expected != found) {
            return Err(LoadError::Digest { expected, found });
        }
        // The compiler is the engine's largest part and its panics are not security bugs to its makers; here they end one load.
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| load(self, bytes, options))).unwrap_or(Err(LoadError::Panic))
    }
}

fn load(engine: &Engine, bytes: &[u8], options: LoadOptions) -> Result<Plugin, LoadError> {
    let mut inspection = inspect(bytes)?;
    if let Some(problem) = inspection.problems.first() {
        return Err(problem.clone());
    }
    if let Some(class) = options.class {
        inspection.class = class;
    }
    let class = inspection.class;
    check_grants(&inspection, &options)?;
    check_limits(class, &options.limits)?;
    inspection.limits = inspection.kinds.iter().map(|kind| (*kind, Limits::of(*kind, class, &options.limits))).collect();
    let settings = settings(&inspection, &options.settings)?;

    let house = engine.house(class).clone();
    let component = house.compile(inspection.digest, bytes).map_err(|error| LoadError::Compile(explain(&error)))?;
    let contract = |error: wasmtime::Error| LoadError::Contract(explain(&error));
    let setup = export(&component, "setup", "configure")?;
    let mut bound = Vec::with_capacity(inspection.kinds.len());
    for (kind, limits) in &inspection.limits {
        let function = export(&component, kind.as_str(), kind.function())?;
        bound.push(Bound { kind: *kind, limits: limits.clone(), pre: link(&component, kind.row()).map_err(contract)?, function });
    }
    // In `setup.configure` only `log` answers, whatever the kinds: one more row.
    let first = link(&component, &[crate::kind::Interface::Log]).map_err(contract)?;
    let loaded = Loaded { name: options.name, settings, setup, bound, component, inspection, house, log: engine.log().clone() };
    loaded.configure_once(&first)?;
    Ok(Plugin::new(loaded))
}

fn check_grants(inspection: &Inspection, options: &LoadOptions) -> Result<(), LoadError> {
    let missing = inspection.needs.iter().find(|capability| !options.capabilities.contains(capability));
    missing.map_or(Ok(()), |capability| {
        let of = |name: &str| name.contains(&format!("/{}@", capability.as_str()));
        let import = inspection.imports.iter().find(|import| of(&import.name)).map(|import| import.name.clone());
        Err(LoadError::NotGranted { import: import.unwrap_or_default(), capability: *capability })
    })
}

fn check_limits(class: Class, limits: &LimitOverrides) -> Result<(), LoadError> {
    match limits.memory.filter(|memory| *memory > class.memory_cap()) {
        Some(value) => Err(LoadError::Limit { name: "memory", value, most: class.memory_cap(), class }),
        None => Ok(()),
    }
}

fn settings(inspection: &Inspection, settings: &Json) -> Result<String, LoadError> {
    let text = settings.canonical();
    if settings.as_object().is_none() || text.len() > MAX_SETTINGS_BYTES {
        return Err(LoadError::SettingsForm);
    }
    if let Some(schema) = &inspection.settings_schema {
        let schema = Schema::compile(schema).map_err(|error| LoadError::SettingsSchema(error.to_string()))?;
        schema.check(settings).map_err(|error| LoadError::SettingsMismatch(error.to_string()))?;
    }
    Ok(text)
}

/// A function of one of the contract's exported interfaces, in whichever version of the track the component has it.
fn export(component: &Component, interface: &str, function: &str) -> Result<ComponentExportIndex, LoadError> {
    let missing = || LoadError::Contract(format!("`{interface}` has no function `{function}`"));
    let full = format!("{}/{interface}@{}", crate::kind::PACKAGE, crate::kind::CONTRACT_VERSION);
    let instance = component.get_export_index(None, full.as_str()).ok_or_else(missing)?;
    component.get_export_index(Some(&instance), function).ok_or_else(missing)
}

/// For the operator who loads it, a failure with its text.
fn said(failure: &Failure) -> String {
    failure.text.as_ref().map_or_else(|| failure.to_string(), |text| format!("{failure}, {text}"))
}

fn explain(error: &wasmtime::Error) -> String {
    one_line(&format!("{error:#}"), 500)
}

impl Plugin {
    /// Whether it is of that kind.
    #[must_use]
    pub fn is(&self, kind: Kind) -> bool {
        self.kinds().contains(&kind)
    }
}
