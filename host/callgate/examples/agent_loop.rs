//! A complete agent loop over one governed server.
//!
//! A model would be given the visible tools and choose a call; here a script stands in its place, so that the example runs anywhere:
//!
//! ```sh
//! cargo run -p callgate --example agent_loop -- target/debug/callgate demo-server
//! ```
//!
//! The loop does what every loop must: it shows the model only what is visible, tells it denials in a form that it can use, stops where a
//! person says stop, and remembers which servers' output is in the turn.

#![expect(clippy::print_stdout, reason = "an example says what it does")]

use std::collections::BTreeSet;
use std::error::Error;
use std::sync::Arc;

use callgate::Client;
use callgate::core::extension::{PreOutcome, Refusal, Verdict, Visibility};
use callgate::core::json::Json;
use callgate::core::model::{Call, CallOptions, Context, Hint, Principal, Question, Reason, Reply, Tool};
use callgate::core::pipeline::PipelineBuilder;
use callgate::core::policy::{Condition, Glob, Policy, Rule};
use callgate::core::revision::{Entry, Revision};
use callgate::mcp::{StdioConfig, StdioServer};

/// What a model asks for next; none when it is done.
fn model(turn: usize, tools: &[Arc<Tool>]) -> Option<(&'static str, &'static str)> {
    let script = [
        ("read_note", r#"{"path":"/notes/todo.txt"}"#),
        ("read_note", r#"{"path":"/notes/.keys"}"#),
        ("delete_notes", "{}"),
        ("send_mail", r#"{"to":"me@example.com","text":"done"}"#),
    ];
    println!("the model sees {} tools", tools.len());
    script.get(turn).copied()
}

fn govern() -> Result<Revision, Box<dyn Error>> {
    let hide_destructive =
        |tool: &Arc<Tool>, _context: &Arc<Context>| Ok(if tool.hint(Hint::Destructive) { Visibility::Hidden } else { Visibility::Visible });
    let no_dotfiles = |call: &Call| {
        let path = call.arguments.value().get("path").and_then(Json::as_str).unwrap_or_default();
        let hidden = path.split('/').any(|part| part.starts_with('.'));
        Ok(if hidden { PreOutcome::Deny(Refusal::new("dotfile", "hidden files stay hidden")) } else { PreOutcome::Proceed })
    };
    // A real approver asks a person; this one says no to mail and yes to the rest.
    let approver = |call: Call, _question: Arc<Question>| async move {
        let mail = call.tool.name() == "send_mail";
        Ok(if mail { Verdict::DenyAndHalt(Refusal::new("no_mail", "no mail from agents")) } else { Verdict::AllowOnce })
    };
    let allow = Rule::new("reading", Condition::Tool(Glob::new("read_*")?));
    Ok(Revision {
        id: "example".to_owned(),
        filters: vec![Entry::trusted("hide-destructive", Arc::new(hide_destructive))],
        pre_hooks: vec![Entry::trusted("no-dotfiles", Arc::new(no_dotfiles))],
        policy: Some(Policy { allow: vec![allow], ..Policy::default() }),
        approver: Some(Entry::trusted("approver", Arc::new(approver))),
        ..Revision::default()
    })
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let command: Vec<String> = std::env::args().skip(1).collect();
    if command.is_empty() {
        return Err("name a server's command, such as: target/debug/callgate demo-server".into());
    }
    let server = Arc::new(StdioServer::new(StdioConfig::new("notebook".parse()?, command)));
    let pipeline = PipelineBuilder::new(server.clone()).revision(govern()?).trust_annotations(true).build();
    let client = Client::new(pipeline);
    let mut taint = BTreeSet::new();
    for turn in 0.. {
        let options = CallOptions::default().principal(Principal::new("example", "alice")).taint(taint.clone()).for_llm();
        let tools = client.list_tools(&options).await?;
        let Some((name, arguments)) = model(turn, &tools) else { break };
        println!("the model calls {name} {arguments}");
        match client.call_tool(name, arguments, options).await {
            Ok(reply) => {
                taint.insert("notebook".to_owned());
                println!("  {}", told(&reply));
            }
            Err(error) if error.reason == Reason::AskHalt => {
                println!("  stopped: {}", error.message);
                break;
            }
            Err(error) => println!("  {} ({}, sent: {})", error.message, error.reason.as_str(), error.sent.as_str()),
        }
    }
    server.shutdown().await;
    Ok(())
}

fn told(reply: &Reply) -> String {
    reply.value().to_string()
}
