//! `callgate call`

use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;

use callgate::core::json::Json;
use callgate::core::model::{Arguments, CallId, CallOptions, Error, Principal, Progress, ProgressSink, Shape, ToolCall};
use callgate::core::shape::show_text;
use callgate::core::upstream::InputKinds;
use callgate::core::{Step, Traced};
use clap::Args;

use super::answers::Answers;
use super::{Failed, Format, Global, output, setup};

/// Bytes that arguments on standard input may have.
const MAX_INPUT_BYTES: u64 = 4 << 20;

/// Calls a tool through the pipeline.
#[derive(Debug, Args)]
pub(crate) struct Call {
    /// The server, as the configuration names it.
    server: String,
    /// The tool.
    tool: String,
    /// The arguments, a JSON object; `-` reads standard input [default: {}]
    json: Option<String>,
    /// Who calls. Grants are given to and used by a principal only.
    #[arg(long, value_name = "NAME")]
    principal: Option<String>,
    /// A server whose output led to this call; may be repeated.
    #[arg(long, value_name = "SERVER")]
    taint: Vec<String>,
    /// A value for hooks, approver and policy, as JSON or else as text; may be repeated.
    #[arg(long, value_name = "KEY=VALUE", value_parser = assign)]
    assign: Vec<(String, Json)>,
    /// Shapes the result for a language model.
    #[arg(long)]
    llm: bool,
    /// Shows what each step said.
    #[arg(long)]
    trace: bool,
    /// Answers to the server's requests for input, a JSON file.
    #[arg(long, value_name = "FILE")]
    answers: Option<PathBuf>,
}

impl Call {
    pub(crate) async fn run(self, global: &Global) -> Result<(), Failed> {
        // Before anything is awaited: while standard input is read, a signal must still end the process.
        let arguments = self.arguments()?;
        let handler = self.answers.as_deref().map(Answers::read).transpose().map_err(Failed::Usage)?;
        let host = setup::host(global)?;
        let name = setup::server(&host, &self.server)?;
        let client = setup::client(&host, &name, handler.map(Arc::new)).await?;
        let traced = match arguments {
            Ok(arguments) => client.pipeline().run_traced(ToolCall::new(&*self.tool, arguments).with(self.options(global))).await,
            Err(error) => refused(error, &client.pipeline().revision().id),
        };
        self.print(&traced, global);
        setup::close(&host).await;
        traced.outcome.map(drop).map_err(Failed::Call)
    }

    fn arguments(&self) -> Result<Result<Arguments, Error>, Failed> {
        let text = match self.json.as_deref() {
            Some("-") => {
                let mut text = String::new();
                let read = std::io::stdin().take(MAX_INPUT_BYTES + 1).read_to_string(&mut text);
                read.map_err(|error| Failed::Usage(format!("standard input cannot be read: {error}")))?;
                text
            }
            Some(text) => text.to_owned(),
            None => "{}".to_owned(),
        };
        Ok(Arguments::parse(text.trim()).map_err(Error::from))
    }

    fn options(&self, global: &Global) -> CallOptions {
        CallOptions {
            progress: (global.format == Format::Text).then(|| ProgressSink::new(|notice| output::say(&told(&notice)))),
            principal: self.principal.as_ref().map(|name| Principal::new("cli", name)),
            taint: self.taint.iter().cloned().collect(),
            assigns: (!self.assign.is_empty()).then(|| Arc::new(self.assign.iter().cloned().collect())),
            shape: if self.llm { Shape::Llm } else { Shape::Raw },
            ..CallOptions::default()
        }
    }

    fn print(&self, traced: &Traced, global: &Global) {
        if global.format == Format::Json {
            output::line(&output::call_json(traced, self.trace));
            return;
        }
        if self.trace {
            output::say(&output::table(&traced.steps).trim_end());
        }
        if let Ok(reply) = &traced.outcome {
            output::reply(reply);
            if reply.is_error() {
                output::say(&"callgate: the tool itself failed");
            }
        }
    }
}

/// What a server says of its progress, for a person who waits.
fn told(notice: &Progress) -> String {
    let of = notice.total.map(|total| format!(" of {total}")).unwrap_or_default();
    let words = notice.message.as_ref().map(|message| format!(": {}", show_text(message))).unwrap_or_default();
    format!("progress {}{of}{words}", notice.progress)
}

/// Arguments that cannot be read end the call before its first step.
fn refused(error: Error, revision: &str) -> Traced {
    let step = Step {
        step: "arguments",
        verdict: error.reason.as_str(),
        plugin: None,
        fuel: None,
        duration: std::time::Duration::ZERO,
        note: None,
    };
    Traced { call_id: CallId::fresh(), revision: revision.to_owned(), outcome: Err(error), steps: vec![step] }
}

fn assign(text: &str) -> Result<(String, Json), String> {
    let (key, value) = text.split_once('=').ok_or("KEY=VALUE is expected")?;
    Ok((key.to_owned(), Json::parse(value).unwrap_or_else(|_| value.into())))
}

/// No kinds of input, where there is nobody to answer.
pub(crate) fn kinds(handler: Option<&Arc<Answers>>) -> InputKinds {
    handler.map(|handler| callgate::core::handler::Handler::kinds(&**handler)).unwrap_or_default()
}
