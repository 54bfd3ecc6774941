//! `callgate init`: a starter configuration from a server's real tool list.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use callgate::core::digest::Digest;
use callgate::core::model::{Hint, ServerName, Tool};
use callgate::core::pipeline::PipelineBuilder;
use callgate::core::shape::show_text;
use callgate::mcp::{StdioConfig, StdioServer};
use clap::Args;

use super::{Failed, Global, output, setup};

/// Writes a starter configuration from a server's real tool list.
#[derive(Debug, Args)]
pub(crate) struct Init {
    /// The server's name in the configuration [default: from its command]
    #[arg(long)]
    name: Option<String>,
    /// Replaces a configuration that is there.
    #[arg(long)]
    force: bool,
    /// Where the reference plugins lie [default: the folder named by CALLGATE_PLUGINS].
    #[arg(long, value_name = "FOLDER")]
    plugins: Option<PathBuf>,
    /// The server's command.
    #[arg(last = true, required = true)]
    command: Vec<String>,
}

impl Init {
    pub(crate) async fn run(self, global: &Global) -> Result<(), Failed> {
        let file = setup::config_path(global)?;
        if file.exists() && !self.force {
            return Err(Failed::Usage(format!("{} is there already; --force replaces it, --config names another", file.display())));
        }
        let name: ServerName = self
            .name
            .clone()
            .unwrap_or_else(|| guess_name(&self.command))
            .parse()
            .map_err(|error| Failed::Usage(format!("{error}; name it with --name")))?;
        let server = Arc::new(StdioServer::new(StdioConfig::new(name.clone(), self.command.clone())));
        // Hints are only read here, to sort the tools for the person who will look at the file.
        let pipeline = PipelineBuilder::new(server.clone()).trust_annotations(true).build();
        let listed = pipeline.list_all_tools().await;
        server.shutdown().await;
        let text = self.text(&name, &listed?)?;
        write(&file, &text)?;
        let written = file.display().to_string();
        output::done(global, &format!("wrote {written}; read it, then try: callgate tools {name}"), ("wrote", written.as_str().into()));
        Ok(())
    }

    fn text(&self, name: &ServerName, tools: &[Arc<Tool>]) -> Result<String, Failed> {
        let folder = std::env::current_dir().map_err(|error| Failed::Other(format!("the current folder cannot be told: {error}")))?;
        let mut text = String::new();
        let mut say = |line: &str| text.push_str(&format!("{line}\n"));
        say(
            "# Callgate: what may be called, and by whose leave. `callgate config check` reads it, `callgate config schema` explains it.\n",
        );
        say(&format!("[server.{name}]"));
        say(&format!("command = [{}]", self.command.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(", ")));
        say("# Where it runs: part of its identity, as its command is.");
        say(&format!("cwd = {}", quoted(&folder.display().to_string())));
        say("# The child gets PATH, HOME and what stands here, and nothing else of the environment.");
        say("# env = { TOKEN = \"${TOKEN}\" }");
        say("# Believe the server's own annotations? They are its word; without, every hint has the worst value.");
        say("# trust_annotations = true\n");
        match self.ask_person()? {
            Some((path, digest)) => {
                say(&format!("[plugin.ask-person]\npath = {}\nsha256 = \"{digest}\"\n", quoted(&path)));
                say(
                    "[pipeline]\n# Asks on the terminal. It may pass on a person's \"always\".\napprover = { plugin = \"ask-person\", may = [\"always\"] }\n",
                );
            }
            None => {
                say("# No approver: what would be asked about is denied. `make plugins` builds `ask-person`; then:");
                say(
                    "# [plugin.ask-person]\n# path = \"ask-person.wasm\"\n# sha256 = \"...\"\n# [pipeline]\n# approver = { plugin = \"ask-person\", may = [\"always\"] }\n",
                );
            }
        }
        say("[policy]\n# deny > pin > ask > allow > default. Left out, `default` asks where there is an approver, else denies.");
        say("ask = [{ name = \"exfiltration\", all = [{ annotation = { open_world = true } }, { tainted = {} }] }]");
        say("# Tools that the server calls read-only. Look at each before you keep it.");
        say("allow = [{ name = \"read-only\", any = [");
        let (reads, writes): (Vec<_>, Vec<_>) = tools.iter().partition(|tool| tool.hint(Hint::ReadOnly));
        for tool in &reads {
            say(&format!("    {{ tool = {} }},", quoted(tool.name())));
        }
        if reads.is_empty() {
            say("    { tool = \"none-yet\" },");
        }
        say("] }]");
        if !writes.is_empty() {
            say("# Not allowed, so asked about or denied:");
            writes
                .iter()
                .for_each(|tool| say(&format!("#   {}{}", tool.name(), if tool.hint(Hint::Destructive) { " (may destroy)" } else { "" })));
        }
        Ok(text)
    }

    /// The reference approver and its digest, where it lies at hand.
    fn ask_person(&self) -> Result<Option<(String, Digest)>, Failed> {
        let folder = self.plugins.clone().or_else(|| std::env::var_os("CALLGATE_PLUGINS").map(PathBuf::from));
        let Some(path) = folder.map(|folder| folder.join("ask-person.wasm")).filter(|path| path.is_file()) else { return Ok(None) };
        let path = path.canonicalize().map_err(|error| Failed::Other(format!("{}: {error}", path.display())))?;
        let bytes = std::fs::read(&path).map_err(|error| Failed::Other(format!("{}: {error}", path.display())))?;
        Ok(Some((path.display().to_string(), Digest::of(bytes))))
    }
}

/// `npx -y @modelcontextprotocol/server-filesystem@1 /srv` is `filesystem`.
fn guess_name(command: &[String]) -> String {
    let is_runner =
        |word: &str| matches!(word, "npx" | "uvx" | "uv" | "run" | "python" | "python3" | "node" | "-m") || word.starts_with('-');
    let word = command.iter().find(|word| !is_runner(word.rsplit('/').next().unwrap_or(word))).map_or("server", String::as_str);
    let last = word.rsplit('/').next().unwrap_or(word).split('@').next().unwrap_or_default();
    let last = last.trim_end_matches(".js").trim_end_matches(".py").trim_start_matches("mcp-server-").trim_start_matches("server-");
    last.chars().filter(|character| character.is_ascii_alphanumeric() || "-_".contains(*character)).collect()
}

/// A TOML basic string.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => {
                quoted.push('\\');
                quoted.push(character);
            }
            control if control.is_control() => {
                let _infallible = write!(quoted, "\\u{:04X}", u32::from(control));
            }
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

fn write(file: &Path, text: &str) -> Result<(), Failed> {
    let failed = |error: std::io::Error| Failed::Other(format!("{} cannot be written: {}", file.display(), show_text(&error.to_string())));
    if let Some(folder) = file.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    std::fs::write(file, text).map_err(failed)
}
