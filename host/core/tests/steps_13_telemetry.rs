//! Step 13: what is told of a call: codes, names, digests and durations; arguments and results only where captured.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test that cannot go on must fail where it stands")]

mod support;

use std::sync::{Arc, Mutex};

use callgate_core::extension::{FailureOutcome, Finding, PostOutcome, PreOutcome, Verdict, Visibility};
use callgate_core::json::Json;
use callgate_core::model::{CallOptions, Failure, FailureKind, Metered};
use callgate_core::observe::{Capture, Event};
use callgate_core::pipeline::PipelineBuilder;
use callgate_core::policy::{Condition, Policy, Rule};
use support::*;

#[tokio::test]
async fn events_come_in_the_order_of_the_steps() {
    let world = Setup::policy(
        Server::new(),
        Policy { ask: vec![Rule::new("p", Condition::Predicate(predicate("predicate", |_| Ok(Finding::Match))))], ..Policy::default() },
    )
    .with(|revision| {
        revision.filters.push(filter("filter", |_| Ok(Visibility::Visible)));
        revision.pre_hooks.push(pre("pre", |_| Ok(PreOutcome::Proceed)));
        revision.post_hooks.push(post("post", |_, _| Ok(PostOutcome::Keep)));
        revision.failure_hooks.push(on_failure("failure", |_, _| Ok(FailureOutcome::Keep)));
        revision.approver = Some(approver(Verdict::AllowOnce));
    })
    .build();
    assert_eq!(world.said().await, "ok");
    assert_eq!(
        world.events(),
        [
            "baseline 1",
            "select filter visible",
            "pre_hook pre proceed",
            "policy predicate match",
            "policy ask ask_rule",
            "ask person allow_once",
            "post_hook post keep",
            "stop result",
        ]
    );
}

#[tokio::test]
async fn every_call_has_one_stop_event_with_its_outcome() {
    for (name, setup, stop) in [
        ("result", Setup::policy(Server::new(), allowing()), "stop result"),
        ("tool error", Setup::policy(Server::new().replies([json(r#"{"content":[],"isError":true}"#)]), allowing()), "stop result error"),
        ("denied", Setup::policy(Server::new(), denying()), "stop denied/deny_rule/no"),
        ("unknown", Setup::policy(Server::with([]), allowing()), "stop not_found/unknown_tool/no"),
        ("ungoverned", Setup::new(Server::new()), "stop result"),
    ] {
        let world = setup.build();
        world.said().await;
        let stops: Vec<_> = world.events().into_iter().filter(|event| event.starts_with("stop")).collect();
        assert_eq!(stops, [stop], "{name}");
        assert_eq!(world.events().last().unwrap(), stop, "{name}: it is the last");
    }
}

#[tokio::test]
async fn the_steps_are_traced_by_name() {
    let world = Setup::policy(Server::new(), allowing()).build();
    let traced = world.pipeline.run_traced(call("read", "{}").with(CallOptions::default().for_llm())).await;
    let steps: Vec<_> = traced.steps.iter().map(|step| format!("{} {}", step.step, step.verdict)).collect();
    assert_eq!(
        steps,
        [
            "resolve passed",
            "select visible",
            "fingerprint approved",
            "arguments passed",
            "policy allow",
            "encode passed",
            "send answered",
            "result passed",
            "shape unchanged"
        ]
    );
    assert_eq!(traced.revision, "r1");
}

/// Everything that can say something says SECRET.
fn secretive(capture: Capture) -> Setup {
    let secret = || Err(Failure::new(FailureKind::Trap).with_text("SECRET"));
    let server = Server::new().replies([json(r#"{"content":[{"type":"text","text":"SECRET"}],"_meta":{"SECRET":1}}"#)]);
    Setup::policy(
        server,
        Policy { ask: vec![Rule::new("p", Condition::Predicate(predicate("predicate", move |_| secret())))], ..Policy::default() },
    )
    .with(|revision| {
        revision.capture = capture;
        revision.pre_hooks.push(pre("pre", |call| {
            assert!(call.arguments.canonical().contains("SECRET"));
            Ok(PreOutcome::Ask(no("odd")))
        }));
        revision.approver = Some(approving(|_| Ok(Verdict::AllowOnce)));
        revision.post_hooks.push(post("post", |_, _| Ok(PostOutcome::Keep)));
    })
}

fn secret_call() -> callgate_core::model::ToolCall {
    let options = CallOptions { meta: object(r#"{"a":"SECRET"}"#), ..CallOptions::default() };
    call("read", r#"{"password":"SECRET"}"#).with(options.assigns([("token", "SECRET")]))
}

/// Events as an observer could write them down, without the failure's text, which is there for the operator alone.
fn without_texts(raw: &str) -> String {
    raw.replace(r#"text: Some("SECRET")"#, "text: _")
}

#[tokio::test]
async fn no_arguments_or_results_anywhere_unless_captured() {
    let world = secretive(Capture::default()).build();
    assert_eq!(said(&world.run(secret_call()).await), "ok");
    let raw = without_texts(&world.raw_events());
    assert!(!raw.contains("SECRET"), "{raw}");
    let digest = args(r#"{"password":"SECRET"}"#).digest().to_string();
    assert!(raw.contains(&digest), "the digest is there");
    for verdict in [Verdict::Deny(no("x")), Verdict::DenyAndHalt(callgate_core::extension::Refusal::new("x", "SECRET"))] {
        let world = secretive(Capture::default()).with(|revision| revision.approver = Some(approver(verdict))).build();
        world.error(secret_call()).await;
        assert!(!without_texts(&world.raw_events()).contains("SECRET"));
    }
}

#[tokio::test]
async fn captured_arguments_are_those_given_and_the_result_is_what_is_returned() {
    type Captured = (Option<Json>, Option<Json>);
    let saw: Arc<Mutex<Vec<Captured>>> = Arc::default();
    for (capture, captures_arguments, captures_result) in [
        (Capture::default(), false, false),
        (Capture { arguments: true, result: false }, true, false),
        (Capture { arguments: false, result: true }, false, true),
        (Capture { arguments: true, result: true }, true, true),
    ] {
        let seen = saw.clone();
        let observe = move |event: &Event<'_>| {
            if let Event::ToolCallStop { arguments, result, .. } = event {
                seen.lock().unwrap().push((arguments.clone(), result.clone()));
            }
        };
        let setup = Setup::policy(Server::new().replies([done("raw")]), allowing()).with(|revision| {
            revision.capture = capture;
            revision.pre_hooks.push(pre("pre", |_| Ok(PreOutcome::Rewrite(json(r#"{"rewritten":1}"#)))));
            revision.post_hooks.push(post("post", |_, _| Ok(PostOutcome::Replace(done("replaced\u{200b}")))));
        });
        let pipeline =
            PipelineBuilder::new(Arc::new(setup.server.clone())).revision(setup.revision.clone()).observer(Arc::new(observe)).build();
        let reply = pipeline.run(call("read", r#"{"given":1}"#).with(CallOptions::default().for_llm())).await.unwrap();
        let (arguments, result) = saw.lock().unwrap().pop().unwrap();
        assert_eq!(arguments, captures_arguments.then(|| json(r#"{"given":1}"#)), "{capture:?}");
        assert_eq!(result, captures_result.then(|| reply.value().clone()), "{capture:?}");
        assert!(reply.value().to_string().contains(r#""replaced""#));
    }
}

#[tokio::test]
async fn a_denied_call_captures_its_arguments_too() {
    let world = Setup::policy(Server::new(), denying()).with(|revision| revision.capture.arguments = true).build();
    world.error(call("read", r#"{"given":1}"#)).await;
    assert!(world.raw_events().contains("given"));
}

#[tokio::test]
async fn fuel_and_notes_reach_the_trace_and_notes_only_as_text() {
    struct Metering;
    impl callgate_core::extension::PreHook for Metering {
        fn on_call(&self, _: &callgate_core::model::Call) -> Metered<PreOutcome> {
            Metered { answer: Ok(PreOutcome::Proceed), fuel: Some(7), note: Some("a\nb\u{202e}".to_owned()) }
        }
        fn needs_worker(&self) -> bool {
            true
        }
    }
    let world = Setup::policy(Server::new(), allowing())
        .with(|revision| revision.pre_hooks.push(callgate_core::revision::Entry::trusted("m", Arc::new(Metering))))
        .build();
    let traced = world.pipeline.run_traced(call("read", "{}")).await;
    let step = traced.steps.iter().find(|step| step.plugin.as_deref() == Some("m")).unwrap();
    assert_eq!((step.fuel, step.note.as_deref()), (Some(7), Some(r"a\nb\u{202e}")));
    assert!(world.raw_events().contains("fuel: Some(7)") && !world.raw_events().contains("a\\nb"));
}

#[tokio::test]
async fn an_observer_that_panics_is_no_reason_to_fail() {
    let pipeline = PipelineBuilder::new(Arc::new(Server::new())).observer(Arc::new(|_: &Event<'_>| panic!("an observer breaks"))).build();
    assert_eq!(said(&pipeline.run(call("read", "{}")).await), "ok");
}

#[tokio::test]
async fn a_name_is_told_escaped_and_cut() {
    let world = Setup::policy(Server::new(), allowing()).build();
    world.error(call(&format!("a\n\u{202e}{}", "x".repeat(1_000)), "{}")).await;
    let raw = world.raw_events();
    assert!(!raw.contains('\u{202e}') && !raw.contains(&"x".repeat(127)), "{raw}");
}
