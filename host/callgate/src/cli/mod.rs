//! What the command understands, a file for each subcommand.

mod answers;
mod call;
mod config;
mod demo;
mod demo_server;
mod exit;
mod grants;
mod init;
mod output;
mod pins;
mod plugin;
mod rows;
mod setup;
mod terminal;
mod tools;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand, ValueEnum};
use tokio::signal::unix::{SignalKind, signal};

pub(crate) use exit::Failed;
pub(crate) use output::say;

/// Governs what AI agents may do through MCP tools.
#[derive(Debug, Parser)]
#[command(version, about, max_term_width = 120)]
pub(crate) struct Arguments {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

/// What every subcommand takes.
#[derive(Clone, Debug, Args)]
pub(crate) struct Global {
    /// The configuration [default: callgate/callgate.toml in the user's configuration folder]. Never taken from the working folder.
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    /// How to print.
    #[arg(long, global = true, value_enum, default_value_t)]
    format: Format,
    /// Loads plugins that have no `sha256`.
    #[arg(long, global = true)]
    dev: bool,
    /// Says more on standard error; twice for every step's events.
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    verbose: u8,
}

/// How to print.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people.
    #[default]
    Text,
    /// One JSON object on standard output.
    Json,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Writes a starter configuration from a server's real tool list.
    Init(init::Init),
    /// Calls a tool through the pipeline.
    Call(call::Call),
    /// Lists a server's tools.
    Tools(tools::Tools),
    /// Standing approvals.
    #[command(subcommand)]
    Grants(grants::Grants),
    /// Approved definitions of tools.
    #[command(subcommand)]
    Pins(pins::Pins),
    /// The configuration.
    #[command(subcommand)]
    Config(config::Config),
    /// Plugins.
    #[command(subcommand)]
    Plugin(plugin::Plugin),
    /// Shows a governed call in nine scenes, through a real server.
    Demo(demo::Demo),
    /// The server of the demo.
    #[command(hide = true)]
    DemoServer(demo_server::DemoServer),
}

/// Runs a subcommand; the one place that turns an error into an exit code.
pub(crate) async fn run(arguments: Arguments) -> ExitCode {
    let Arguments { global, command } = arguments;
    let done = tokio::select! {
        // The command first: what it does before it waits, such as reading standard input, a signal ends as it ends any process.
        biased;
        done = command.run(&global) => done,
        signal = stopped() => Err(Failed::Stopped(format!("stopped by {signal}; whether a call was sent is not known"))),
    };
    done.map_or_else(|failed| failed.report(&global), |()| ExitCode::SUCCESS)
}

impl Command {
    async fn run(self, global: &Global) -> Result<(), Failed> {
        match self {
            Command::Init(init) => init.run(global).await,
            Command::Call(call) => call.run(global).await,
            Command::Tools(tools) => tools.run(global).await,
            Command::Grants(grants) => grants.run(global).await,
            Command::Pins(pins) => pins.run(global).await,
            Command::Config(config) => config.run(global),
            Command::Plugin(plugin) => plugin.run(global),
            Command::Demo(demo) => demo.run(global).await,
            Command::DemoServer(server) => server.run(),
        }
    }
}

/// Waits for SIGINT or SIGTERM. A server is in a process group of its own, which neither reaches: the runtime's end kills it.
async fn stopped() -> &'static str {
    match (signal(SignalKind::interrupt()), signal(SignalKind::terminate())) {
        (Ok(mut interrupt), Ok(mut terminate)) => tokio::select! {
            _ = interrupt.recv() => "SIGINT",
            _ = terminate.recv() => "SIGTERM",
        },
        _ => std::future::pending().await,
    }
}

/// Reads the command line. Where it asks for JSON, what is wrong with it is one object on standard output, too.
pub(crate) fn arguments() -> Result<Arguments, ExitCode> {
    Arguments::try_parse().map_err(|error| {
        let _reader_gone = error.print();
        let words: Vec<String> = std::env::args().collect();
        let wants_json = words.iter().any(|word| word == "--format=json") || words.windows(2).any(|pair| pair == ["--format", "json"]);
        if error.use_stderr() && wants_json {
            let text = error.to_string();
            let what = text.lines().next().unwrap_or_default().trim_start_matches("error: ");
            output::line(&Failed::Usage(what.to_owned()).to_json(what));
        }
        ExitCode::from(if error.use_stderr() { 2 } else { 0 })
    })
}

/// Logs go to standard error only: standard output is the answer.
pub(crate) fn log(arguments: &Arguments) {
    let default = match arguments.global.verbose {
        0 => "error",
        1 => "info",
        _ => "debug",
    };
    let filter = tracing_subscriber::EnvFilter::try_from_env("CALLGATE_LOG").unwrap_or_else(|_| default.into());
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).log_internal_errors(false).init();
}
