//! Loading and running, whatever the kind.

use std::sync::{Arc, LazyLock, Mutex};

use callgate_core::model::{Call, Failure, Metered};
use callgate_wasm::{Capability, Engine, EngineOptions, Kind, LoadError, LoadOptions, LogLine, LogSink, Plugin};

use super::{Guest, call, error, result, reviewed};

/// What plugins logged, as `plugin level text`.
#[derive(Clone, Default)]
pub(crate) struct Lines(Arc<Mutex<Vec<String>>>);

impl Lines {
    pub(crate) fn all(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }

    /// Those of one plugin.
    pub(crate) fn of(&self, plugin: &str) -> Vec<String> {
        let start = format!("{plugin} ");
        self.all().iter().filter_map(|line| line.strip_prefix(&start)).map(str::to_owned).collect()
    }
}

impl LogSink for Lines {
    fn write(&self, line: LogLine<'_>) {
        self.0.lock().unwrap().push(format!("{} {} {}", line.plugin, line.level.as_str(), line.text));
    }
}

/// One engine for a test program, and its log.
pub(crate) fn engine() -> &'static (Engine, Lines) {
    static ENGINE: LazyLock<(Engine, Lines)> = LazyLock::new(|| {
        let lines = Lines::default();
        let options = EngineOptions { log: Arc::new(lines.clone()), ..EngineOptions::default() };
        (Engine::new(&options).unwrap(), lines)
    });
    &ENGINE
}

/// Loads bytes under these options, with every capability.
pub(crate) fn load(bytes: &[u8], options: LoadOptions) -> Result<Plugin, LoadError> {
    engine().0.load(bytes, LoadOptions { capabilities: vec![Capability::Prompt], ..options })
}

/// Loads a guest that must load.
pub(crate) fn plugin(guest: &Guest) -> Plugin {
    load(&guest.bytes(), LoadOptions::new("guest")).unwrap_or_else(|error| panic!("{error}"))
}

/// How an invocation ended, for comparing.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Outcome {
    /// The answer as its debug text, or the failure as `kind` or `kind (limit)`.
    pub(crate) said: Result<String, String>,
    pub(crate) text: Option<String>,
    pub(crate) fuel: Option<u64>,
    pub(crate) note: Option<String>,
}

impl<T: std::fmt::Debug> From<Metered<T>> for Outcome {
    fn from(metered: Metered<T>) -> Self {
        let text = metered.answer.as_ref().err().and_then(|failure: &Failure| failure.text.clone());
        let said = metered.answer.map(|answer| format!("{answer:?}")).map_err(|failure| failure.to_string());
        Self { said, text, fuel: metered.fuel, note: metered.note }
    }
}

/// Runs a plugin as one of its kinds, about a call of `read_file`.
pub(crate) fn invoke(plugin: &Plugin, kind: Kind) -> Outcome {
    about(plugin, kind, &call(r#"{"path":"/srv/a"}"#))
}

pub(crate) fn about(plugin: &Plugin, kind: Kind, call: &Call) -> Outcome {
    match kind {
        Kind::Filter => plugin.filter().unwrap().visible(&call.tool, &call.context).into(),
        Kind::Predicate => plugin.predicate().unwrap().matches(call).into(),
        Kind::PreHook => plugin.pre_hook().unwrap().on_call(call).into(),
        Kind::PostHook => plugin.post_hook().unwrap().on_result(call, &result("fine")).into(),
        Kind::FailureHook => plugin.failure_hook().unwrap().on_failure(call, &error()).into(),
        Kind::Approver => reviewed(plugin, None),
    }
}
