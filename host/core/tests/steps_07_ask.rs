//! Step 7: an ask is settled by a live grant or by the approver; anything else is a deny.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test that cannot go on must fail where it stands")]

mod support;

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use callgate_core::extension::{Approver, Finding, PreOutcome, Verdict};
use callgate_core::model::{ArgumentConstraint, Call, CallOptions, Error, Failure, GrantTerms, Limit, Question, Reply, ToolCall};
use callgate_core::policy::{Condition, Policy, Rule, ValueTest};
use callgate_core::revision::{Entry, Powers};
use callgate_core::store::GrantStore;
use support::*;

fn asks(approver: Entry<dyn Approver>) -> Setup {
    Setup::policy(Server::new(), asking()).with(|revision| revision.approver = Some(approver))
}

fn by_alice() -> ToolCall {
    call("read", "{}").with(CallOptions::default().principal(alice()))
}

/// An approver that does something while it is asked.
fn meanwhile(act: impl Fn() + Send + Sync + 'static, verdict: Verdict) -> Entry<dyn Approver> {
    approving(move |_| {
        act();
        Ok(verdict.clone())
    })
}

/// From now on nobody is there to ask, so that only a grant can settle.
fn silence(world: &World) {
    let mut silent = (*world.pipeline.revision()).clone();
    silent.approver = None;
    world.pipeline.swap(silent);
}

#[tokio::test]
async fn the_four_verdicts() {
    for (name, verdict, outcome) in [
        ("allow once", Verdict::AllowOnce, "ok"),
        ("allow always", always(), "ok"),
        ("deny", Verdict::Deny(no("not_today")), "denied/ask_denied/no"),
        ("deny and halt", Verdict::DenyAndHalt(no("not_today")), "denied/ask_halt/no"),
    ] {
        let world = asks(approver(verdict)).build();
        let result = world.run(by_alice()).await;
        assert_eq!(said(&result), outcome, "{name}");
        if let Err(error) = result {
            assert_eq!(error.data.to_string(), r#"{"reason":"not_today","message":"because"}"#, "{name}");
        }
        assert_eq!(world.server.rounds().len(), usize::from(outcome == "ok"), "{name}");
    }
}

#[tokio::test]
async fn allow_once_records_no_grant_and_allow_always_one() {
    let world = asks(approver(Verdict::AllowOnce)).build();
    world.reply(by_alice()).await;
    assert!(GrantStore::list(&*world.store, 0).await.unwrap().is_empty());
    let world = asks(approver(always())).build();
    world.reply(by_alice()).await;
    let grant = GrantStore::list(&*world.store, 0).await.unwrap().remove(0);
    let tool = tool(definition("read", ""));
    assert_eq!(grant.given.principal.as_deref(), Some("test:alice"));
    assert_eq!((grant.given.server.as_str(), grant.given.tool.as_str(), grant.given.fingerprint), ("files", "read", tool.fingerprint()));
    assert_eq!(grant.given.causes, ["rule:all".to_owned()].into());
    assert_eq!(grant.given.expires_ms - grant.created_ms, 24 * 60 * 60 * 1_000, "a day by default");
}

#[tokio::test]
async fn a_live_grant_settles_the_next_ask() {
    let world = asks(approver(always())).build();
    world.reply(by_alice()).await;
    silence(&world);
    assert_eq!(said(&world.run(by_alice()).await), "ok");
    let bob = call("read", "{}").with(CallOptions::default().principal(callgate_core::model::Principal::new("test", "bob")));
    assert_eq!(said(&world.run(bob).await), "denied/ask_rule/no");
    assert_eq!(world.said().await, "denied/ask_rule/no", "nobody in particular");
}

#[tokio::test]
async fn every_way_to_fail_is_ask_failed() {
    for failure in failures() {
        let given = failure.clone();
        let world = asks(approving(move |_| Err(given.clone()))).build();
        let error = world.error(by_alice()).await;
        assert_eq!(said(&Err(error.clone())), "denied/ask_failed/no");
        assert_eq!(error.data, failure.to_json(None), "{failure}");
        assert!(!format!("{error} {}", error.data).contains("SECRET"), "{failure}");
        assert!(world.server.rounds().is_empty(), "{failure}");
    }
    let world = asks(approving(|_| panic!("an approver breaks"))).build();
    assert_eq!(world.error(by_alice()).await.data.to_string(), r#"{"failure":"trap"}"#, "a panic is the requirement's raise");
}

#[tokio::test(start_paused = true)]
async fn timeout_is_ask_failed_and_ends_the_approver() {
    let ended = Arc::new(Mutex::new(false));
    struct Ends(Arc<Mutex<bool>>);
    impl Drop for Ends {
        fn drop(&mut self) {
            *self.0.lock().unwrap() = true;
        }
    }
    let flag = ended.clone();
    let slow = move |_: Call, _: Arc<Question>| {
        let ends = Ends(flag.clone());
        async move {
            let _ends = ends;
            tokio::time::sleep(Duration::from_secs(3_600)).await;
            Ok::<_, Failure>(Verdict::AllowOnce)
        }
    };
    let world = asks(Entry::trusted("slow", Arc::new(slow))).build();
    let asked = tokio::time::Instant::now();
    let error = world.error(by_alice()).await;
    assert_eq!(asked.elapsed().as_secs(), 60, "the default");
    assert_eq!(error.reason.as_str(), "ask_failed");
    assert_eq!(error.data, Failure::timeout(Limit::WallClock).to_json(None));
    tokio::task::yield_now().await;
    assert!(*ended.lock().unwrap());
}

#[tokio::test]
async fn without_an_approver_the_asks_own_reason_denies() {
    let world = Setup::policy(Server::new(), asking()).build();
    let error = world.error(by_alice()).await;
    assert_eq!(said(&Err(error.clone())), "denied/ask_rule/no");
    assert_eq!(error.data.get("effect").unwrap().as_str(), Some("ask"));
    assert_eq!(error.data.get("rule").unwrap().as_str(), Some("all"));
}

#[tokio::test]
async fn the_approver_sees_exactly_what_is_sent() {
    let saw: Arc<Mutex<Vec<(String, String)>>> = Arc::default();
    let seen = saw.clone();
    let world = asks(approving(move |call| {
        seen.lock().unwrap().push((call.arguments.canonical().to_owned(), call.arguments.digest().to_string()));
        Ok(Verdict::AllowOnce)
    }))
    .with(|revision| revision.pre_hooks.push(pre("hook", |_| Ok(PreOutcome::Rewrite(json(r#"{"z":1.50,"a":"\u00e9"}"#))))))
    .build();
    world.reply(by_alice()).await;
    let (canonical, digest) = saw.lock().unwrap().remove(0);
    assert_eq!(world.server.rounds(), [format!(r#"{{"name":"read","arguments":{canonical}}}"#)]);
    assert_eq!(digest, args(&canonical).digest().to_string());
}

#[tokio::test]
async fn the_question_tells_why() {
    let heard: Arc<Mutex<Vec<Arc<Question>>>> = Arc::default();
    let asked = heard.clone();
    let listen = move |_: Call, question: Arc<Question>| {
        asked.lock().unwrap().push(question);
        async { Ok::<_, Failure>(Verdict::AllowOnce) }
    };
    let world = asks(Entry::trusted("person", Arc::new(listen)))
        .with(|revision| revision.pre_hooks.push(pre("hook", |_| Ok(PreOutcome::Ask(no("odd"))))))
        .build();
    let with_meta = |arguments: &str| {
        let options = CallOptions { meta: object(r#"{"com.example/x":1,"progressToken":"mine"}"#), ..CallOptions::default() };
        call("read", arguments).with(options.principal(alice()))
    };
    world.reply(with_meta(r#"{"n":1}"#)).await;
    world.reply(with_meta(r#"{"n":2}"#)).await;
    let bob = call("read", "{}").with(CallOptions::default().principal(callgate_core::model::Principal::new("test", "bob")));
    world.reply(bob).await;
    let heard = heard.lock().unwrap();
    assert_eq!((heard[0].reason.as_str(), heard[0].rule.as_deref()), ("ask_rule", Some("all")));
    assert_eq!(heard[0].hook_messages, [("hook".to_owned(), "because".to_owned())]);
    assert_eq!(heard[0].meta.to_string(), r#"{"com.example/x":1}"#, "T3: what will be sent along is shown");
    assert!(heard[0].earlier_arguments.is_none());
    assert_eq!(heard[1].earlier_arguments.as_ref().unwrap().canonical(), r#"{"n":1}"#);
    assert!(heard[2].earlier_arguments.is_none(), "T21: never those of another principal");
}

/// T7: a verdict after a prompt is the stricter of the person's and the plugin's; without one it needs `decide`, for good `always`.
#[tokio::test]
async fn prompts_and_powers() {
    let (once, for_good) = (|| Some(Verdict::AllowOnce), || Some(always()));
    let (deny, halt) = (|| Some(Verdict::Deny(no("x"))), || Some(Verdict::DenyAndHalt(no("x"))));
    let none = Powers::default;
    let all = || Powers { always: true, decide: true, ..none() };
    for (name, times, plugin, person, powers, outcome, grants) in [
        ("person once, plugin once", 1, once(), once(), none(), "ok", 0),
        ("person once, plugin always", 1, for_good(), once(), all(), "ok", 0),
        ("person always, plugin once", 1, once(), for_good(), all(), "ok", 0),
        ("person always, plugin always", 1, for_good(), for_good(), all(), "ok", 1),
        ("person always, plugin always, no power", 1, for_good(), for_good(), none(), "ok", 0),
        ("person no, plugin once", 1, once(), deny(), all(), "denied/ask_denied/no", 0),
        ("person no, plugin always", 1, for_good(), deny(), all(), "denied/ask_denied/no", 0),
        ("person halt, plugin no", 1, deny(), halt(), all(), "denied/ask_halt/no", 0),
        ("person once, plugin no", 1, deny(), once(), all(), "denied/ask_denied/no", 0),
        ("person once, plugin halt", 1, halt(), once(), all(), "denied/ask_halt/no", 0),
        ("nobody there, plugin once", 1, once(), None, all(), "denied/ask_failed/no", 0),
        ("nobody there, plugin no", 1, deny(), None, all(), "denied/ask_denied/no", 0),
        ("nobody there, plugin as told", 1, None, None, all(), "denied/ask_failed/no", 0),
        ("asked twice", 2, once(), once(), all(), "ok", 0),
        ("asked twice, no", 2, once(), deny(), all(), "denied/ask_denied/no", 0),
        ("not asked, decides", 0, once(), deny(), Powers { decide: true, ..none() }, "ok", 0),
        ("not asked, may not decide", 0, once(), once(), Powers { always: true, ..none() }, "denied/ask_failed/no", 0),
        ("not asked, no is free", 0, deny(), once(), none(), "denied/ask_denied/no", 0),
        ("not asked, halt is free", 0, halt(), once(), none(), "denied/ask_halt/no", 0),
        ("not asked, always", 0, for_good(), deny(), all(), "ok", 1),
        ("not asked, always without power", 0, for_good(), deny(), Powers { decide: true, ..none() }, "ok", 0),
    ] {
        let person = Person::who_says(person);
        let entry: Entry<dyn Approver> = Entry::plugin("plugin", Arc::new(Prompting { times, says: plugin }), powers);
        let world = Setup { prompter: Some(person.clone()), ..asks(entry) }.build();
        let result = world.run(by_alice()).await;
        assert_eq!(said(&result), outcome, "{name}");
        assert_eq!(GrantStore::list(&*world.store, 0).await.unwrap().len(), grants, "{name}");
        assert_eq!(person.asked(), times.min(1), "{name}: one prompt a review");
        if let Err(Error { reason: callgate_core::model::Reason::AskFailed, data, .. }) = &result {
            let expected = if times == 0 || name == "nobody there, plugin once" { "refused" } else { "no_answer" };
            assert_eq!(data.get("failure").unwrap().as_str(), Some(expected), "{name}");
        }
    }
}

#[tokio::test]
async fn a_prompt_that_cannot_reach_anyone_is_no_yes() {
    let entry: Entry<dyn Approver> =
        Entry::plugin("plugin", Arc::new(Prompting { times: 1, says: Some(Verdict::AllowOnce) }), Powers::default());
    assert_eq!(said(&asks(entry).build().run(by_alice()).await), "denied/ask_failed/no");
}

#[tokio::test]
async fn always_is_on_the_terms_of_both() {
    let terms = |uses, pointer_text: &str| GrantTerms {
        constraints: vec![ArgumentConstraint { pointer: pointer(pointer_text), one_of: vec![json("1")] }],
        uses,
        ..GrantTerms::default()
    };
    let person = Person::who_says(Verdict::AllowAlways(terms(None, "/a")));
    let plugin = Prompting { times: 1, says: Some(Verdict::AllowAlways(terms(Some(3), "/b"))) };
    let world = Setup { prompter: Some(person), ..asks(Entry::trusted("plugin", Arc::new(plugin))) }.build();
    world.reply(by_alice()).await;
    let grant = GrantStore::list(&*world.store, 0).await.unwrap().remove(0);
    assert_eq!((grant.given.terms.constraints.len(), grant.given.terms.uses), (2, Some(3)));
}

#[tokio::test]
async fn terms_narrow_a_grant() {
    let terms = GrantTerms {
        constraints: vec![ArgumentConstraint { pointer: pointer("/path"), one_of: vec!["/a".into(), "/b".into()] }],
        uses: Some(2),
        seconds: Some(1_000_000_000),
        note: None,
    };
    let world = asks(approver(Verdict::AllowAlways(terms))).build();
    let of = |arguments: &str| call("read", arguments).with(CallOptions::default().principal(alice()));
    world.reply(of(r#"{"path":"/c"}"#)).await;
    let grant = GrantStore::list(&*world.store, 0).await.unwrap().remove(0);
    assert_eq!(grant.given.expires_ms - grant.created_ms, 24 * 60 * 60 * 1_000, "never longer than the host's");
    silence(&world);
    for (arguments, outcome) in [
        (r#"{"path":"/c"}"#, "denied/ask_rule/no"),
        ("{}", "denied/ask_rule/no"),
        (r#"{"path":"/a"}"#, "ok"),
        (r#"{"path":"/b","more":1}"#, "ok"),
        (r#"{"path":"/a"}"#, "denied/ask_rule/no"),
    ] {
        assert_eq!(said(&world.run(of(arguments)).await), outcome, "{arguments}");
    }
}

#[tokio::test]
async fn a_last_use_is_got_by_one_of_two() {
    let world = asks(approver(Verdict::AllowAlways(GrantTerms { uses: Some(1), ..GrantTerms::default() }))).build();
    world.reply(by_alice()).await;
    silence(&world);
    let (a, b) = tokio::join!(world.run(by_alice()), world.run(by_alice()));
    let mut outcomes = [said(&a), said(&b)];
    outcomes.sort();
    assert_eq!(outcomes, ["denied/ask_rule/no", "ok"]);
}

#[tokio::test]
async fn an_expired_grant_settles_nothing() {
    let world = asks(approver(always())).with(|revision| revision.ask.grant_ttl = Duration::ZERO).build();
    assert_eq!(said(&world.run(by_alice()).await), "denied/grant_revoked/no", "it is over before the call could leave");
    silence(&world);
    assert_eq!(said(&world.run(by_alice()).await), "denied/ask_rule/no");
}

/// T31: who approves for good has been told everything that the grant will be for, also what a pin hides.
#[tokio::test]
async fn the_question_names_every_cause_of_the_grant() {
    let heard: Arc<Mutex<Vec<Arc<Question>>>> = Arc::default();
    let asked = heard.clone();
    let listen = move |_: Call, question: Arc<Question>| {
        asked.lock().unwrap().push(question);
        async { Ok::<_, Failure>(always()) }
    };
    let entry: Entry<dyn callgate_core::extension::Approver> = Entry::trusted("person", Arc::new(listen));
    let policy = Policy { ask: vec![Rule::new("first", any_tool()), Rule::new("moves-money", any_tool())], ..Policy::default() };
    let world = Setup::policy(Server::new(), policy).with(|revision| revision.approver = Some(entry)).build();
    world.pipeline.list_all_tools().await.unwrap();
    world.server.lists([definition("read", r#""description":"other""#)]);
    world.server.list_changed();
    world.reply(by_alice()).await;
    let question = heard.lock().unwrap().remove(0);
    let causes: Vec<_> = question.causes.iter().map(String::as_str).collect();
    assert_eq!((question.reason.as_str(), causes), ("tool_changed", vec!["pin:tool_changed", "rule:first", "rule:moves-money"]));
    assert_eq!(GrantStore::list(&*world.store, 0).await.unwrap()[0].given.causes, question.causes);
}

/// T8: a grant settles only asks whose causes and taint are within its own.
#[tokio::test]
async fn a_grant_settles_no_ask_of_another_kind() {
    let policy = || Policy {
        ask: vec![
            Rule::new("write", Condition::Argument(pointer("/write"), ValueTest::Exists(true))),
            Rule::new("tainted", Condition::Tainted(Default::default())),
            Rule::new("read", Condition::Argument(pointer("/write"), ValueTest::Exists(false))),
        ],
        ..Policy::default()
    };
    let of =
        |arguments: &str, taint: &[&str]| call("read", arguments).with(CallOptions::default().principal(alice()).taint(taint.to_vec()));
    for (name, given, asked, settled) in [
        ("the same", ("{}", &[][..]), ("{}", &[][..]), true),
        ("another rule", ("{}", &[]), (r#"{"write":1}"#, &[]), false),
        ("clean, then tainted", ("{}", &[]), ("{}", &["web"]), false),
        ("tainted, then clean", ("{}", &["web"]), ("{}", &[]), true),
        ("tainted by one, then by two", ("{}", &["web"]), ("{}", &["web", "mail"]), false),
        ("tainted by two, then by one", ("{}", &["web", "mail"]), ("{}", &["mail"]), true),
        ("tainted by its own server only", ("{}", &[]), ("{}", &["files"]), false),
    ] {
        let world = Setup::policy(Server::new(), policy()).with(|revision| revision.approver = Some(approver(always()))).build();
        world.reply(of(given.0, given.1)).await;
        silence(&world);
        assert_eq!(said(&world.run(of(asked.0, asked.1)).await) == "ok", settled, "{name}");
    }
}

#[tokio::test]
async fn asks_that_cannot_be_granted_are_a_yes_for_one_call() {
    let failing = || Condition::Predicate(predicate("p", |_| Err(broke())));
    let undecided = || Condition::Predicate(predicate("p", |_| Ok(Finding::Undecided)));
    let matching = || Condition::Predicate(predicate("p", |_| Ok(Finding::Match)));
    for (name, rule, grants) in [
        ("grantable", Rule::new("r", matching()), 1),
        ("its rule says no", Rule { grantable: false, ..Rule::new("r", matching()) }, 0),
        ("a predicate failed", Rule::new("r", failing()), 0),
        ("a predicate is undecided", Rule::new("r", undecided()), 0),
        ("an argument is missing", Rule::new("r", Condition::Argument(pointer("/x"), ValueTest::Equals("y".into()))), 0),
    ] {
        let world = Setup::policy(Server::new(), Policy { ask: vec![rule], ..Policy::default() })
            .with(|revision| revision.approver = Some(approver(always())))
            .build();
        assert_eq!(said(&world.run(by_alice()).await), "ok", "{name}");
        assert_eq!(GrantStore::list(&*world.store, 0).await.unwrap().len(), grants, "{name}");
        silence(&world);
        assert_eq!(said(&world.run(by_alice()).await) == "ok", grants == 1, "{name}");
    }
}

/// Kin of T8: an allow rule that fails leaves the call to the default, or to the pin alone.
#[tokio::test]
async fn an_ask_that_is_there_because_an_allow_rule_failed_cannot_be_granted() {
    for (name, answer, changed, grants) in [
        ("no match", Ok(Finding::NoMatch), false, 1),
        ("failed", Err(broke()), false, 0),
        ("no match, and the definition changed", Ok(Finding::NoMatch), true, 1),
        ("failed, and the definition changed", Err(broke()), true, 0),
        ("match, and the definition changed", Ok(Finding::Match), true, 1),
    ] {
        let condition = Condition::Predicate(predicate("p", move |_| answer.clone()));
        let world = Setup::policy(Server::new(), Policy { allow: vec![Rule::new("r", condition)], ..Policy::default() })
            .with(|revision| revision.approver = Some(approver(always())))
            .build();
        world.pipeline.list_all_tools().await.unwrap();
        if changed {
            world.server.lists([definition("read", r#""description":"other""#)]);
            world.server.list_changed();
        }
        assert_eq!(said(&world.run(by_alice()).await), "ok", "{name}");
        assert_eq!(GrantStore::list(&*world.store, 0).await.unwrap().len(), grants, "{name}");
    }
}

#[tokio::test]
async fn nobody_in_particular_has_no_grants_unless_that_is_allowed() {
    for (allowed, first, second) in [(false, "denied/anonymous_grant/no", "denied/ask_rule/no"), (true, "ok", "ok")] {
        let world = asks(approver(always())).with(|revision| revision.ask.allow_anonymous_grants = allowed).build();
        assert_eq!(world.said().await, first);
        silence(&world);
        assert_eq!(world.said().await, second);
        let empty = call("read", "{}").with(CallOptions::default().principal(callgate_core::model::Principal::new("", "")));
        assert_eq!(said(&world.run(empty).await), "denied/ask_rule/no", "none is not the empty one");
    }
}

#[tokio::test]
async fn a_store_that_fails_at_any_call_is_a_deny_and_nothing_is_sent() {
    for point in ["granted", "settle", "record", "is_live"] {
        let world = asks(approver(always())).build();
        world.store.break_at(point, 0);
        assert_eq!(said(&world.run(by_alice()).await), "denied/store_failed/no", "{point}");
        assert!(world.server.rounds().is_empty(), "{point}");
    }
}

#[tokio::test]
async fn a_caller_that_cancels_while_it_waits_is_not_sent_for() {
    let cancelled = by_alice();
    let token = cancelled.options.cancel.clone();
    let hangs = move |_: Call, _: Arc<Question>| {
        let token = token.clone();
        async move {
            token.cancel();
            std::future::pending::<Result<Verdict, Failure>>().await
        }
    };
    let world = asks(Entry::trusted("person", Arc::new(hangs))).build();
    assert_eq!(said(&world.run(cancelled).await), "denied/cancelled/no");
    assert!(world.server.rounds().is_empty());
}

#[tokio::test]
async fn what_changes_during_the_wait_is_noticed() {
    type Change = fn(&Server);
    let cases: [(&str, Change, &str); 6] = [
        ("nothing", |_| (), "ok"),
        (
            "the definition",
            |server| {
                server.lists([definition("read", r#""description":"other""#)]);
                server.list_changed();
            },
            "denied/tool_changed/no",
        ),
        (
            "the tool is gone",
            |server| {
                server.lists([definition("other", "")]);
                server.list_changed();
            },
            "denied/tool_changed/no",
        ),
        ("a notice, and the same definition", Server::list_changed, "ok"),
        ("the server is another process", Server::reconnect, "transport/reconnected/no"),
        ("the connection is closed", Server::close, "transport/reconnected/no"),
    ];
    for (name, change, outcome) in cases {
        let server = Server::new();
        let changing = server.clone();
        let world = Setup::policy(server, asking())
            .with(|revision| revision.approver = Some(meanwhile(move || change(&changing), Verdict::AllowOnce)))
            .build();
        assert_eq!(said(&world.run(by_alice()).await), outcome, "{name}");
        assert_eq!(world.server.rounds().len(), usize::from(outcome == "ok"), "{name}");
    }
}

#[tokio::test]
async fn a_change_during_the_wait_makes_no_grant() {
    let server = Server::new();
    let changing = server.clone();
    let change = move || {
        changing.lists([definition("read", r#""description":"other""#)]);
        changing.list_changed();
    };
    let world = Setup::policy(server, asking()).with(|revision| revision.approver = Some(meanwhile(change, always()))).build();
    assert_eq!(said(&world.run(by_alice()).await), "denied/tool_changed/no");
    assert!(GrantStore::list(&*world.store, 0).await.unwrap().is_empty());
}

#[tokio::test]
async fn the_wait_is_not_the_servers_time() {
    let slow = |_: Call, _: Arc<Question>| async {
        tokio::time::sleep(Duration::from_millis(80)).await;
        Ok::<_, Failure>(Verdict::AllowOnce)
    };
    let world = asks(Entry::trusted("person", Arc::new(slow))).build();
    let options = CallOptions { timeout: Some(Duration::from_millis(60)), ..CallOptions::default() };
    let begun = Instant::now();
    let outcome: Result<Reply, Error> = world.run(call("read", "{}").with(options)).await;
    assert_eq!(said(&outcome), "ok");
    assert!(begun.elapsed() >= Duration::from_millis(80));
}

#[tokio::test]
async fn a_grant_settles_a_pin_ask_only_for_the_definition_it_was_given_for() {
    let world = Setup::policy(Server::new(), asking()).with(|revision| revision.approver = Some(approver(always()))).build();
    world.reply(by_alice()).await;
    silence(&world);
    world.server.lists([definition("read", r#""description":"other""#)]);
    world.server.list_changed();
    assert_eq!(said(&world.run(by_alice()).await), "denied/tool_changed/no");
}
