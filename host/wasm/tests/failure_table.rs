//! The table stage x plugin failure of the architecture, cell by cell: real components, a whole pipeline, and a server that counts
//! what reaches it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test that cannot go on must fail where it stands"
)]

mod support;

use std::sync::Arc;

use callgate_core::json::Json;
use callgate_core::model::{Arguments, Effect, Error, Reply, Sent, ToolCall};
use callgate_core::pipeline::PipelineBuilder;
use callgate_core::policy::{Condition, Policy, PredicateEntry, Rule};
use callgate_core::revision::{AssignScope, Entry, Powers, Revision};
use callgate_wasm::{Kind, Plugin};
use support::*;

/// Every way in which a component can fail, with its word. `exit` needs a system interface, which no plugin has, and `not_loaded`
/// stops the start of the host: neither can happen in a call.
fn ways(kind: Kind) -> Vec<(&'static str, Guest)> {
    let forbidden = match kind {
        Kind::Filter => "call-arguments.get-arguments",
        Kind::PostHook => "failure.message",
        _ => "tool-result.get-result",
    };
    let grow = "(if (i32.eq (memory.grow (i32.const 1000)) (i32.const -1)) (then unreachable))";
    vec![
        ("trap", Guest::new(kind).run("unreachable")),
        ("timeout", Guest::new(kind).run("(loop $l (br $l)) unreachable")),
        ("memory", Guest::new(kind).first(grow)),
        ("bad_return", Guest::new(kind).run("(i32.const -4)")),
        ("refused", Guest::of(&Kind::ALL).reads(&[forbidden]).first(&format!("(call ${forbidden} (i32.const 64))"))),
        ("no_answer", Guest::new(kind).answers(&err(b"no idea"))),
    ]
}

/// What a call gives under a revision, and how often the server was called.
async fn outcome(revision: Revision) -> (Result<Reply, Error>, usize) {
    let server = Counting::default();
    let pipeline = PipelineBuilder::new(Arc::new(server.clone())).revision(revision).build();
    let reply = pipeline.run(ToolCall::new("read_file", Arguments::parse(r#"{"path":"/a"}"#).unwrap())).await;
    (reply, server.arrived())
}

/// Runs each way to fail in a revision that `place` makes, and compares kind, reason, delivery and arrivals.
async fn row(kind: Kind, expected: (&str, &str, Sent, usize), place: impl Fn(&Plugin) -> Revision) {
    for (way, guest) in ways(kind) {
        let (reply, arrived) = outcome(place(&plugin(&guest))).await;
        let error = reply.expect_err(way);
        let got = (error.kind.as_str(), error.reason.as_str(), error.sent, arrived);
        assert_eq!(got, expected, "{kind} x {way}: {error}");
        if matches!(error.reason.as_str(), "hook_failed" | "ask_failed") {
            assert_eq!(error.data.get("failure").and_then(Json::as_str), Some(way), "{kind} x {way}");
        }
    }
}

fn allow_all() -> Revision {
    Revision { policy: Some(Policy { default: Some(Effect::Allow), ..Policy::default() }), ..Revision::default() }
}

fn with_rules(rules: impl Fn(Rule) -> Policy, plugin: &Plugin) -> Revision {
    let entry = PredicateEntry { name: "guest".to_owned(), predicate: plugin.predicate().unwrap(), assigns: AssignScope::All };
    Revision { policy: Some(rules(Rule::new("rule", Condition::Predicate(entry)))), ..Revision::default() }
}

#[tokio::test]
async fn the_host_is_well_without_a_plugin() {
    let (reply, arrived) = outcome(allow_all()).await;
    assert!(reply.is_ok() && arrived == 1);
}

#[tokio::test]
async fn filter() {
    let place =
        |plugin: &Plugin| Revision { filters: vec![Entry::plugin("guest", plugin.filter().unwrap(), Powers::all())], ..allow_all() };
    row(Kind::Filter, ("not_found", "unknown_tool", Sent::No, 0), place).await;
}

#[tokio::test]
async fn pre_hook() {
    let place =
        |plugin: &Plugin| Revision { pre_hooks: vec![Entry::plugin("guest", plugin.pre_hook().unwrap(), Powers::all())], ..allow_all() };
    row(Kind::PreHook, ("hook", "hook_failed", Sent::No, 0), place).await;
}

#[tokio::test]
async fn predicate_in_a_deny_rule_matches() {
    let rules = |rule| Policy { deny: vec![rule], default: Some(Effect::Allow), ..Policy::default() };
    row(Kind::Predicate, ("denied", "deny_rule", Sent::No, 0), |plugin| with_rules(rules, plugin)).await;
}

#[tokio::test]
async fn predicate_in_an_ask_rule_matches() {
    let rules = |rule| Policy { ask: vec![rule], default: Some(Effect::Allow), ..Policy::default() };
    row(Kind::Predicate, ("denied", "ask_rule", Sent::No, 0), |plugin| with_rules(rules, plugin)).await;
}

#[tokio::test]
async fn predicate_in_an_allow_rule_does_not_match_and_nor_does_its_negation() {
    let rules = |rule: Rule| {
        let negated = Rule::new("negated", Condition::Not(Box::new(rule.condition.clone())));
        Policy { allow: vec![rule, negated], ..Policy::default() }
    };
    row(Kind::Predicate, ("denied", "no_rule", Sent::No, 0), |plugin| with_rules(rules, plugin)).await;
}

#[tokio::test]
async fn approver() {
    let place = |plugin: &Plugin| Revision {
        approver: Some(Entry::plugin("guest", plugin.approver().unwrap(), Powers::all())),
        policy: Some(Policy::default()),
        ..Revision::default()
    };
    row(Kind::Approver, ("denied", "ask_failed", Sent::No, 0), place).await;
}

#[tokio::test]
async fn post_hook() {
    let place =
        |plugin: &Plugin| Revision { post_hooks: vec![Entry::plugin("guest", plugin.post_hook().unwrap(), Powers::all())], ..allow_all() };
    row(Kind::PostHook, ("hook", "hook_failed", Sent::Yes, 1), place).await;
}

/// A failing failure hook leaves the error as it was; one that is there to replace leaves the host's own words alone (T18).
#[tokio::test]
async fn failure_hook() {
    for (powers, keeps_data) in [(Powers::default(), true), (Powers { replace: true, ..Powers::default() }, false)] {
        for (way, guest) in ways(Kind::FailureHook) {
            let plugin = plugin(&guest);
            let revision = Revision {
                failure_hooks: vec![Entry::plugin("guest", plugin.failure_hook().unwrap(), powers.clone())],
                policy: Some(Policy { default: Some(Effect::Deny), ..Policy::default() }),
                ..Revision::default()
            };
            let (reply, arrived) = outcome(revision).await;
            let error = reply.expect_err(way);
            assert_eq!((error.kind.as_str(), error.reason.as_str(), error.sent, arrived), ("denied", "no_rule", Sent::No, 0), "{way}");
            assert_eq!(error.data != Json::Null, keeps_data, "{way}");
        }
    }
}
