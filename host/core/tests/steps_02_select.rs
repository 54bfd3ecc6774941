//! Step 2: a tool that a filter hides fails exactly like an unknown one (PO-7).

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test that cannot go on must fail where it stands")]

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use callgate_core::extension::Visibility;
use callgate_core::model::{CallOptions, Error, ToolCall};
use callgate_core::policy::Glob;
use callgate_core::revision::Scope;
use support::*;

/// All that a caller can tell of an error.
fn told(error: &Error) -> String {
    format!("{:?} {:?} {:?} {} {:?} {error} {error:?}", error.kind, error.reason, error.sent, error.data, error.message)
}

fn hiding(how: &'static str) -> World {
    let hide = move |tool: &callgate_core::model::Tool| match how {
        "says hidden" if tool.name() == "secret" => Ok(Visibility::Hidden),
        "fails" if tool.name() == "secret" => Err(broke()),
        "panics" if tool.name() == "secret" => panic!("a filter breaks"),
        _ => Ok(Visibility::Visible),
    };
    let server = Server::with([definition("read", ""), definition("secret", "")]);
    Setup::policy(server, allowing()).with(|revision| revision.filters.push(filter("hide", hide))).build()
}

#[tokio::test]
async fn unknown_equals_hidden_byte_for_byte() {
    let unknown = Setup::policy(Server::new(), allowing()).build();
    let unknown = told(&unknown.error(call("secret", "{}")).await);
    for how in ["says hidden", "fails", "panics"] {
        let world = hiding(how);
        assert_eq!(told(&world.error(call("secret", "{}")).await), unknown, "{how}");
        let resolved = world.pipeline.list_all_tools().await.unwrap().into_iter().find(|tool| tool.name() == "secret").unwrap();
        assert_eq!(told(&world.error(ToolCall::of(resolved, args("{}"))).await), unknown, "{how}, resolved before");
        let for_llm = call("secret", "{}").with(CallOptions::default().for_llm());
        assert_eq!(told(&world.error(for_llm).await), unknown, "{how}, for a model");
        assert!(world.server.rounds().is_empty(), "{how}");
        assert_eq!(world.said().await, "ok", "{how}: the others are there");
    }
}

#[tokio::test]
async fn odd_names_are_told_the_same_way() {
    let world = hiding("says hidden");
    for name in ["", "\u{202e}x", "a\nb", &"x".repeat(1_000)] {
        let error = world.error(call(name, "{}")).await;
        assert!(error.message.len() < 200 && error.message.is_ascii(), "{}", error.message);
    }
}

#[tokio::test]
async fn lists_omit_hidden_tools() {
    for how in ["says hidden", "fails", "panics"] {
        let world = hiding(how);
        let names = |tools: Vec<Arc<callgate_core::model::Tool>>| tools.iter().map(|tool| tool.name().to_owned()).collect::<Vec<_>>();
        assert_eq!(names(world.pipeline.list_tools(&CallOptions::default()).await.unwrap()), ["read"], "{how}");
        assert_eq!(names(world.pipeline.list_all_tools().await.unwrap()), ["read", "secret"], "{how}");
    }
}

#[tokio::test]
async fn all_filters_must_say_visible_and_all_are_asked() {
    for (name, answers, visible) in
        [("both", [true, true], true), ("first hides", [false, true], false), ("second hides", [true, false], false)]
    {
        let asked = Arc::new(AtomicUsize::new(0));
        let setup = Setup::policy(Server::new(), allowing()).with(|revision| {
            for answer in answers {
                let asked = asked.clone();
                revision.filters.push(filter("f", move |_| {
                    asked.fetch_add(1, Ordering::Relaxed);
                    Ok(if answer { Visibility::Visible } else { Visibility::Hidden })
                }));
            }
        });
        let world = setup.build();
        assert_eq!(world.said().await == "ok", visible, "{name}");
        assert_eq!(asked.load(Ordering::Relaxed), 2, "{name}: what hid it cannot be told from the time it took");
        asked.store(0, Ordering::Relaxed);
        world.error(call("nobody-knows", "{}")).await;
        assert_eq!(asked.load(Ordering::Relaxed), 2, "{name}: they run for unknown names, too");
    }
}

#[tokio::test]
async fn a_filter_runs_once_per_tool_and_listing() {
    let asked = Arc::new(AtomicUsize::new(0));
    let counting = asked.clone();
    let server = Server::with([definition("a", ""), definition("b", ""), definition("c", "")]);
    let setup = Setup::new(server).with(|revision| {
        revision.filters.push(filter("f", move |_| {
            counting.fetch_add(1, Ordering::Relaxed);
            Ok(Visibility::Visible)
        }));
    });
    setup.build().pipeline.list_tools(&CallOptions::default()).await.unwrap();
    assert_eq!(asked.load(Ordering::Relaxed), 3);
}

#[tokio::test]
async fn a_filter_out_of_scope_says_nothing() {
    for (server, tool, hidden) in [("files", "read", true), ("f*", "*", true), ("mail", "read", false), ("files", "write*", false)] {
        let scope = Scope { server: Some(Glob::new(server).unwrap()), tool: Some(Glob::new(tool).unwrap()) };
        let mut entry = filter("hide", |_| Ok(Visibility::Hidden));
        entry.scope = scope;
        let world = Setup::policy(Server::new(), allowing()).with(|revision| revision.filters.push(entry)).build();
        assert_eq!(world.said().await != "ok", hidden, "{server} {tool}");
    }
}

#[tokio::test]
async fn nothing_runs_for_a_hidden_tool() {
    let world = Setup::policy(Server::new(), allowing())
        .with(|revision| {
            revision.filters.push(filter("hide", |_| Ok(Visibility::Hidden)));
            revision.pre_hooks.push(pre("never", |_| panic!("a hook sees a hidden tool")));
            revision.failure_hooks.push(on_failure("never", |_, _| panic!("a failure hook sees a hidden tool")));
        })
        .build();
    assert_eq!(world.said().await, "not_found/unknown_tool/no");
    assert_eq!(world.events(), ["baseline 1", "select hide hidden", "stop not_found/unknown_tool/no"]);
}
