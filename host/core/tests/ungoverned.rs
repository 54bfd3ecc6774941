//! A call goes through the pipeline where something governs it or it is to be shaped; else it is sent as given (R6).

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test that cannot go on must fail where it stands")]

mod support;

use callgate_core::extension::{FailureOutcome, PostOutcome, PreOutcome, Verdict, Visibility};
use callgate_core::model::{CallOptions, Error, Kind, Reason};
use callgate_core::revision::{Revision, Validate};
use support::*;

#[tokio::test]
async fn sent_as_given_without_listing() {
    let world = Setup::new(Server::with([]).host_meta(object(r#"{"h":1}"#))).build();
    let options = CallOptions { meta: object(r#"{"com.example/x":1,"progressToken":"mine"}"#), ..CallOptions::default() };
    let reply = world.reply(call("not listed", r#"{"b":1,"a":2}"#).with(options)).await;
    assert_eq!(reply, done("ok"));
    assert_eq!(world.server.rounds(), [r#"{"name":"not listed","arguments":{"a":2,"b":1},"_meta":{"com.example/x":1,"h":1}}"#]);
    assert_eq!(world.server.listings(), 0);
    assert_eq!(world.events(), ["stop result"]);
}

#[tokio::test]
async fn an_approver_alone_governs_nothing() {
    let world = Setup::new(Server::new()).with(|revision| revision.approver = Some(approver(Verdict::Deny(no("x"))))).build();
    assert_eq!(world.said().await, "ok");
    assert_eq!(world.server.listings(), 0);
}

#[tokio::test]
async fn the_pipeline_is_entered_by_each_of() {
    type Change = fn(&mut Revision);
    let cases: [(&str, Change); 6] = [
        ("policy", |revision| revision.policy = Some(allowing())),
        ("a filter", |revision| revision.filters.push(filter("f", |_| Ok(Visibility::Visible)))),
        ("a pre-hook", |revision| revision.pre_hooks.push(pre("p", |_| Ok(PreOutcome::Proceed)))),
        ("a post-hook", |revision| revision.post_hooks.push(post("p", |_, _| Ok(PostOutcome::Keep)))),
        ("a failure hook", |revision| revision.failure_hooks.push(on_failure("f", |_, _| Ok(FailureOutcome::Keep)))),
        ("validate", |revision| revision.validate = Some(Validate::default())),
    ];
    for (name, change) in cases {
        let world = Setup::new(Server::new()).with(change).build();
        assert_eq!(world.said().await, "ok", "{name}");
        assert_eq!(world.server.listings(), 1, "{name}");
        assert_eq!(said(&world.run(call("not listed", "{}")).await), "not_found/unknown_tool/no", "{name}");
    }
    let world = Setup::new(Server::new()).build();
    let for_llm = |name| call(name, "{}").with(CallOptions::default().for_llm());
    assert_eq!(said(&world.run(for_llm("read")).await), "ok");
    assert_eq!(said(&world.run(for_llm("not listed")).await), "not_found/unknown_tool/no", "shape: llm");
    assert_eq!(said(&world.run(call("not listed", "{}")).await), "ok", "by call, not for good");
}

#[tokio::test]
async fn what_still_counts() {
    let server = Server::new();
    server.refuse(Error::new(Kind::Transport, Reason::NotConnected, "x"));
    assert_eq!(Setup::new(server).build().said().await, "transport/not_connected/no");
    let world = Setup::new(Server::new()).build();
    let cancelled = call("read", "{}");
    cancelled.options.cancel.cancel();
    assert_eq!(said(&world.run(cancelled).await), "transport/cancelled/no");
    let world = Setup::new(Server::new().replies([input_required(r#""inputRequests":{"r":{"method":"roots/list"}}"#)])).build();
    assert_eq!(world.said().await, "upstream/input_refused/unknown", "input rounds pass their gate");
    let world = Setup::new(Server::new().replies([input_required(r#""requestState":"s""#)])).build();
    assert_eq!(world.said().await, "ok");
    assert_eq!(world.server.rounds().len(), 2);
}
