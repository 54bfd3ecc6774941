//! One table: what a caller gets for each stage and each way in which an extension point can fail, cell by cell.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test that cannot go on must fail where it stands")]

mod support;

use std::sync::Arc;

use async_trait::async_trait;
use callgate_core::extension::{
    Approver, FailureHook, FailureOutcome, Filter, Finding, PostHook, PostOutcome, PreHook, PreOutcome, Predicate, Prompt, Verdict,
    Visibility,
};
use callgate_core::json::Json;
use callgate_core::model::{Call, Context, Error, Failure, Metered, Question, Tool, ToolResult};
use callgate_core::policy::{Condition, Policy, PredicateEntry, Rule};
use callgate_core::revision::{AssignScope, Entry, Powers};
use support::*;

/// An extension point of every kind that fails like this: by its answer, or by a panic; on the caller's task, or on a worker.
#[derive(Clone)]
struct Failing {
    failure: Option<Failure>,
    on_worker: bool,
}

impl Failing {
    fn answer<T>(&self) -> Metered<T> {
        Err(self.failure.clone().unwrap_or_else(|| panic!("it breaks"))).into()
    }
}

macro_rules! fails {
    ($trait:ident, $method:ident($($argument:ident: $type:ty),*) -> $answer:ty) => {
        impl $trait for Failing {
            fn $method(&self, $($argument: $type),*) -> Metered<$answer> {
                $(let _ = $argument;)*
                self.answer()
            }

            fn needs_worker(&self) -> bool {
                self.on_worker
            }
        }
    };
}

fails!(Filter, visible(tool: &Arc<Tool>, context: &Arc<Context>) -> Visibility);
fails!(Predicate, matches(call: &Call) -> Finding);
fails!(PreHook, on_call(call: &Call) -> PreOutcome);
fails!(PostHook, on_result(call: &Call, result: &ToolResult) -> PostOutcome);
fails!(FailureHook, on_failure(call: &Call, error: &Error) -> FailureOutcome);

#[async_trait]
impl Approver for Failing {
    async fn review(&self, _: Call, _: Arc<Question>, _: Prompt) -> Metered<Verdict> {
        self.answer()
    }
}

const STAGES: [&str; 9] = [
    "filter",
    "pre_hook",
    "predicate in deny",
    "predicate in ask",
    "predicate in allow",
    "approver",
    "post_hook",
    "failure_hook with replace",
    "failure_hook without",
];

fn world(stage: &str, failing: Failing) -> World {
    let rule = || {
        let entry = PredicateEntry { name: "plugin".to_owned(), predicate: Arc::new(failing.clone()), assigns: AssignScope::All };
        vec![Rule::new("r", Condition::Predicate(entry))]
    };
    let failing = failing.clone();
    let failure_hook = |powers| Entry::plugin("plugin", Arc::new(failing.clone()) as Arc<dyn FailureHook>, powers);
    Setup::policy(Server::new(), allowing())
        .with(|revision| match stage {
            "filter" => revision.filters.push(Entry::trusted("plugin", Arc::new(failing.clone()))),
            "pre_hook" => revision.pre_hooks.push(Entry::trusted("plugin", Arc::new(failing.clone()))),
            "predicate in deny" => revision.policy = Some(Policy { deny: rule(), ..allowing() }),
            "predicate in ask" => revision.policy = Some(Policy { ask: rule(), ..allowing() }),
            "predicate in allow" => revision.policy = Some(Policy { allow: rule(), ..Policy::default() }),
            "approver" => {
                revision.policy = Some(asking());
                revision.approver = Some(Entry::trusted("plugin", Arc::new(failing.clone())));
            }
            "post_hook" => revision.post_hooks.push(Entry::trusted("plugin", Arc::new(failing.clone()))),
            "failure_hook with replace" => {
                revision.policy = Some(denying());
                revision.failure_hooks.push(failure_hook(Powers { replace: true, ..Powers::default() }));
            }
            _ => {
                revision.policy = Some(denying());
                revision.failure_hooks.push(failure_hook(Powers::default()));
            }
        })
        .build()
}

/// What the caller gets: kind, reason and delivery; and whether the data names the failure, with the plugin or without.
fn expected(stage: &str, failure: &Failure) -> (&'static str, Option<Json>) {
    match stage {
        "filter" => ("not_found/unknown_tool/no", Some(Json::Null)),
        "pre_hook" => ("hook/hook_failed/no", Some(failure.to_json(Some("plugin")))),
        "predicate in deny" => ("denied/deny_rule/no", None),
        "predicate in ask" => ("denied/ask_rule/no", None),
        "predicate in allow" => ("denied/no_rule/no", None),
        "approver" => ("denied/ask_failed/no", Some(failure.to_json(None))),
        "post_hook" => ("hook/hook_failed/yes", Some(failure.to_json(Some("plugin")))),
        "failure_hook with replace" => ("denied/deny_rule/no", Some(Json::Null)),
        _ => ("denied/deny_rule/no", None),
    }
}

async fn check(stage: &str, shown: &Failure, failing: Failing) {
    let cell = format!("{stage} x {shown} {}", if failing.on_worker { "on a worker" } else { "" });
    let world = world(stage, failing);
    let error = world.error(call("read", r#"{"a":1}"#)).await;
    let (outcome, data) = expected(stage, shown);
    assert_eq!(said(&Err(error.clone())), outcome, "{cell}");
    if let Some(data) = data {
        assert_eq!(error.data, data, "{cell}");
    }
    assert!(!format!("{error} {}", error.data).contains("SECRET"), "{cell}: a plugin's words are not the caller's");
    assert_eq!(world.server.rounds().len(), usize::from(stage == "post_hook"), "{cell}");
    let told = format!("plugin failed {}", shown.kind.as_str());
    assert_eq!(world.events().iter().filter(|event| event.ends_with(&told)).count(), 1, "{cell}: {:?}", world.events());
}

#[tokio::test]
async fn every_stage_and_every_failure() {
    let mut cells = 0;
    for stage in STAGES {
        for failure in failures() {
            for on_worker in [false, true] {
                check(stage, &failure, Failing { failure: Some(failure.clone()), on_worker }).await;
                cells += 1;
            }
        }
    }
    assert_eq!(cells, 9 * 12 * 2);
}

#[tokio::test]
async fn a_panic_is_a_trap_at_every_stage() {
    let trap = Failure::new(callgate_core::model::FailureKind::Trap);
    for stage in STAGES {
        for on_worker in [false, true] {
            check(stage, &trap, Failing { failure: None, on_worker }).await;
        }
    }
}

/// Never answers in time, as a plugin whose own limits do not hold.
struct Stuck;

impl PreHook for Stuck {
    fn on_call(&self, _: &Call) -> Metered<PreOutcome> {
        std::thread::sleep(std::time::Duration::from_millis(500));
        Ok(PreOutcome::Proceed).into()
    }

    fn needs_worker(&self) -> bool {
        true
    }
}

#[tokio::test]
async fn the_wall_clock_is_behind_every_other_limit() {
    let setup = Setup::policy(Server::new(), allowing()).with(|revision| {
        revision.send.plugin_wall_clock = std::time::Duration::from_millis(20);
        revision.pre_hooks.push(Entry::trusted("stuck", Arc::new(Stuck)));
    });
    let world = setup.build();
    let error = world.error(call("read", r#"{"a":1}"#)).await;
    assert_eq!(said(&Err(error.clone())), "hook/hook_failed/no");
    assert_eq!(error.data.get("limit").and_then(Json::as_str), Some("wall_clock"));
    assert!(world.server.rounds().is_empty());
}
