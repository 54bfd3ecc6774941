//! Which server is started, and how.

use std::collections::BTreeMap;
use std::fmt::{Debug, Formatter};
use std::path::PathBuf;

use callgate_core::digest::Digest;
use callgate_core::json::Json;
use callgate_core::model::{ServerIdentity, ServerName};
use callgate_core::upstream::InputKinds;

use crate::WireLimits;

/// A server that is a child process and speaks MCP on its standard streams.
#[derive(Clone)]
pub struct StdioConfig {
    /// Its name in the configuration.
    pub name: ServerName,
    /// The program and its arguments. No shell sees them. A program without a slash is looked for in the child's `PATH`.
    pub command: Vec<String>,
    /// The child's environment. Besides it only `PATH` and `HOME` pass from this process, because `npx` and `uvx` need them;
    /// naming one here replaces it. Values may be secrets: they are never shown or digested.
    pub env: BTreeMap<String, String>,
    /// Where it runs; this process's folder where none is given.
    pub cwd: Option<PathBuf>,
    /// Which requests for input are declared to it.
    pub declared: InputKinds,
    /// What it may do to this host.
    pub limits: WireLimits,
}

impl StdioConfig {
    /// A server with nothing but a name and a command.
    #[must_use]
    pub fn new(name: ServerName, command: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            name,
            command: command.into_iter().map(Into::into).collect(),
            env: BTreeMap::new(),
            cwd: None,
            declared: InputKinds::default(),
            limits: WireLimits::default(),
        }
    }

    /// Name and digest of everything that says where calls go: transport, command line, names of the environment and folder (T4).
    pub(crate) fn identity(&self) -> ServerIdentity {
        let texts = |texts: Vec<String>| Json::Array(texts.into_iter().map(Json::from).collect());
        // Debug form: a path that is not UTF-8 must not share a digest with its lossy spelling.
        let cwd = self.cwd.as_ref().map(|path| format!("{path:?}"));
        let digested: Json = [
            ("transport", Json::from("stdio")),
            ("command", texts(self.command.clone())),
            ("env", texts(self.env.keys().cloned().collect())),
            ("cwd", cwd.into()),
        ]
        .into_iter()
        .collect();
        ServerIdentity { name: self.name.clone(), digest: Digest::of_json(&digested) }
    }
}

/// Without the environment's values.
impl Debug for StdioConfig {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StdioConfig")
            .field("name", &self.name)
            .field("command", &self.command)
            .field("env", &self.env.keys().collect::<Vec<_>>())
            .field("cwd", &self.cwd)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::StdioConfig;

    #[test]
    fn identity_covers_everything_but_values() {
        let base = StdioConfig::new("s".parse().unwrap(), ["run", "a b"]);
        let with = |edit: fn(&mut StdioConfig)| {
            let mut config = base.clone();
            edit(&mut config);
            config.identity().digest
        };
        let digest = base.identity().digest;
        assert_ne!(digest, with(|config| config.command = vec!["run".into(), "a".into(), "b".into()]));
        assert_ne!(digest, with(|config| config.cwd = Some("/".into())));
        let one = with(|config| config.env = [("KEY".to_owned(), "1".to_owned())].into());
        assert_ne!(digest, one);
        assert_eq!(one, with(|config| config.env = [("KEY".to_owned(), "2".to_owned())].into()));
        assert_eq!(digest, with(|config| config.name = "other".parse().unwrap()));
    }

    #[test]
    fn values_are_not_shown() {
        let mut config = StdioConfig::new("s".parse().unwrap(), ["run"]);
        config.env.insert("KEY".to_owned(), "hunter2".to_owned());
        let shown = format!("{config:?}");
        assert!(shown.contains("KEY") && !shown.contains("hunter2"), "{shown}");
    }
}
