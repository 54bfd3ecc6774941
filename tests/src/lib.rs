//! The harness of the end-to-end tests: a folder, a configuration in it, and the command run as a user would.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on must fail where it stands"
)]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::Value;

/// A folder of one test, gone when it ends.
pub struct Folder(PathBuf);

/// How a run of the command ended.
#[derive(Debug)]
pub struct Ran {
    /// The exit code.
    pub code: i32,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl Folder {
    /// A new, empty folder.
    #[must_use]
    pub fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("callgate-e2e-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::SeqCst));
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder.canonicalize().unwrap())
    }

    /// A path in it.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Writes a file in it.
    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    /// Writes the configuration: `[server.s]` with this command, and the rest.
    pub fn configure(&self, command: &[&str], rest: &str) {
        let command = serde_json::to_string(command).unwrap();
        // What stands before the first table of `rest` belongs to the top level.
        let (top, tables) = rest
            .find('[')
            .filter(|at| rest.get(..*at).is_some_and(|before| before.is_empty() || before.ends_with('\n')))
            .map_or((rest, ""), |at| rest.split_at(at));
        self.write("callgate.toml", format!("{top}\n[server.s]\ncommand = {command}\n{tables}\n"));
    }

    /// The command, in this folder's configuration, with a state of its own, without a terminal.
    #[must_use]
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(callgate());
        command.arg("--config").arg(self.path("callgate.toml")).arg("--dev").args(arguments);
        command.env("XDG_STATE_HOME", self.path("state")).env("XDG_CONFIG_HOME", self.path("config")).env_remove("CALLGATE_LOG");
        command.stdin(Stdio::null());
        command
    }

    /// Runs the command.
    #[must_use]
    pub fn run(&self, arguments: &[&str]) -> Ran {
        let output = self.command(arguments).output().unwrap();
        Ran {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Calls a tool of `[server.s]` and gives the exit code and the one object of standard output.
    #[must_use]
    pub fn call(&self, tool: &str, arguments: &str, options: &[&str]) -> (i32, Value) {
        let mut words = vec!["--format", "json", "call", "s", tool, arguments];
        words.extend(options);
        let ran = self.run(&words);
        (ran.code, ran.json())
    }
}

impl Default for Folder {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _best_effort = std::fs::remove_dir_all(&self.0);
    }
}

impl Ran {
    /// The one JSON object of standard output.
    #[must_use]
    pub fn json(&self) -> Value {
        assert_eq!(self.stdout.lines().count(), 1, "one object on one line: {self:?}");
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// The project's folder.
#[must_use]
pub fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// The built command.
#[must_use]
pub fn callgate() -> PathBuf {
    let built = std::env::current_exe().unwrap().ancestors().nth(2).unwrap().join("callgate");
    let path = std::env::var_os("CALLGATE_BIN").map_or(built, PathBuf::from);
    assert!(path.is_file(), "{} is not built: cargo build --workspace", path.display());
    path
}

/// A built plugin.
#[must_use]
pub fn plugin(name: &str) -> String {
    let path = project().join("target/plugins").join(format!("{name}.wasm"));
    assert!(path.is_file(), "{} is not built: make plugins polyglot", path.display());
    path.display().to_string()
}

/// A program of the installed servers.
#[must_use]
pub fn server(name: &str) -> String {
    let folder = project().join(".toolchain/servers");
    let found = [folder.join("node_modules/.bin").join(name), folder.join("venv/bin").join(name)].into_iter().find(|path| path.exists());
    found.unwrap_or_else(|| panic!("{name} is not installed: make servers")).display().to_string()
}

/// Processes whose command line holds this text: nothing may outlive a command.
#[must_use]
pub fn processes(marker: &str) -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
    let holds = |pid: &u32| {
        *pid != std::process::id()
            && std::fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| String::from_utf8_lossy(&line).contains(marker))
    };
    entries.filter(holds).collect()
}
