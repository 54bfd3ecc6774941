//! Step 6: deny > pin > ask > allow > default. Total: it always decides.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test that cannot go on must fail where it stands")]

mod support;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use callgate_core::extension::{Finding, PreOutcome, Verdict};
use callgate_core::model::{Call, CallOptions, Context, Effect, Era, Hint, Principal, Reason};
use callgate_core::policy::{Condition, Evidence, Glob, Pattern, Policy, PredicateEntry, Rule, Truth, ValueTest};
use callgate_core::revision::AssignScope;
use support::*;

/// Answers predicates by their names.
fn by_name(entry: &PredicateEntry, _: &Call) -> Truth {
    match entry.name.as_str() {
        "yes" => Truth::True,
        "no" => Truth::False,
        _ => Truth::Failed,
    }
}

fn says(name: &str) -> Condition {
    Condition::Predicate(predicate(name, |_| panic!("the oracle answers")))
}

fn decide(policy: &Policy, evidence: &Evidence) -> (Effect, Reason) {
    let decision = policy.evaluate(&seen(tool(definition("read", "")), "{}"), evidence, &mut by_name);
    (decision.effect, decision.reason)
}

#[test]
fn deny_over_pin_over_ask_over_allow_over_default() {
    let rules = |on: bool| if on { vec![Rule::new("r", any_tool())] } else { vec![] };
    for bits in 0..32 {
        let on = |bit: u32| bits & 1 << bit != 0;
        let policy = Policy { deny: rules(on(0)), ask: rules(on(2)), allow: rules(on(4)), default: Some(Effect::Deny) };
        let evidence = Evidence { pin: on(1).then_some(Reason::ToolChanged), hook_asks: if on(3) { vec!["h".to_owned()] } else { vec![] } };
        let expected = if on(0) {
            (Effect::Deny, Reason::DenyRule)
        } else if on(1) && (on(2) || on(3) || on(4)) {
            // Over ask and allow; a definition that nothing allows is not asked about for having changed.
            (Effect::Ask, Reason::ToolChanged)
        } else if on(2) {
            (Effect::Ask, Reason::AskRule)
        } else if on(3) {
            (Effect::Ask, Reason::HookAsk)
        } else if on(4) {
            (Effect::Allow, Reason::AllowRule)
        } else {
            (Effect::Deny, Reason::NoRule)
        };
        assert_eq!(decide(&policy, &evidence), expected, "{bits:05b}");
    }
}

#[test]
fn nothing_matching_asks_where_there_is_an_approver_and_else_denies_unless_a_default_is_set() {
    for (default, has_approver, effect) in [
        (None, true, Effect::Ask),
        (None, false, Effect::Deny),
        (Some(Effect::Ask), false, Effect::Ask),
        (Some(Effect::Deny), true, Effect::Deny),
        (Some(Effect::Allow), false, Effect::Allow),
    ] {
        let mut call = seen(tool(definition("read", "")), "{}");
        call.context = Arc::new(Context { has_approver, ..Context::clone(&call.context) });
        let decision = Policy { default, ..Policy::default() }.evaluate(&call, &Evidence::default(), &mut by_name);
        assert_eq!((decision.effect, decision.reason), (effect, Reason::NoRule), "{default:?} {has_approver}");
    }
}

#[test]
fn a_decision_names_its_rule_and_the_others_that_matched() {
    let named = |names: &[&str]| names.iter().map(|name| Rule::new(*name, any_tool())).collect::<Vec<_>>();
    let call = seen(tool(definition("read", "")), "{}");
    let evaluate = |policy: Policy| policy.evaluate(&call, &Evidence::default(), &mut by_name).to_json().to_string();
    assert_eq!(
        evaluate(Policy { deny: named(&["a", "b"]), ask: named(&["c"]), ..Policy::default() }),
        r#"{"effect":"deny","reason":"deny_rule","rule":"a","also":["b"],"causes":[]}"#
    );
    assert_eq!(
        evaluate(Policy { ask: named(&["a", "b"]), allow: named(&["c"]), ..Policy::default() }),
        r#"{"effect":"ask","reason":"ask_rule","rule":"a","also":["b"],"causes":["rule:a","rule:b"]}"#
    );
    assert_eq!(
        evaluate(Policy { allow: named(&["a", "b"]), ..Policy::default() }),
        r#"{"effect":"allow","reason":"allow_rule","rule":"a","also":["b"],"causes":[]}"#
    );
}

/// T1: what could not be told counts as a match in deny and ask rules and as none in allow rules, whatever stands around it.
#[test]
fn failed_matches_in_deny_and_ask_and_never_in_allow() {
    let missing = || Condition::Argument(pointer("/missing"), ValueTest::Equals("x".into()));
    let wrong_type = || Condition::Argument(pointer("/n"), ValueTest::Glob(Glob::new("*").unwrap()));
    let not = |condition| Condition::Not(Box::new(condition));
    for (name, condition, truth) in [
        ("failed", says("broken"), Truth::Failed),
        ("not failed", not(says("broken")), Truth::Failed),
        ("not not failed", not(not(says("broken"))), Truth::Failed),
        ("missing argument", missing(), Truth::Failed),
        ("not missing argument", not(missing()), Truth::Failed),
        ("wrong type", wrong_type(), Truth::Failed),
        ("not wrong type", not(wrong_type()), Truth::Failed),
        ("all, failed and true", Condition::All(vec![says("broken"), says("yes")]), Truth::Failed),
        ("all, failed and false", Condition::All(vec![says("broken"), says("no")]), Truth::False),
        ("any, failed and true", Condition::Any(vec![says("broken"), says("yes")]), Truth::True),
        ("any, failed and false", Condition::Any(vec![says("broken"), says("no")]), Truth::Failed),
        ("not all, failed and true", not(Condition::All(vec![says("broken"), says("yes")])), Truth::Failed),
        ("all of none", Condition::All(vec![]), Truth::True),
        ("any of none", Condition::Any(vec![]), Truth::False),
        ("true", says("yes"), Truth::True),
        ("not true", not(says("yes")), Truth::False),
    ] {
        let call = seen(tool(definition("read", "")), r#"{"n":1}"#);
        assert_eq!(condition.holds(&call, &mut by_name), truth, "{name}");
        let rule = || vec![Rule::new("r", condition.clone())];
        let default = Policy { default: Some(Effect::Allow), ..Policy::default() };
        let evaluate = |policy: Policy| policy.evaluate(&call, &Evidence::default(), &mut by_name).reason;
        let matches = truth != Truth::False;
        assert_eq!(evaluate(Policy { deny: rule(), ..default.clone() }) == Reason::DenyRule, matches, "{name} in deny");
        assert_eq!(evaluate(Policy { ask: rule(), ..default.clone() }) == Reason::AskRule, matches, "{name} in ask");
        assert_eq!(evaluate(Policy { allow: rule(), ..default }) == Reason::AllowRule, truth == Truth::True, "{name} in allow");
    }
}

#[test]
fn every_condition() {
    let glob = |text: &str| Glob::new(text).unwrap();
    let annotated = |annotations: &str| definition("read_file", &format!(r#""annotations":{annotations}"#));
    let base = seen(tool(annotated("{}")), r#"{"path":"/a/.b","n":5,"list":[1,2],"nil":null}"#);
    let with = |change: &dyn Fn(&mut Context)| {
        let mut context = Context::clone(&base.context);
        change(&mut context);
        Call { context: Arc::new(context), ..base.clone() }
    };
    let assigns = with(&|context| context.assigns = Arc::new(object(r#"{"team":"x","nil":null}"#)));
    let nobody = with(&|context| context.principal = None);
    let legacy = with(&|context| context.era = Era::Legacy);
    let tainted = |servers: &[&str]| with(&|context| context.taint = servers.iter().map(|server| (*server).to_owned()).collect());
    let at = |path: &str, test| Condition::Argument(pointer(path), test);
    let assign = |key: &str, test| Condition::Assign(key.to_owned(), test);
    let taint = |ignore: &[&str]| Condition::Tainted(ignore.iter().map(|server| (*server).to_owned()).collect());
    let text = |text: &str| ValueTest::Equals(text.into());
    use Truth::{Failed, False, True};
    for (name, condition, call, truth) in [
        ("tool", Condition::Tool(glob("read_*")), &base, True),
        ("tool, whole", Condition::Tool(glob("read")), &base, False),
        ("tool, case", Condition::Tool(glob("READ_*")), &base, False),
        ("server", Condition::Server(glob("files")), &base, True),
        ("server, other", Condition::Server(glob("mail")), &base, False),
        ("era", Condition::Era(Era::Modern), &base, True),
        ("era, other", Condition::Era(Era::Modern), &legacy, False),
        ("principal", Condition::Principal(glob("test:*")), &base, True),
        ("principal, other", Condition::Principal(glob("cli:*")), &base, False),
        ("principal, nobody", Condition::Principal(glob("*")), &nobody, Failed),
        ("argument equals", at("/path", text("/a/.b")), &base, True),
        ("argument one of", at("/n", ValueTest::OneOf(vec![json("4"), json("5.0")])), &base, True),
        ("argument glob", at("/path", ValueTest::Glob(glob("/a/*"))), &base, True),
        ("argument regex", at("/path", ValueTest::Regex(Pattern::new("(^|/)[.]").unwrap())), &base, True),
        ("argument regex, number", at("/n", ValueTest::Regex(Pattern::new("5").unwrap())), &base, Failed),
        ("argument range", at("/n", ValueTest::Range { min: json("5").as_number().cloned(), max: None }), &base, True),
        ("argument range, text", at("/path", ValueTest::Range { min: None, max: None }), &base, Failed),
        ("argument length", at("/list", ValueTest::Length { min: Some(2), max: Some(2) }), &base, True),
        ("argument item", at("/list/1", ValueTest::Equals(json("2"))), &base, True),
        ("argument missing", at("/x", text("y")), &base, Failed),
        ("argument null", at("/nil", text("y")), &base, False),
        ("argument exists", at("/x", ValueTest::Exists(true)), &base, False),
        ("argument does not exist", at("/x", ValueTest::Exists(false)), &base, True),
        ("whole arguments", at("", ValueTest::Length { min: Some(4), max: Some(4) }), &base, True),
        ("assign", assign("team", text("x")), &assigns, True),
        ("assign, other", assign("team", text("y")), &assigns, False),
        ("assign, missing", assign("team", text("x")), &base, Failed),
        ("assign, null is missing", assign("nil", ValueTest::Exists(true)), &assigns, False),
        ("untainted", taint(&[]), &base, False),
        ("tainted", taint(&[]), &tainted(&["web"]), True),
        ("tainted by itself only", taint(&[]), &tainted(&["files"]), False),
        ("tainted, ignored", taint(&["web"]), &tainted(&["web", "files"]), False),
        ("tainted, one not ignored", taint(&["web"]), &tainted(&["web", "mail"]), True),
        ("predicate", says("yes"), &base, True),
        ("predicate, failed", says("broken"), &base, Failed),
    ] {
        assert_eq!(condition.holds(call, &mut by_name), truth, "{name}");
    }
}

/// T9: hints count only for trusted servers, and have the protocol's worst value for all others.
#[test]
fn every_hint() {
    let call = |annotations: &str, trusted: bool| {
        let definition = definition("read", &format!(r#""annotations":{annotations}"#));
        let tool = callgate_core::model::Tool::new(identity("files"), definition, trusted, Default::default()).unwrap();
        seen(Arc::new(tool), "{}")
    };
    let all = r#"{"readOnlyHint":true,"destructiveHint":true,"idempotentHint":true,"openWorldHint":false}"#;
    for (name, annotations, trusted, read_only, destructive, idempotent, open_world) in [
        ("nothing said", "{}", true, false, true, false, true),
        ("all said", all, true, true, false, true, false),
        ("all said, not trusted", all, false, false, true, false, true),
        ("not destructive", r#"{"destructiveHint":false}"#, true, false, false, false, true),
        ("not destructive, not trusted", r#"{"destructiveHint":false}"#, false, false, true, false, true),
        ("of another type", r#"{"readOnlyHint":"true","openWorldHint":0}"#, true, false, true, false, true),
    ] {
        for (hint, value) in
            [(Hint::ReadOnly, read_only), (Hint::Destructive, destructive), (Hint::Idempotent, idempotent), (Hint::OpenWorld, open_world)]
        {
            let call = call(annotations, trusted);
            assert_eq!(Condition::Annotation(hint, true).holds(&call, &mut by_name) == Truth::True, value, "{name}: {hint:?}");
            assert_eq!(Condition::Annotation(hint, false).holds(&call, &mut by_name) == Truth::True, !value, "{name}: not {hint:?}");
        }
    }
}

#[tokio::test]
async fn trust_is_the_servers_and_off_by_default() {
    let annotated = || Server::with([definition("read", r#""annotations":{"readOnlyHint":true}"#)]);
    let policy = || Policy { allow: vec![Rule::new("r", Condition::Annotation(Hint::ReadOnly, true))], ..Policy::default() };
    assert_eq!(Setup::policy(annotated(), policy()).build().said().await, "denied/no_rule/no");
    assert_eq!(Setup { trust: true, ..Setup::policy(annotated(), policy()) }.build().said().await, "ok");
}

#[tokio::test]
async fn denials_and_their_data() {
    for (name, policy, reason, data) in [
        ("deny", denying(), "deny_rule", r#"{"effect":"deny","reason":"deny_rule","rule":"none","also":[],"causes":[]}"#),
        ("nothing", Policy::default(), "no_rule", r#"{"effect":"deny","reason":"no_rule","rule":null,"also":[],"causes":["default"]}"#),
        (
            "default deny",
            Policy { default: Some(Effect::Deny), ..Policy::default() },
            "no_rule",
            r#"{"effect":"deny","reason":"no_rule","rule":null,"also":[],"causes":["default"]}"#,
        ),
    ] {
        let world = Setup::policy(Server::new(), policy).build();
        let error = world.error(call("read", "{}")).await;
        assert_eq!((error.kind.as_str(), error.reason.as_str(), error.sent.as_str()), ("denied", reason, "no"), "{name}");
        assert_eq!(error.data.to_string(), data, "{name}");
        assert!(world.server.rounds().is_empty(), "{name}");
    }
}

#[tokio::test]
async fn the_final_arguments_are_decided_on() {
    let policy = || Policy {
        deny: vec![Rule::new("etc", Condition::Argument(pointer("/path"), ValueTest::Glob(Glob::new("/etc/*").unwrap())))],
        ..allowing()
    };
    for (given, to, outcome) in
        [("/srv/x", "/etc/passwd", "denied/deny_rule/no"), ("/etc/passwd", "/srv/x", "ok"), ("/srv/x", "/srv/y", "ok")]
    {
        let world = Setup::policy(Server::new(), policy())
            .with(|revision| revision.pre_hooks.push(pre("move", move |_| Ok(PreOutcome::Rewrite(json(&format!(r#"{{"path":"{to}"}}"#)))))))
            .build();
        assert_eq!(said(&world.run(call("read", &format!(r#"{{"path":"{given}"}}"#))).await), outcome, "{given} to {to}");
    }
}

#[tokio::test]
async fn a_hooks_ask_counts_as_an_ask_rule() {
    let asks = || pre("hook", |_| Ok(PreOutcome::Ask(no("odd"))));
    let allow = || Policy { allow: vec![Rule::new("all", any_tool())], ..Policy::default() };
    for (name, policy, outcome) in [
        ("over allow", Some(allow()), "denied/hook_ask/no"),
        ("over the default", Some(allowing()), "denied/hook_ask/no"),
        ("under an ask rule", Some(asking()), "denied/ask_rule/no"),
        ("under deny", Some(denying()), "denied/deny_rule/no"),
        ("without a policy", None, "denied/hook_ask/no"),
    ] {
        let world = Setup::new(Server::new())
            .with(|revision| {
                revision.policy = policy;
                revision.pre_hooks.push(asks());
            })
            .build();
        assert_eq!(world.said().await, outcome, "{name}");
    }
}

#[tokio::test]
async fn predicates_run_under_guard_and_see_their_assigns_only() {
    let saw: Arc<Mutex<Vec<String>>> = Arc::default();
    for (name, answer, denies, allows) in [
        ("match", Some(Ok(Finding::Match)), true, true),
        ("no match", Some(Ok(Finding::NoMatch)), false, false),
        ("undecided", Some(Ok(Finding::Undecided)), true, false),
        ("failed", Some(Err(broke())), true, false),
        ("panics", None, true, false),
    ] {
        let seen = saw.clone();
        let mut entry = predicate("p", move |call| {
            seen.lock().unwrap().push(callgate_core::json::Json::from((*call.context.assigns).clone()).to_string());
            answer.clone().unwrap_or_else(|| panic!("a predicate breaks"))
        });
        entry.assigns = AssignScope::Only(["team".to_owned()].into());
        let rule = || vec![Rule::new("r", Condition::Predicate(entry.clone()))];
        let deny = Policy { deny: rule(), ..allowing() };
        let allow = Policy { allow: rule(), default: Some(Effect::Deny), ..Policy::default() };
        for (policy, passes) in [(deny, !denies), (allow, allows)] {
            let world = Setup::policy(Server::new(), policy).build();
            let call = call("read", "{}").with(CallOptions::default().assigns([("team", "x"), ("token", "SECRET")]));
            assert_eq!(said(&world.run(call).await) == "ok", passes, "{name}");
        }
    }
    assert!(saw.lock().unwrap().iter().all(|assigns| assigns == r#"{"team":"x"}"#));
}

#[tokio::test]
async fn a_predicate_is_asked_at_most_once_per_rule() {
    let asked = Arc::new(AtomicUsize::new(0));
    let counting = asked.clone();
    let entry = predicate("p", move |_| {
        counting.fetch_add(1, Ordering::Relaxed);
        Ok(Finding::NoMatch)
    });
    let rule = || vec![Rule::new("r", Condition::Predicate(entry.clone()))];
    let policy = Policy { deny: rule(), ask: rule(), allow: rule(), default: Some(Effect::Allow) };
    assert_eq!(Setup::policy(Server::new(), policy).build().said().await, "ok");
    assert_eq!(asked.load(Ordering::Relaxed), 3);
}

#[tokio::test]
async fn without_a_policy_the_verdict_is_no_policy() {
    let world = Setup::new(Server::new()).with(|revision| revision.pre_hooks.push(pre("p", |_| Ok(PreOutcome::Proceed)))).build();
    let traced = world.pipeline.run_traced(call("read", "{}")).await;
    assert!(traced.steps.iter().any(|step| (step.step, step.verdict) == ("policy", "no_policy")));
    assert!(world.events().contains(&"policy allow no_policy".to_owned()));
}

#[test]
fn principals_of_two_authenticators_never_share_a_text() {
    let texts = [
        Principal::new("jwt", "alice"),
        Principal::new("cli", "alice"),
        Principal::new("jwt", "alice").with_issuer("a"),
        Principal::new("jwt", "alice").with_issuer("b"),
        Principal::new("jwt", "a:alice"),
        Principal::new("jwt:a", "alice"),
        Principal::new("jwt", "a%3Aalice"),
        Principal::new("jwt", "alice").with_issuer(""),
        Principal::new("jwt", ""),
        Principal::new("jwt", ":"),
    ]
    .map(|principal| principal.to_string());
    let distinct: std::collections::BTreeSet<_> = texts.iter().collect();
    assert_eq!(distinct.len(), texts.len(), "{texts:?}");
}

#[tokio::test]
async fn causes_tell_everything_that_asks() {
    let world = Setup::policy(Server::new(), asking())
        .with(|revision| {
            revision.pre_hooks.push(pre("hook", |_| Ok(PreOutcome::Ask(no("odd")))));
            revision.approver = Some(approver(Verdict::Deny(no("x"))));
        })
        .build();
    world.pipeline.list_all_tools().await.unwrap();
    world.server.lists([definition("read", r#""description":"other""#)]);
    world.server.list_changed();
    world.said().await;
    assert!(world.raw_events().contains(r#"causes: {Rule("all"), Hook("hook"), Pin(ToolChanged)}"#), "{}", world.raw_events());
}
