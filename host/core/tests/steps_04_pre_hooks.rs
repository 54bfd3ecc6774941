//! Step 4: pre-hooks may rewrite, deny, ask and halt, as far as their powers go, and fail closed.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test that cannot go on must fail where it stands")]

mod support;

use std::sync::{Arc, Mutex};

use callgate_core::extension::{PostOutcome, PreOutcome, Verdict};
use callgate_core::json::Json;
use callgate_core::model::{CallOptions, Sent};
use callgate_core::policy::Glob;
use callgate_core::revision::{AssignScope, Powers, Scope, Strictness, Validate};
use support::*;

fn doing(outcome: PreOutcome) -> callgate_core::revision::Entry<dyn callgate_core::extension::PreHook> {
    pre("hook", move |_| Ok(outcome.clone()))
}

fn may(powers: Powers, outcome: PreOutcome) -> Setup {
    Setup::policy(Server::new(), allowing()).with(|revision| {
        revision.approver = Some(approver(Verdict::AllowOnce));
        revision.pre_hooks.push(held(doing(outcome), powers));
    })
}

#[tokio::test]
async fn each_power_is_granted_or_not() {
    let none = Powers::default;
    let rewrite = || vec![pointer("")];
    for (name, powers, outcome, said_then) in [
        ("proceed needs none", none(), PreOutcome::Proceed, "ok"),
        ("deny", Powers { deny: true, ..none() }, PreOutcome::Deny(no("bad_path")), "denied/hook_denied/no"),
        ("deny, not granted", Powers { deny: false, ..Powers::all() }, PreOutcome::Deny(no("bad_path")), "hook/power_exceeded/no"),
        ("ask", Powers { ask: true, ..none() }, PreOutcome::Ask(no("odd")), "ok"),
        ("ask, not granted", Powers { ask: false, ..Powers::all() }, PreOutcome::Ask(no("odd")), "hook/power_exceeded/no"),
        ("rewrite", Powers { rewrite: rewrite(), ..none() }, PreOutcome::Rewrite(json(r#"{"a":1}"#)), "ok"),
        (
            "rewrite, not granted",
            Powers { rewrite: vec![], ..Powers::all() },
            PreOutcome::Rewrite(json(r#"{"a":1}"#)),
            "hook/power_exceeded/no",
        ),
        ("halt", Powers { halt: true, ..none() }, PreOutcome::Halt(done("canned")), "ok"),
        ("halt, not granted", Powers { halt: false, ..Powers::all() }, PreOutcome::Halt(done("canned")), "hook/power_exceeded/no"),
    ] {
        let world = may(powers, outcome).build();
        assert_eq!(world.said().await, said_then, "{name}");
        let sent = said_then == "ok" && !name.starts_with("halt");
        assert_eq!(world.server.rounds().len(), usize::from(sent), "{name}");
    }
}

#[tokio::test]
async fn errors_name_the_plugin_and_what_it_did() {
    let exceeded = may(Powers::default(), PreOutcome::Deny(no("bad_path"))).build().error(call("read", "{}")).await;
    assert_eq!(exceeded.data.to_string(), r#"{"plugin":"hook","action":"deny"}"#);
    let denied = may(Powers::all(), PreOutcome::Deny(no("bad_path").with_data(Some(json("[1]"))))).build().error(call("read", "{}")).await;
    assert_eq!(denied.data.to_string(), r#"{"plugin":"hook","reason":"bad_path","message":"because","data":[1]}"#);
    let odd = may(Powers::all(), PreOutcome::Deny(no("Not a word!"))).build().error(call("read", "{}")).await;
    assert_eq!(odd.data.get("reason").unwrap().as_str(), Some("unspecified"));
}

#[tokio::test]
async fn a_hook_that_fails_fails_the_call() {
    for failure in failures() {
        let word = failure.kind.as_str();
        let world = Setup::policy(Server::new(), allowing())
            .with(|revision| revision.pre_hooks.push(pre("hook", move |_| Err(failure.clone()))))
            .build();
        let error = world.error(call("read", "{}")).await;
        assert_eq!((error.kind.as_str(), error.reason.as_str(), error.sent), ("hook", "hook_failed", Sent::No), "{word}");
        assert_eq!(error.data.get("failure").unwrap().as_str(), Some(word));
        assert!(!error.to_string().contains("SECRET") && !error.data.to_string().contains("SECRET"), "{word}");
        assert!(world.server.rounds().is_empty(), "{word}");
    }
    let world =
        Setup::policy(Server::new(), allowing()).with(|revision| revision.pre_hooks.push(pre("hook", |_| panic!("it breaks")))).build();
    let error = world.error(call("read", "{}")).await;
    assert_eq!(error.data.to_string(), r#"{"plugin":"hook","failure":"trap"}"#);
}

#[tokio::test]
async fn in_order_each_sees_what_its_predecessor_left() {
    let saw: Arc<Mutex<Vec<String>>> = Arc::default();
    let add = |letter: &'static str| {
        let saw = saw.clone();
        pre(letter, move |call| {
            saw.lock().unwrap().push(call.arguments.canonical().to_owned());
            let mut object = call.arguments.value().as_object().unwrap().clone();
            object.insert(letter.to_owned(), true.into());
            Ok(PreOutcome::Rewrite(object.into()))
        })
    };
    let world = Setup::policy(Server::new(), allowing()).with(|revision| revision.pre_hooks = vec![add("z"), add("a")]).build();
    assert_eq!(world.said().await, "ok");
    assert_eq!(*saw.lock().unwrap(), ["{}", r#"{"z":true}"#]);
    assert_eq!(world.server.rounds(), [r#"{"name":"read","arguments":{"a":true,"z":true}}"#]);
}

#[tokio::test]
async fn after_a_deny_no_other_hook_runs() {
    let world =
        may(Powers::all(), PreOutcome::Deny(no("x"))).with(|revision| revision.pre_hooks.push(pre("later", |_| panic!("ran")))).build();
    assert_eq!(world.said().await, "denied/hook_denied/no");
    assert!(world.events().iter().all(|event| !event.contains("later")));
}

#[tokio::test]
async fn a_rewrite_is_held_to_its_pointers_by_what_it_changed() {
    let given = r#"{"path":"/x","deep":{"a":1,"b":[1,2]},"n":1}"#;
    for (name, rewrite, to, passes) in [
        ("the granted member", "/path", r#"{"path":"/y","deep":{"a":1,"b":[1,2]},"n":1}"#, true),
        ("another member", "/path", r#"{"path":"/x","deep":{"a":1,"b":[1,2]},"n":2}"#, false),
        ("both", "/path", r#"{"path":"/y","deep":{"a":1,"b":[1,2]},"n":2}"#, false),
        ("a new member", "/path", r#"{"path":"/x","deep":{"a":1,"b":[1,2]},"n":1,"new":1}"#, false),
        ("a new granted member", "/new", r#"{"path":"/x","deep":{"a":1,"b":[1,2]},"n":1,"new":{"x":1}}"#, true),
        ("a removed member", "/path", r#"{"path":"/x","deep":{"a":1,"b":[1,2]}}"#, false),
        ("a removed granted member", "/n", r#"{"path":"/x","deep":{"a":1,"b":[1,2]}}"#, true),
        ("nothing, no power", "/other", given, true),
        ("other spelling and order, no power", "/other", r#"{"n":1.0,"deep":{"b":[1,2e0],"a":10e-1},"path":"\u002fx"}"#, true),
        ("within a subtree", "/deep", r#"{"path":"/x","deep":{"a":2,"b":[]},"n":1}"#, true),
        ("the parent of what is granted", "/deep/a", r#"{"path":"/x","deep":7,"n":1}"#, false),
        ("the parent is gone", "/deep/a", r#"{"path":"/x","n":1}"#, false),
        ("a sibling of what is granted", "/deep/a", r#"{"path":"/x","deep":{"a":1,"b":[1,3]},"n":1}"#, false),
        ("a prefix is no parent", "/pa", r#"{"path":"/y","deep":{"a":1,"b":[1,2]},"n":1}"#, false),
        ("an item", "/deep/b/1", r#"{"path":"/x","deep":{"a":1,"b":[1,9]},"n":1}"#, true),
        ("the other item", "/deep/b/0", r#"{"path":"/x","deep":{"a":1,"b":[1,9]},"n":1}"#, false),
        ("an array's length by an item's power", "/deep/b/2", r#"{"path":"/x","deep":{"a":1,"b":[1,2,3]},"n":1}"#, false),
        ("an array's length by its own power", "/deep/b", r#"{"path":"/x","deep":{"a":1,"b":[1,2,3]},"n":1}"#, true),
        ("a shift by the first item's power", "/deep/b/0", r#"{"path":"/x","deep":{"a":1,"b":[2]},"n":1}"#, false),
        ("another type", "/n", r#"{"path":"/x","deep":{"a":1,"b":[1,2]},"n":"1"}"#, true),
    ] {
        let powers = Powers { rewrite: vec![pointer(rewrite)], ..Powers::default() };
        let world = may(powers, PreOutcome::Rewrite(json(to))).build();
        let outcome = said(&world.run(call("read", given)).await);
        assert_eq!(outcome, if passes { "ok" } else { "hook/power_exceeded/no" }, "{name}");
        let arrived = world.server.rounds();
        let expected = format!(r#"{{"name":"read","arguments":{}}}"#, args(to).canonical());
        assert_eq!(arrived, if passes { vec![expected] } else { vec![] }, "{name}");
    }
}

#[tokio::test]
async fn a_rewrite_that_is_no_arguments_is_a_bad_return() {
    let deep = format!("{}1{}", r#"{"a":"#.repeat(128), "}".repeat(128));
    let deeper: Json = [("a", json(&deep))].into_iter().collect();
    for (name, value) in [
        ("no object", json("[]")),
        ("null", Json::Null),
        ("an inexact number", json(r#"{"n":1e400}"#)),
        ("beyond 64 bits", json(r#"{"n":18446744073709551616}"#)),
        ("too deep", deeper),
        ("too large", [("a", "x".repeat(5 << 20))].into_iter().collect()),
    ] {
        let world = may(Powers::all(), PreOutcome::Rewrite(value)).build();
        let error = world.error(call("read", "{}")).await;
        assert_eq!(error.reason.as_str(), "hook_failed", "{name}");
        assert_eq!(error.data.to_string(), r#"{"plugin":"hook","failure":"bad_return"}"#, "{name}");
        assert!(world.server.rounds().is_empty(), "{name}");
    }
}

#[tokio::test]
async fn a_halt_skips_five_to_ten_and_post_hooks_run_on_it() {
    let server = Server::with([json(r#"{"name":"read","inputSchema":{"type":"object","required":["x"]}}"#)]);
    let saw: Arc<Mutex<Vec<bool>>> = Arc::default();
    let seen = saw.clone();
    let world = Setup::policy(server, denying())
        .with(|revision| {
            revision.pre_hooks = vec![doing(PreOutcome::Halt(done("canned"))), pre("later", |_| panic!("ran"))];
            revision.post_hooks.push(post("post", move |_, result| {
                seen.lock().unwrap().push(result.is_synthetic());
                Ok(PostOutcome::Keep)
            }));
            revision.approver = Some(approving(|_| panic!("asked")));
        })
        .build();
    let traced = world.pipeline.run_traced(call("read", "{}")).await;
    let reply = traced.outcome.unwrap();
    assert!(reply.is_synthetic());
    assert_eq!(reply.value(), &done("canned"));
    assert_eq!(*saw.lock().unwrap(), [true]);
    assert!(traced.steps.iter().any(|step| (step.step, step.verdict) == ("policy", "skipped")));
    assert!(world.server.rounds().is_empty());
    assert_eq!(world.events(), ["baseline 1", "pre_hook hook halt", "post_hook post keep", "stop result synthetic"]);
}

#[tokio::test]
async fn a_halt_must_be_a_complete_result() {
    for (name, value) in [
        ("no object", json("[]")),
        ("input required", input_required(r#""requestState":"s""#)),
        ("input requests", json(r#"{"content":[],"inputRequests":{}}"#)),
        ("state", json(r#"{"content":[],"requestState":"s"}"#)),
        ("another type", json(r#"{"content":[],"resultType":"task"}"#)),
        ("a type that is no string", json(r#"{"content":[],"resultType":1}"#)),
        ("no content", json("{}")),
        ("content that is no array", json(r#"{"content":{}}"#)),
        ("a block without type", json(r#"{"content":[{"text":"x"}]}"#)),
        ("a flag that is no flag", json(r#"{"content":[],"isError":"no"}"#)),
    ] {
        let error = may(Powers::all(), PreOutcome::Halt(value)).build().error(call("read", "{}")).await;
        assert_eq!(error.data.to_string(), r#"{"plugin":"hook","failure":"bad_return"}"#, "{name}");
    }
    let marked = json(r#"{"content":[],"_meta":{"io.modelcontextprotocol/x":1},"isError":true,"structuredContent":{"a":1}}"#);
    let reply = may(Powers::all(), PreOutcome::Halt(marked)).build().reply(call("read", "{}")).await;
    assert_eq!(reply.to_string(), r#"{"content":[],"isError":true}"#, "meta is the host's, and an error keeps nothing unchecked");
}

#[tokio::test]
async fn a_halt_is_checked_against_the_output_schema() {
    let tool = || definition("read", r#""outputSchema":{"type":"object","required":["n"]}"#);
    for (name, strictness, result, outcome) in [
        ("fits", Strictness::Strict, structured(r#"{"n":1}"#), "ok"),
        ("does not fit", Strictness::Strict, structured("{}"), "invalid_result/schema_mismatch/no"),
        ("has none", Strictness::Strict, done("x"), "invalid_result/no_structured_content/no"),
        ("an error needs none", Strictness::Strict, json(r#"{"content":[],"isError":true}"#), "tool_error"),
        ("off", Strictness::Off, structured("{}"), "ok"),
    ] {
        let world = Setup::policy(Server::with([tool()]), allowing())
            .with(|revision| {
                revision.validate = Some(Validate { arguments: true, structured_content: strictness });
                revision.pre_hooks.push(doing(PreOutcome::Halt(result)));
            })
            .build();
        assert_eq!(world.said().await, outcome, "{name}");
    }
}

#[tokio::test]
async fn a_hook_sees_the_context_and_its_own_assigns_only() {
    let saw: Arc<Mutex<Vec<String>>> = Arc::default();
    let seen = saw.clone();
    let mut entry = pre("hook", move |call| {
        let context = &call.context;
        seen.lock().unwrap().push(format!(
            "{} {} {} {:?} {} {} {}",
            context.server,
            context.era,
            context.principal.as_ref().unwrap(),
            context.taint,
            Json::from((*context.assigns).clone()),
            context.has_approver,
            context.call_id.is_some(),
        ));
        Ok(PreOutcome::Proceed)
    });
    entry.assigns = AssignScope::Only(["team".to_owned()].into());
    let setup = Setup::policy(Server::new(), allowing()).with(|revision| revision.pre_hooks.push(entry));
    let world = Setup { assigns: vec![("team".to_owned(), "client".into()), ("key".to_owned(), "secret".into())], ..setup }.build();
    let options = || CallOptions::default().principal(alice()).taint(["web"]);
    world.reply(call("read", "{}").with(options())).await;
    world.reply(call("read", "{}").with(options().assigns([("team", "call"), ("token", "secret")]))).await;
    world.reply(call("read", "{}").with(options().assigns([("token", "secret")]))).await;
    let line = |assigns: &str| format!(r#"files modern test:alice {{"web"}} {assigns} false true"#);
    assert_eq!(
        *saw.lock().unwrap(),
        [line(r#"{"team":"client"}"#), line(r#"{"team":"call"}"#), line("{}")],
        "the call's replace the client's"
    );
}

#[tokio::test]
async fn a_hook_out_of_scope_is_not_started() {
    for (tool, runs) in [("read", true), ("re*", true), ("write", false)] {
        let mut entry = doing(PreOutcome::Deny(no("x")));
        entry.scope = Scope { server: None, tool: Some(Glob::new(tool).unwrap()) };
        let world = Setup::policy(Server::new(), allowing()).with(|revision| revision.pre_hooks.push(entry)).build();
        assert_eq!(world.said().await != "ok", runs, "{tool}");
    }
}
