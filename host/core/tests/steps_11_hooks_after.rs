//! Step 11: post-hooks on a result, or failure hooks on an error of steps 3 to 10.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test that cannot go on must fail where it stands")]

mod support;

use std::sync::{Arc, Mutex};

use callgate_core::extension::{FailureOutcome, FailureText, PostOutcome, PreOutcome, Verdict};
use callgate_core::json::Json;
use callgate_core::model::{CallOptions, Error, Kind, Reason, Sent};
use callgate_core::policy::Policy;
use callgate_core::revision::Powers;
use support::*;

fn with_post(powers: Powers, outcome: PostOutcome) -> Setup {
    Setup::policy(Server::new().replies([done("secret")]), allowing())
        .with(|revision| revision.post_hooks.push(held(post("post", move |_, _| Ok(outcome.clone())), powers)))
}

fn text(message: &str) -> FailureOutcome {
    FailureOutcome::Replace(FailureText { message: message.to_owned(), data: Some("mine".into()) })
}

#[tokio::test]
async fn keep_replace_and_withhold_by_power() {
    let none = Powers::default;
    for (name, powers, outcome, said_then) in [
        ("keep needs none", none(), PostOutcome::Keep, "ok"),
        ("replace", Powers { replace: true, ..none() }, PostOutcome::Replace(done("clean")), "ok"),
        (
            "replace, not granted",
            Powers { replace: false, ..Powers::all() },
            PostOutcome::Replace(done("clean")),
            "hook/power_exceeded/yes",
        ),
        ("replace by the same needs none", none(), PostOutcome::Replace(done("secret")), "ok"),
        ("withhold", Powers { withhold: true, ..none() }, PostOutcome::Withhold(no("leak")), "denied/result_withheld/yes"),
        (
            "withhold, not granted",
            Powers { withhold: false, ..Powers::all() },
            PostOutcome::Withhold(no("leak")),
            "hook/power_exceeded/yes",
        ),
    ] {
        let world = with_post(powers, outcome.clone()).build();
        let result = world.run(call("read", "{}")).await;
        assert_eq!(said(&result), said_then, "{name}");
        assert_eq!(world.server.rounds().len(), 1, "{name}");
        match result {
            Ok(reply) if matches!(outcome, PostOutcome::Replace(_)) && name == "replace" => assert_eq!(reply.value(), &done("clean")),
            Ok(reply) => assert_eq!(reply.value(), &done("secret"), "{name}"),
            Err(error) => assert!(!format!("{error} {}", error.data).contains("secret"), "{name}"),
        }
    }
    let error = with_post(Powers::all(), PostOutcome::Withhold(no("leak"))).build().error(call("read", "{}")).await;
    assert_eq!(error.data.to_string(), r#"{"plugin":"post","reason":"leak","message":"because"}"#);
}

#[tokio::test]
async fn a_failing_one_withholds_and_the_call_was_sent() {
    for failure in failures() {
        let given = failure.clone();
        let world = Setup::policy(Server::new().replies([done("secret")]), allowing())
            .with(|revision| revision.post_hooks.push(post("post", move |_, _| Err(given.clone()))))
            .build();
        let error = world.error(call("read", "{}")).await;
        assert_eq!(said(&Err(error.clone())), "hook/hook_failed/yes", "{failure}");
        assert_eq!(error.data, failure.to_json(Some("post")));
        assert!(!format!("{error} {}", error.data).to_lowercase().contains("secret"), "{failure}");
    }
    let world =
        Setup::policy(Server::new(), allowing()).with(|revision| revision.post_hooks.push(post("post", |_, _| panic!("breaks")))).build();
    assert_eq!(world.said().await, "hook/hook_failed/yes");
}

#[tokio::test]
async fn a_failing_one_on_a_halt_says_that_nothing_was_sent() {
    let world = Setup::policy(Server::new(), allowing())
        .with(|revision| {
            revision.pre_hooks.push(pre("halt", |_| Ok(PreOutcome::Halt(done("canned")))));
            revision.post_hooks.push(post("post", |_, _| Err(broke())));
        })
        .build();
    assert_eq!(world.said().await, "hook/hook_failed/no");
}

#[tokio::test]
async fn they_run_on_error_results_too_and_see_the_arguments_that_were_sent() {
    let saw: Arc<Mutex<Vec<String>>> = Arc::default();
    let seen = saw.clone();
    let failed = json(r#"{"content":[],"isError":true}"#);
    let world = Setup::policy(Server::new().replies([failed]), allowing())
        .with(|revision| {
            revision.pre_hooks.push(pre("pre", |_| Ok(PreOutcome::Rewrite(json(r#"{"a":1}"#)))));
            revision.post_hooks.push(post("post", move |call, result| {
                seen.lock().unwrap().push(format!("{} {} {}", call.arguments.canonical(), result.value(), result.is_error()));
                Ok(PostOutcome::Keep)
            }));
        })
        .build();
    assert_eq!(world.said().await, "tool_error");
    assert_eq!(*saw.lock().unwrap(), [r#"{"a":1} {"content":[],"isError":true} true"#]);
}

#[tokio::test]
async fn in_order_each_sees_what_its_predecessor_left() {
    let add = |letter: &'static str| {
        post(letter, move |_, result| {
            let text = result.content()[0].get("text").unwrap().as_str().unwrap().to_owned();
            Ok(PostOutcome::Replace(done(&(text + letter))))
        })
    };
    let world = Setup::policy(Server::new(), allowing()).with(|revision| revision.post_hooks = vec![add("b"), add("a")]).build();
    assert_eq!(world.reply(call("read", "{}")).await, done("okba"));
    let world = Setup::policy(Server::new(), allowing())
        .with(|revision| {
            revision.post_hooks = vec![post("no", |_, _| Ok(PostOutcome::Withhold(no("x")))), post("later", |_, _| panic!("ran"))]
        })
        .build();
    assert_eq!(world.said().await, "denied/result_withheld/yes");
}

#[tokio::test]
async fn what_a_hook_returns_must_be_a_complete_result() {
    for (name, value) in [
        ("input required", input_required(r#""requestState":"s""#)),
        ("requests", json(r#"{"content":[],"inputRequests":{}}"#)),
        ("no content", json("{}")),
        ("a block without type", json(r#"{"content":[{}]}"#)),
        ("no object", json("7")),
    ] {
        let error = with_post(Powers::all(), PostOutcome::Replace(value)).build().error(call("read", "{}")).await;
        assert_eq!(error.data.to_string(), r#"{"plugin":"post","failure":"bad_return"}"#, "{name}");
        assert_eq!(error.sent, Sent::Yes, "{name}");
    }
    let marked = json(r#"{"content":[],"_meta":{"x":1},"isError":true,"structuredContent":{}}"#);
    let reply = with_post(Powers::all(), PostOutcome::Replace(marked)).build().reply(call("read", "{}")).await;
    assert_eq!(reply.to_string(), r#"{"content":[],"isError":true}"#, "T19");
}

#[tokio::test]
async fn an_odd_result_given_back_unchanged_is_kept() {
    let odd = json(r#"{"content":[{"no":"type"}],"isError":true,"structuredContent":{"a":1},"_meta":{"k":1}}"#);
    let back = |_: &callgate_core::model::Call, result: &callgate_core::model::ToolResult| {
        let mut object = result.value().as_object().unwrap().clone();
        object.shift_remove("_meta");
        Ok(PostOutcome::Replace(object.into()))
    };
    let world = Setup::policy(Server::new().replies([odd.clone()]), allowing())
        .with(|revision| revision.post_hooks.push(held(post("post", back), Powers::default())))
        .build();
    assert_eq!(world.reply(call("read", "{}")).await.to_string(), odd.to_string());
}

#[tokio::test]
async fn a_replaced_result_keeps_its_origin() {
    let world = with_post(Powers::all(), PostOutcome::Replace(done("clean"))).build();
    assert!(!world.run(call("read", "{}")).await.unwrap().is_synthetic());
}

/// T18: with shaping on, hooks read cleaned text.
#[tokio::test]
async fn hooks_read_cleaned_text_where_the_result_is_for_a_model() {
    for (for_llm, read) in [(false, "sec\u{200b}ret"), (true, "secret")] {
        let saw: Arc<Mutex<Vec<String>>> = Arc::default();
        let seen = saw.clone();
        let world = Setup::policy(Server::new().replies([done("sec\u{200b}ret")]), allowing())
            .with(|revision| {
                revision.post_hooks.push(post("post", move |_, result| {
                    seen.lock().unwrap().push(result.content()[0].get("text").unwrap().as_str().unwrap().to_owned());
                    Ok(PostOutcome::Keep)
                }));
            })
            .build();
        let options = if for_llm { CallOptions::default().for_llm() } else { CallOptions::default() };
        world.reply(call("read", "{}").with(options)).await;
        assert_eq!(*saw.lock().unwrap(), [read]);
    }
}

#[tokio::test]
async fn an_unclean_name_does_not_become_one_that_was_checked() {
    let tool = definition("read", r#""outputSchema":{"type":"object","required":["n"]}"#);
    let reply = json(r#"{"content":[],"structuredContent\u200b":{"evil":1},"structuredContent":{"n":1},"isError\u200b":true}"#);
    let world = Setup::policy(Server::with([tool]).replies([reply]), allowing()).build();
    let reply = world.reply(call("read", "{}").with(CallOptions::default().for_llm())).await;
    assert_eq!(reply.get("structuredContent").unwrap().to_string(), r#"{"n":1}"#);
    assert_eq!(reply.get("isError"), None);
    let unchecked = json(r#"{"content":[],"structuredContent\u200b":{"evil":1}}"#);
    let world = Setup::policy(Server::new().replies([unchecked]), allowing()).build();
    let reply = world.reply(call("read", "{}").with(CallOptions::default().for_llm())).await;
    assert_eq!(reply.get("structuredContent"), None);
}

/// A failure hook that replaces everything it sees, and writes down what that was.
fn listening() -> (Setup, Arc<Mutex<Vec<String>>>) {
    let saw: Arc<Mutex<Vec<String>>> = Arc::default();
    let seen = saw.clone();
    let setup = Setup::policy(Server::new(), allowing()).with(|revision| {
        revision.failure_hooks.push(on_failure("kind words", move |call, error| {
            seen.lock().unwrap().push(format!("{} {}", error.reason.as_str(), call.arguments.canonical()));
            Ok(text("sorry"))
        }));
    });
    (setup, saw)
}

#[tokio::test]
async fn failure_hooks_run_on_errors_of_three_to_ten_only_and_change_words_only() {
    type Change = fn(Setup) -> Setup;
    let hook = |setup: Setup, outcome: PreOutcome| setup.with(|revision| revision.pre_hooks.push(pre("pre", move |_| Ok(outcome.clone()))));
    let _ = hook;
    let cases: [(&str, Change, &str, bool); 11] = [
        (
            "1 cannot connect",
            |setup| {
                setup.server.refuse(Error::new(Kind::Transport, Reason::NotConnected, "x"));
                setup
            },
            "transport/not_connected/no",
            false,
        ),
        (
            "1 unknown",
            |setup| {
                setup.server.lists([]);
                setup
            },
            "not_found/unknown_tool/no",
            false,
        ),
        (
            "2 hidden",
            |setup| setup.with(|revision| revision.filters.push(filter("f", |_| Err(broke())))),
            "not_found/unknown_tool/no",
            false,
        ),
        (
            "3 store",
            |setup| {
                setup.store.break_at("baseline", 1);
                setup
            },
            "denied/store_failed/no",
            true,
        ),
        ("4 pre-hook", |setup| setup.with(|revision| revision.pre_hooks.push(pre("p", |_| Err(broke())))), "hook/hook_failed/no", true),
        (
            "5 arguments",
            |setup| {
                setup.server.lists([json(r#"{"name":"read","inputSchema":{"type":"object","required":["x"]}}"#)]);
                setup
            },
            "invalid_arguments/schema_mismatch/no",
            true,
        ),
        ("6 policy", |setup| setup.with(|revision| revision.policy = Some(denying())), "denied/deny_rule/no", true),
        (
            "7 ask",
            |setup| {
                setup.with(|revision| {
                    revision.policy = Some(asking());
                    revision.approver = Some(approver(Verdict::DenyAndHalt(no("x"))));
                })
            },
            "denied/ask_halt/no",
            true,
        ),
        (
            "9 send",
            |setup| Setup {
                server: setup
                    .server
                    .clone()
                    .turns([Turn::Fail(Error::new(Kind::Upstream, Reason::ErrorReply, "secret").with_sent(Sent::Yes))]),
                ..setup
            },
            "upstream/error_reply/yes",
            true,
        ),
        (
            "10 result",
            |setup| Setup { server: setup.server.clone().replies([json("[]")]), ..setup },
            "invalid_result/not_an_object/yes",
            true,
        ),
        (
            "11 post-hook",
            |setup| setup.with(|revision| revision.post_hooks.push(post("p", |_, _| Err(broke())))),
            "hook/hook_failed/yes",
            false,
        ),
    ];
    for (name, change, outcome, runs) in cases {
        let (setup, saw) = listening();
        let world = change(setup).build();
        let error = world.error(call("read", "{}")).await;
        assert_eq!(said(&Err(error.clone())), outcome, "{name}: kind, reason and delivery stay");
        assert_eq!(saw.lock().unwrap().len(), usize::from(runs), "{name}");
        assert_eq!(error.message == "sorry" && error.data == Json::from("mine"), runs, "{name}");
    }
    let (setup, saw) = listening();
    assert_eq!(setup.build().said().await, "ok");
    assert!(saw.lock().unwrap().is_empty(), "and never on a result");
}

#[tokio::test]
async fn failure_hooks_see_the_call_as_the_last_step_left_it_and_each_others_words() {
    let (setup, saw) = listening();
    let later: Arc<Mutex<Vec<String>>> = Arc::default();
    let seen = later.clone();
    let world = setup
        .with(|revision| {
            revision.policy = Some(Policy { default: Some(callgate_core::model::Effect::Deny), ..Policy::default() });
            revision.pre_hooks.push(pre("pre", |_| Ok(PreOutcome::Rewrite(json(r#"{"a":1}"#)))));
            revision.failure_hooks.push(on_failure("later", move |_, error| {
                seen.lock().unwrap().push(error.message.clone());
                Ok(FailureOutcome::Keep)
            }));
        })
        .build();
    world.said().await;
    assert_eq!(*saw.lock().unwrap(), [r#"no_rule {"a":1}"#]);
    assert_eq!(*later.lock().unwrap(), ["sorry"]);
}

/// T18: one that fails leaves the error as it was, unless it was there to replace: then the host's own words stand alone.
#[tokio::test]
async fn a_failing_failure_hook() {
    let refusal = || Error::new(Kind::Upstream, Reason::ErrorReply, "secret").with_data("secret".into()).with_sent(Sent::Yes);
    for (name, powers, answer, bare) in [
        ("fails, with replace", Powers { replace: true, ..Powers::default() }, Some(Err(broke())), true),
        ("fails, without", Powers::default(), Some(Err(broke())), false),
        ("panics, with replace", Powers { replace: true, ..Powers::default() }, None, true),
        ("panics, without", Powers::default(), None, false),
        ("replaces, without the power", Powers::default(), Some(Ok(text("mine"))), false),
        ("keeps", Powers::default(), Some(Ok(FailureOutcome::Keep)), false),
    ] {
        let world = Setup::policy(Server::new().turns([Turn::Fail(refusal())]), allowing())
            .with(|revision| {
                let hook = on_failure("hook", move |_, _| answer.clone().unwrap_or_else(|| panic!("breaks")));
                revision.failure_hooks.push(held(hook, powers));
            })
            .build();
        let error = world.error(call("read", "{}")).await;
        assert_eq!(said(&Err(error.clone())), "upstream/error_reply/yes", "{name}");
        let told = format!("{} {}", error.message, error.data);
        assert_eq!(told, if bare { "the call failed: error_reply null" } else { "secret \"secret\"" }, "{name}");
    }
}

#[tokio::test]
async fn an_errors_text_for_a_model_is_cleaned_before_and_after_the_hooks() {
    let saw: Arc<Mutex<Vec<String>>> = Arc::default();
    let seen = saw.clone();
    let failure = Error::new(Kind::Upstream, Reason::ErrorReply, "a\u{200b}b").with_data("c\u{202e}d".into()).with_sent(Sent::Yes);
    let world = Setup::policy(Server::new().turns([Turn::Fail(failure)]), allowing())
        .with(|revision| {
            revision.failure_hooks.push(on_failure("hook", move |_, error| {
                seen.lock().unwrap().push(format!("{} {}", error.message, error.data));
                let message = format!("e\u{200b}f{}", "x".repeat(100_000));
                Ok(FailureOutcome::Replace(FailureText { message, data: Some("g\u{202e}".repeat(100_000).into()) }))
            }));
        })
        .build();
    let error = world.error(call("read", "{}").with(CallOptions::default().for_llm())).await;
    assert_eq!(*saw.lock().unwrap(), ["ab \"cd\""]);
    assert!(error.message.starts_with("efx") && error.message.len() <= 4_000, "{} bytes", error.message.len());
    assert_eq!(error.data.as_str(), Some("removed by the MCP client: too large"));
}
