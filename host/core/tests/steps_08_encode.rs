//! Step 8: what is sent is what was decided on, and nothing else; looked at again before it leaves (T6).

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test that cannot go on must fail where it stands")]

mod support;

use std::sync::{Arc, Mutex};

use callgate_core::extension::{Finding, PreOutcome, Verdict};
use callgate_core::handler::Handler;
use callgate_core::model::{CallOptions, ProgressSink, ToolCall};
use callgate_core::pipeline::Pipeline;
use callgate_core::policy::{Condition, Policy, Rule};
use callgate_core::store::GrantStore;
use support::*;

fn with_meta(meta: &str) -> ToolCall {
    call("read", "{}").with(CallOptions { meta: object(meta), ..CallOptions::default() })
}

#[tokio::test]
async fn meta_rules() {
    let with_host = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","traceparent":"host"}"#;
    for (name, caller, host, arrives) in [
        ("nothing", "{}", "{}", None),
        ("the caller's own", r#"{"com.example/x":1,"plain":true}"#, "{}", Some(r#"{"com.example/x":1,"plain":true}"#)),
        ("reserved", r#"{"io.modelcontextprotocol/x":1,"dev.mcp/y":2,"com.MCP.z/q":3}"#, "{}", None),
        ("progress token", r#"{"progressToken":"mine"}"#, "{}", None),
        ("malformed keys", r#"{"":1,"a b":1,"x/":1,"-a/b":1,"a\u200b":1}"#, "{}", None),
        (
            "trace context",
            r#"{"traceparent":"00-a","tracestate":"k=v","baggage":"x=y"}"#,
            "{}",
            Some(r#"{"traceparent":"00-a","tracestate":"k=v","baggage":"x=y"}"#),
        ),
        ("trace context of another type", r#"{"traceparent":{"a":1}}"#, "{}", None),
        ("trace context with a newline", r#"{"traceparent":"a\nb"}"#, "{}", None),
        ("the host's", "{}", with_host, Some(with_host)),
        (
            "the host's win",
            r#"{"traceparent":"caller","io.modelcontextprotocol/protocolVersion":"1999"}"#,
            with_host,
            Some(r#"{"traceparent":"host","io.modelcontextprotocol/protocolVersion":"2026-07-28"}"#),
        ),
    ] {
        let world = Setup::policy(Server::new().host_meta(object(host)), allowing()).build();
        world.reply(with_meta(caller)).await;
        let params = json(&world.server.rounds()[0]);
        assert_eq!(params.get("_meta"), arrives.map(json).as_ref(), "{name}");
        assert_eq!(params.as_object().unwrap().len(), 2 + usize::from(arrives.is_some()), "{name}: name, arguments and no more");
    }
}

#[tokio::test]
async fn the_progress_token_is_the_calls_own_id() {
    let heard: Arc<Mutex<Vec<Option<String>>>> = Arc::default();
    let sink = heard.clone();
    let server = Server::new().turns([Turn::Progress("half\u{200b} way", done("ok"))]);
    let world = Setup::policy(server, allowing()).build();
    let options = CallOptions {
        progress: Some(ProgressSink::new(move |progress| sink.lock().unwrap().push(progress.message))),
        meta: object(r#"{"progressToken":"mine"}"#),
        ..CallOptions::default()
    };
    let traced = world.pipeline.run_traced(call("read", "{}").with(options)).await;
    let params = json(&world.server.rounds()[0]);
    assert_eq!(params.get("_meta").unwrap().get("progressToken").unwrap().as_str(), Some(traced.call_id.as_str()));
    assert_eq!(world.server.call_ids(), [traced.call_id.to_string()]);
    assert_eq!(*heard.lock().unwrap(), [Some("half way".to_owned())], "the server's words are cleaned");
}

#[tokio::test]
async fn arguments_leave_in_canonical_form() {
    let world = Setup::policy(Server::new(), allowing()).build();
    world.reply(call("read", r#"{ "b" : 1.0, "a":"\u0041\/", "n":18446744073709551615, "e":1e2 }"#)).await;
    assert_eq!(world.server.rounds(), [r#"{"name":"read","arguments":{"a":"A/","b":1,"e":100,"n":18446744073709551615}}"#]);
}

#[tokio::test]
async fn a_call_that_was_cancelled_is_not_sent() {
    let cancelled = call("read", "{}");
    let token = cancelled.options.cancel.clone();
    let world = Setup::policy(Server::new(), allowing())
        .with(|revision| {
            revision.pre_hooks.push(pre("hangs up", move |_| {
                token.cancel();
                Ok(PreOutcome::Proceed)
            }));
        })
        .build();
    assert_eq!(said(&world.run(cancelled).await), "transport/cancelled/no");
    assert!(world.server.rounds().is_empty());
}

#[tokio::test]
async fn a_call_whose_time_is_over_is_not_sent() {
    let world = Setup::policy(Server::new(), allowing()).build();
    let options = CallOptions { timeout: Some(std::time::Duration::ZERO), ..CallOptions::default() };
    assert_eq!(said(&world.run(call("read", "{}").with(options)).await), "transport/timeout/no");
    assert!(world.server.rounds().is_empty());
}

#[tokio::test]
async fn for_ever_is_a_long_time() {
    let world = Setup::policy(Server::new(), allowing()).build();
    let options = CallOptions { timeout: Some(std::time::Duration::MAX), ..CallOptions::default() };
    assert_eq!(said(&world.run(call("read", "{}").with(options)).await), "ok");
}

#[tokio::test]
async fn a_definition_that_changes_on_the_way_is_not_sent() {
    let server = Server::new();
    let changing = server.clone();
    let world = Setup::policy(server, allowing())
        .with(|revision| {
            revision.pre_hooks.push(pre("slow", move |_| {
                changing.lists([definition("read", r#""description":"other""#)]);
                changing.list_changed();
                Ok(PreOutcome::Proceed)
            }));
        })
        .build();
    assert_eq!(world.said().await, "denied/tool_changed/no");
    assert!(world.server.rounds().is_empty());
}

/// T6: what happens after the decision counts until the call leaves, and before each round.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Happens {
    Nothing,
    GrantIsRevoked,
    NewDenyRule,
    NewDenyPredicateFails,
    NewAllowOnly,
    PolicyIsTakenAway,
    CallerHangsUp,
    StoreBreaks,
    ConnectionCloses,
    DefinitionChanges,
    OtherToolChanges,
    DefinitionChangesAtTheLastMoment,
}

/// What happens, set once the world is there.
type Slot = Arc<Mutex<Option<Box<dyn Fn() + Send>>>>;

struct Late(Slot);

#[async_trait::async_trait]
impl Handler for Late {
    fn kinds(&self) -> Kinds {
        Kinds { roots: true, ..Kinds::default() }
    }

    async fn roots(&self, _: &callgate_core::model::ServerName) -> Option<Vec<callgate_core::handler::Root>> {
        self.0.lock().unwrap().as_ref().unwrap()();
        Some(Vec::new())
    }
}

fn change<const N: usize>(server: &Server, tools: [callgate_core::json::Json; N]) {
    server.lists(tools);
    server.list_changed();
}

fn happen(what: Happens, pipeline: &Pipeline, store: &BrokenStore, server: &Server, token: &tokio_util::sync::CancellationToken) {
    let swap = |policy: Option<Policy>| {
        let mut revision = (*pipeline.revision()).clone();
        revision.id = "r2".to_owned();
        revision.policy = policy;
        pipeline.swap(revision);
    };
    let failing = Condition::Predicate(predicate("p", |_| Err(broke())));
    match what {
        Happens::Nothing => {}
        Happens::GrantIsRevoked => {
            let ids: Vec<_> = futures_util::FutureExt::now_or_never(GrantStore::list(store, 0))
                .unwrap()
                .unwrap()
                .into_iter()
                .map(|grant| grant.id)
                .collect();
            for id in ids {
                futures_util::FutureExt::now_or_never(store.revoke(&id)).unwrap().unwrap();
            }
        }
        Happens::NewDenyRule => swap(Some(denying())),
        Happens::NewDenyPredicateFails => swap(Some(Policy { deny: vec![Rule::new("p", failing)], ..Policy::default() })),
        Happens::NewAllowOnly => swap(Some(Policy { default: Some(callgate_core::model::Effect::Deny), ..Policy::default() })),
        Happens::PolicyIsTakenAway => swap(None),
        Happens::CallerHangsUp => token.cancel(),
        Happens::StoreBreaks => store.break_at("is_live", 0),
        Happens::ConnectionCloses => server.close(),
        Happens::DefinitionChanges => change(server, [definition("read", r#""description":"other""#)]),
        Happens::OtherToolChanges => change(server, [definition("read", ""), definition("more", "")]),
        Happens::DefinitionChangesAtTheLastMoment => {
            let server = server.clone();
            let late = predicate("late", move |_| {
                change(&server, [definition("read", r#""description":"other""#)]);
                Ok(Finding::NoMatch)
            });
            swap(Some(Policy { deny: vec![Rule::new("late", Condition::Predicate(late))], ..Policy::default() }));
        }
    }
}

#[tokio::test]
async fn looked_at_again_at_encode() {
    use Happens::*;
    for (what, outcome) in [
        (Nothing, "ok"),
        (NewDenyRule, "denied/policy_changed/no"),
        (NewDenyPredicateFails, "denied/policy_changed/no"),
        (NewAllowOnly, "ok"),
        (PolicyIsTakenAway, "ok"),
        (CallerHangsUp, "denied/cancelled/no"),
        (ConnectionCloses, "transport/reconnected/no"),
        (DefinitionChanges, "denied/tool_changed/no"),
        (OtherToolChanges, "ok"),
        (DefinitionChangesAtTheLastMoment, "denied/tool_changed/no"),
    ] {
        // It happens while the approver decides.
        let slot: Slot = Arc::default();
        let act = slot.clone();
        let world = Setup::policy(Server::new(), asking())
            .with(|revision| {
                revision.approver = Some(approving(move |_| {
                    act.lock().unwrap().as_ref().unwrap()();
                    Ok(Verdict::AllowOnce)
                }));
            })
            .build();
        let call = call("read", "{}").with(CallOptions::default().principal(alice()));
        let (pipeline, store, server, token) =
            (world.pipeline.clone(), world.store.clone(), world.server.clone(), call.options.cancel.clone());
        *slot.lock().unwrap() = Some(Box::new(move || happen(what, &pipeline, &store, &server, &token)));
        assert_eq!(said(&world.run(call).await), outcome, "{what:?}");
        assert_eq!(world.server.rounds().len(), usize::from(outcome == "ok"), "{what:?}");
    }
}

#[tokio::test]
async fn a_grant_that_is_gone_at_encode_sends_nothing() {
    // The grant is used in step 7, and its liveness asked for in step 8.
    let world = Setup::policy(Server::new(), asking()).with(|revision| revision.approver = Some(approver(always()))).build();
    let by_alice = || call("read", "{}").with(CallOptions::default().principal(alice()));
    world.reply(by_alice()).await;
    world.store.break_at("is_live", 0);
    assert_eq!(said(&world.run(by_alice()).await), "denied/store_failed/no");
    assert_eq!(world.server.rounds().len(), 1);
}

#[tokio::test]
async fn looked_at_again_before_each_round() {
    use Happens::*;
    for (what, outcome) in [
        (Nothing, "ok"),
        (GrantIsRevoked, "denied/grant_revoked/unknown"),
        (NewDenyRule, "denied/policy_changed/unknown"),
        (NewDenyPredicateFails, "denied/policy_changed/unknown"),
        (NewAllowOnly, "ok"),
        (PolicyIsTakenAway, "ok"),
        (CallerHangsUp, "transport/cancelled/unknown"),
        (StoreBreaks, "denied/store_failed/unknown"),
        (ConnectionCloses, "transport/reconnected/unknown"),
        (DefinitionChanges, "denied/tool_changed/unknown"),
        (OtherToolChanges, "ok"),
        (DefinitionChangesAtTheLastMoment, "denied/tool_changed/unknown"),
    ] {
        let slot: Slot = Arc::default();
        let roots = Kinds { roots: true, ..Kinds::default() };
        let server = Server::new().declare(roots).replies([input_required(r#""inputRequests":{"r":{"method":"roots/list"}}"#)]);
        let world = Setup::policy(server, asking())
            .with(|revision| revision.approver = Some(approver(always())))
            .handler(Late(slot.clone()))
            .build();
        let call = call("read", "{}").with(CallOptions::default().principal(alice()));
        let (pipeline, store, server, token) =
            (world.pipeline.clone(), world.store.clone(), world.server.clone(), call.options.cancel.clone());
        *slot.lock().unwrap() = Some(Box::new(move || happen(what, &pipeline, &store, &server, &token)));
        assert_eq!(said(&world.run(call).await), outcome, "{what:?}");
        assert_eq!(world.server.rounds().len(), if outcome == "ok" { 2 } else { 1 }, "{what:?}");
    }
}

/// T6: looking at a list that changed takes time, and what happens meanwhile counts, too.
#[tokio::test]
async fn what_happens_while_the_list_is_read_again_counts() {
    for (what, outcome) in [
        (Happens::Nothing, "ok"),
        (Happens::NewDenyRule, "denied/policy_changed/no"),
        (Happens::GrantIsRevoked, "denied/grant_revoked/no"),
        (Happens::CallerHangsUp, "transport/cancelled/no"),
        (Happens::ConnectionCloses, "transport/reconnected/no"),
    ] {
        let server = Server::new();
        let changing = server.clone();
        let world = Setup::policy(server, asking())
            .with(|revision| {
                revision.approver = Some(approver(always()));
                revision.pre_hooks.push(pre("slow", move |_| {
                    changing.list_changed();
                    Ok(PreOutcome::Proceed)
                }));
            })
            .build();
        let by_alice = || call("read", "{}").with(CallOptions::default().principal(alice()));
        world.reply(by_alice()).await;
        let call = by_alice();
        let (pipeline, store, server, token) =
            (world.pipeline.clone(), world.store.clone(), world.server.clone(), call.options.cancel.clone());
        world.server.on_list(move || happen(what, &pipeline, &store, &server, &token));
        assert_eq!(said(&world.run(call).await), outcome, "{what:?}");
        assert_eq!(world.server.rounds().len(), if outcome == "ok" { 2 } else { 1 }, "{what:?}");
    }
}

/// A definition that a grant alone approves needs that grant until the call leaves, though no ask was settled by it.
#[tokio::test]
async fn a_grant_that_lifted_the_pin_is_looked_at_again() {
    for (what, outcome) in [(Happens::Nothing, "ok"), (Happens::GrantIsRevoked, "denied/grant_revoked/unknown")] {
        let slot: Slot = Arc::default();
        let roots = Kinds { roots: true, ..Kinds::default() };
        let world = Setup::policy(Server::new().declare(roots), allowing())
            .with(|revision| revision.approver = Some(approver(always())))
            .handler(Late(slot.clone()))
            .build();
        let by_alice = || call("read", "{}").with(CallOptions::default().principal(alice()));
        world.pipeline.list_all_tools().await.unwrap();
        change(&world.server, [definition("read", r#""description":"other""#)]);
        assert_eq!(said(&world.run(by_alice()).await), "ok", "and granted");
        let (pipeline, store, server) = (world.pipeline.clone(), world.store.clone(), world.server.clone());
        *slot.lock().unwrap() = Some(Box::new(move || happen(what, &pipeline, &store, &server, &Default::default())));
        let _same = world.server.clone().replies([input_required(r#""inputRequests":{"r":{"method":"roots/list"}}"#)]);
        assert_eq!(said(&world.run(by_alice()).await), outcome, "{what:?}");
    }
}
