//! `callgate demo`: a governed call in nine scenes, through a real server that is a child process.

mod scenes;

use std::collections::VecDeque;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use callgate::config::Config;
use callgate::core::Traced;
use callgate::core::extension::{PromptError, PromptRequest, Prompter, Refusal, Verdict};
use callgate::core::model::{Arguments, CallId, CallOptions, GrantTerms, Principal, ToolCall};
use callgate::core::upstream::InputKinds;
use callgate::{Client, Host, HostOptions};
use clap::Args;

use super::{Failed, Global, output};

/// Shows a governed call in nine scenes, through a real server.
#[derive(Debug, Args)]
pub(crate) struct Demo {
    /// Where the built plugins lie [default: the folder named by CALLGATE_PLUGINS, else target/plugins].
    #[arg(long, value_name = "FOLDER")]
    plugins: Option<PathBuf>,
}

impl Demo {
    pub(crate) async fn run(self, _global: &Global) -> Result<(), Failed> {
        let plugins =
            self.plugins.or_else(|| std::env::var_os("CALLGATE_PLUGINS").map(PathBuf::from)).unwrap_or_else(|| "target/plugins".into());
        let plugins = plugins.canonicalize().map_err(|error| {
            Failed::NotFound(format!("{}: the demo's plugins are not there ({error}); `make demo` builds them", plugins.display()))
        })?;
        let stage = Stage::set(&plugins)?;
        let mut failed = 0;
        let scenes = scenes::all();
        for (number, scene) in scenes.iter().enumerate() {
            failed += usize::from(!stage.play(number + 1, scene).await?);
        }
        stage.clear().await;
        output::line(&format!("{} of {} scenes came out as stated.", scenes.len() - failed, scenes.len()));
        if failed == 0 { Ok(()) } else { Err(Failed::Other(format!("{failed} scenes came out otherwise"))) }
    }
}

/// One scene: what a person answers, what is called, and what must come out.
struct Scene {
    title: &'static str,
    /// What a person at the terminal would say, in this order.
    answers: Vec<Verdict>,
    /// Whether the server offers the changed definition.
    changed: bool,
    calls: Vec<Line>,
}

/// One call in a scene.
struct Line {
    tool: &'static str,
    arguments: &'static str,
    taint: &'static [&'static str],
    llm: bool,
    expected: Expected,
}

/// What must come out of a call.
enum Expected {
    /// A result whose JSON holds this, and not that.
    Result { holds: &'static str, lacks: Option<char> },
    /// An error of this kind and reason, which was not sent.
    Error { kind: &'static str, reason: &'static str },
}

/// A folder of its own, a configuration in it, and the server.
struct Stage {
    folder: PathBuf,
    host: Host,
}

impl Stage {
    fn set(plugins: &Path) -> Result<Self, Failed> {
        // A name that nobody can have taken before, for its owner only: the server's command line is written there.
        let folder = std::env::temp_dir().join(format!("callgate-demo-{}", CallId::fresh()));
        let program = std::env::current_exe().map_err(|error| Failed::Other(error.to_string()))?;
        let made = DirBuilder::new().mode(0o700).create(&folder);
        made.map_err(|error| Failed::Other(format!("{}: {error}", folder.display())))?;
        let text = scenes::configuration(&program, plugins, &folder);
        let file = folder.join("callgate.toml");
        std::fs::write(&file, text).map_err(|error| Failed::Other(format!("{}: {error}", file.display())))?;
        let config = Config::read(&file).map_err(|error| Failed::Config(error.to_string()))?;
        Ok(Self { folder, host: Host::new(config, HostOptions { dev: true }) })
    }

    async fn play(&self, number: usize, scene: &Scene) -> Result<bool, Failed> {
        let marker = self.folder.join("changed");
        if scene.changed {
            std::fs::write(&marker, "").map_err(|error| Failed::Other(error.to_string()))?;
        }
        let person = Arc::new(Person(Mutex::new(scene.answers.clone().into())));
        let Some(name) = self.host.config().servers.keys().next() else { return Ok(false) };
        let builder = self.host.pipeline(name, InputKinds::default()).await.map_err(|error| Failed::Config(error.to_string()))?;
        let client = Client::new(builder.prompter(person).build());
        output::line(&format!("{number}. {}\n", scene.title));
        let mut as_stated = true;
        for line in &scene.calls {
            as_stated &= line.play(&client).await?;
        }
        self.host.shutdown().await;
        Ok(as_stated)
    }

    async fn clear(&self) {
        self.host.shutdown().await;
        let _best_effort = std::fs::remove_dir_all(&self.folder);
    }
}

impl Line {
    async fn play(&self, client: &Client) -> Result<bool, Failed> {
        let options = CallOptions::default().principal(Principal::new("cli", "alice")).taint(self.taint.iter().copied());
        let options = if self.llm { options.for_llm() } else { options };
        let arguments = Arguments::parse(self.arguments).map_err(|error| Failed::Other(error.to_string()))?;
        let traced = client.pipeline().run_traced(ToolCall::new(self.tool, arguments).with(options)).await;
        let taint = if self.taint.is_empty() { String::new() } else { format!("  (tainted by {})", self.taint.join(", ")) };
        output::line(&format!("   {} {}{taint}", self.tool, self.arguments));
        output::line(&output::table(&traced.steps).trim_end());
        output::line(&format!("   => {}", told(&traced)));
        let as_stated = self.expected.is_met(&traced);
        output::line(&format!("   {}\n", if as_stated { "as stated" } else { "NOT as stated" }));
        Ok(as_stated)
    }
}

fn told(traced: &Traced) -> String {
    match &traced.outcome {
        Ok(reply) => callgate::core::shape::show_json(&reply.value().to_string()),
        Err(error) => callgate::core::shape::show_text(&error.to_string()),
    }
}

impl Expected {
    fn is_met(&self, traced: &Traced) -> bool {
        match (self, &traced.outcome) {
            (Expected::Result { holds, lacks }, Ok(reply)) => {
                let text = reply.value().to_string();
                text.contains(holds) && !lacks.is_some_and(|character| text.contains(character))
            }
            (Expected::Error { kind, reason }, Err(error)) => {
                error.kind.as_str() == *kind && error.reason.as_str() == *reason && error.sent.as_str() == "no"
            }
            _ => false,
        }
    }
}

/// The person at the terminal, for the length of a demo.
struct Person(Mutex<VecDeque<Verdict>>);

#[async_trait]
impl Prompter for Person {
    async fn ask(&self, request: PromptRequest) -> Result<Verdict, PromptError> {
        let verdict = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop_front().ok_or(PromptError::Unanswered)?;
        output::line(&format!("   a person is asked: {}  and says: {}", request.headline, verdict.as_str()));
        Ok(verdict)
    }
}

fn always() -> Verdict {
    Verdict::AllowAlways(GrantTerms::default())
}

fn no(why: &str) -> Verdict {
    Verdict::Deny(Refusal::new("person", why))
}
