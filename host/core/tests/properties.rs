//! What must hold for every call: nothing is sent when anything failed to decide, and what is sent is what was seen.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test that cannot go on must fail where it stands")]

mod support;

use std::sync::{Arc, Mutex};

use callgate_core::extension::{Finding, PreOutcome, Verdict, Visibility};
use callgate_core::json::{ChangeKind, Json, Number, Object, Pointer, diff, patch};
use callgate_core::model::{Arguments, Call, CallOptions, Effect, Failure, Reason};
use callgate_core::policy::{Condition, Evidence, Glob, Policy, PredicateEntry, Rule, Truth, ValueTest};
use proptest::prelude::*;
use support::*;

fn cases(cases: u32) -> ProptestConfig {
    // More where the environment asks for more.
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(cases);
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

// JSON

fn number() -> impl Strategy<Value = Json> {
    prop_oneof![
        any::<i64>().prop_map(Json::from),
        any::<u64>().prop_map(Json::from),
        any::<f64>().prop_filter("finite", |double| double.is_finite()).prop_map(|double| json(&format!("{double:e}"))),
        "-?(0|[1-9][0-9]{0,25})([.][0-9]{1,25})?([eE][+-]?[0-9]{1,3})?".prop_map(|token| json(&token)),
    ]
}

fn value() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![Just(Json::Null), any::<bool>().prop_map(Json::from), number(), any::<String>().prop_map(Json::from)];
    leaf.prop_recursive(4, 32, 5, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Json::from),
            proptest::collection::vec((prop_oneof!["[ab/~]{0,3}", any::<String>()], inner), 0..5)
                .prop_map(|members| members.into_iter().collect()),
        ]
    })
}

fn arguments() -> impl Strategy<Value = Arguments> {
    proptest::collection::vec(("[a-d]", value()), 0..4)
        .prop_map(|members| members.into_iter().collect::<Json>())
        .prop_filter_map("exact numbers only", |value| Arguments::from_json(value).ok())
}

/// Applies an RFC 6902 patch, as anyone else would.
fn apply(document: &Json, patch: &Json) -> Json {
    let mut document = document.clone();
    for operation in patch.as_array().unwrap() {
        let path: Pointer = operation.get("path").unwrap().as_str().unwrap().parse().unwrap();
        let value = operation.get("value").cloned();
        let op = operation.get("op").unwrap().as_str().unwrap();
        assert_eq!(value.is_none(), op == "remove");
        change(&mut document, path.tokens(), value, op);
    }
    document
}

fn change(place: &mut Json, tokens: &[String], value: Option<Json>, op: &str) {
    let Some((first, rest)) = tokens.split_first() else {
        *place = value.unwrap();
        return;
    };
    match place {
        Json::Object(object) if rest.is_empty() => {
            assert_eq!(object.contains_key(first), op != "add");
            match value {
                Some(value) => drop(object.insert(first.clone(), value)),
                None => drop(object.shift_remove(first)),
            }
        }
        Json::Object(object) => change(object.get_mut(first).unwrap(), rest, value, op),
        Json::Array(items) => change(&mut items[first.parse::<usize>().unwrap()], rest, value, op),
        _ => panic!("no such place"),
    }
}

fn has_inexact(value: &Json) -> bool {
    match value {
        Json::Number(number) => !number.is_exact(),
        Json::Array(items) => items.iter().any(has_inexact),
        Json::Object(object) => object.values().any(has_inexact),
        _ => false,
    }
}

proptest! {
    #![proptest_config(cases(512))]

    #[test]
    fn what_is_written_is_read_back(value in value()) {
        let written = value.to_string();
        prop_assert_eq!(&json(&written), &value);
        prop_assert_eq!(json(&written).to_string(), written);
    }

    #[test]
    fn canonical_form_is_read_back_and_stays(value in value()) {
        let canonical = value.canonical();
        let again = json(&canonical);
        prop_assert_eq!(again.canonical(), canonical);
        if !has_inexact(&value) {
            prop_assert_eq!(again, value);
        }
    }

    #[test]
    fn canonical_form_is_the_same_for_every_order_and_spelling(value in value()) {
        fn reversed(value: &Json) -> Json {
            match value {
                Json::Array(items) => items.iter().map(reversed).collect::<Vec<_>>().into(),
                Json::Object(object) => object.iter().rev().map(|(key, item)| (key.clone(), reversed(item))).collect(),
                Json::Number(number) => number.as_i64().filter(|n| n.abs() < 1_000_000).map_or(value.clone(), |n| json(&format!("{n}.0e0"))),
                scalar => scalar.clone(),
            }
        }
        prop_assert_eq!(reversed(&value).canonical(), value.canonical());
    }

    #[test]
    fn distinct_integers_have_distinct_digests(a in any::<i128>(), near in 1..1_000i128, shift in 0..100u32) {
        let a = a >> shift;
        let of = |n: i128| callgate_core::digest::Digest::of_json(&json(&n.to_string()));
        prop_assert_ne!(of(a), of(a.wrapping_add(near)));
    }

    #[test]
    fn exact_numbers_keep_their_value(value in number()) {
        let number: &Number = value.as_number().unwrap();
        if number.is_exact() {
            prop_assert_eq!(&json(&number.canonical()), &value);
        }
    }

    #[test]
    fn the_reader_never_panics(text in prop_oneof![any::<String>(), "[\\[\\]{}\":,0-9eE.+\\-\\\\utrfalsn \u{0}]{0,40}"]) {
        if let Ok(value) = Json::parse(&text) {
            prop_assert_eq!(Json::parse(&value.to_string()).unwrap(), value);
        }
        let _ = Json::parse_bytes(text.as_bytes());
    }

    #[test]
    fn a_patch_leads_from_one_value_to_the_other(before in value(), after in value()) {
        prop_assert_eq!(apply(&before, &patch(&diff(&before, &after))), after);
    }

    #[test]
    fn a_diff_is_empty_for_equal_values_only(before in value(), after in value()) {
        prop_assert!(diff(&before, &before).is_empty());
        prop_assert_eq!(diff(&before, &after).is_empty(), before == after);
        for change in diff(&before, &after) {
            prop_assert_eq!(before.at(&change.pointer).is_none(), matches!(change.kind, ChangeKind::Added(_)));
            prop_assert_eq!(after.at(&change.pointer).is_none(), matches!(change.kind, ChangeKind::Removed));
        }
    }

    #[test]
    fn pointers_are_read_back(tokens in proptest::collection::vec(any::<String>(), 0..5)) {
        let pointer = tokens.iter().fold(Pointer::root(), |pointer, token| pointer.child(token.as_str()));
        prop_assert_eq!(pointer.to_string().parse::<Pointer>().unwrap(), pointer);
    }
}

// Policy

fn condition() -> impl Strategy<Value = Condition> {
    let test = prop_oneof![
        any::<bool>().prop_map(ValueTest::Exists),
        (0..3u64).prop_map(|n| ValueTest::Equals(n.into())),
        Just(ValueTest::Glob(Glob::new("x*").unwrap())),
        (0..3u64).prop_map(|n| ValueTest::Length { min: Some(n), max: None }),
    ];
    let leaf = prop_oneof![
        prop_oneof![Just("read"), Just("w*"), Just("*")].prop_map(is_tool),
        ("/[ab]", test).prop_map(|(at, test)| Condition::Argument(pointer(&at), test)),
        prop_oneof![Just("yes"), Just("no"), Just("broken")].prop_map(|name| Condition::Predicate(predicate(name, |_| Err(broke())))),
        Just(Condition::Principal(Glob::new("*").unwrap())),
        Just(Condition::Tainted(["mail".to_owned()].into())),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..3).prop_map(Condition::All),
            proptest::collection::vec(inner.clone(), 0..3).prop_map(Condition::Any),
            inner.prop_map(|condition| Condition::Not(Box::new(condition))),
        ]
    })
}

fn rules() -> impl Strategy<Value = Vec<Rule>> {
    let rule =
        (condition(), any::<bool>(), "[a-z]").prop_map(|(condition, grantable, name)| Rule { grantable, ..Rule::new(name, condition) });
    proptest::collection::vec(rule, 0..3)
}

fn policy() -> impl Strategy<Value = Policy> {
    let default = proptest::option::of(prop_oneof![Just(Effect::Deny), Just(Effect::Ask), Just(Effect::Allow)]);
    (rules(), rules(), rules(), default).prop_map(|(deny, ask, allow, default)| Policy { deny, ask, allow, default })
}

/// Numbers for truth: 0 false, 1 failed, 2 true. Then `all` is the least, `any` the greatest, and `not` is 2 minus it.
fn reference(condition: &Condition, call: &Call) -> u8 {
    let known = |truth: bool| if truth { 2 } else { 0 };
    match condition {
        Condition::All(parts) => parts.iter().map(|part| reference(part, call)).min().unwrap_or(2),
        Condition::Any(parts) => parts.iter().map(|part| reference(part, call)).max().unwrap_or(0),
        Condition::Not(part) => 2 - reference(part, call),
        Condition::Tool(glob) => known(glob.matches("read")),
        Condition::Principal(_) => {
            if call.context.principal.is_some() {
                2
            } else {
                1
            }
        }
        Condition::Tainted(_) => known(call.context.taint.iter().any(|server| server != "mail" && server != "files")),
        Condition::Predicate(entry) => match entry.name.as_str() {
            "yes" => 2,
            "no" => 0,
            _ => 1,
        },
        Condition::Argument(pointer, test) => {
            let value = call.arguments.value().get(pointer.tokens().first().unwrap());
            match (test, value) {
                (ValueTest::Exists(wanted), value) => known(value.is_some() == *wanted),
                (_, None) => 1,
                (ValueTest::Equals(wanted), Some(value)) => known(value.canonical() == wanted.canonical()),
                (ValueTest::Glob(_), Some(Json::String(text))) if text.contains('\n') => 1,
                (ValueTest::Glob(_), Some(Json::String(text))) => known(text.starts_with('x')),
                (ValueTest::Length { min: Some(min), .. }, Some(Json::String(text))) => known(text.chars().count() as u64 >= *min),
                (ValueTest::Length { min: Some(min), .. }, Some(Json::Array(items))) => known(items.len() as u64 >= *min),
                (ValueTest::Length { min: Some(min), .. }, Some(Json::Object(object))) => known(object.len() as u64 >= *min),
                _ => 1,
            }
        }
        _ => panic!("not generated"),
    }
}

/// The requirement's order, over the truths of the rules: effect, reason, rule, grantable.
fn reference_decision(policy: &Policy, evidence: &Evidence, call: &Call) -> (Effect, Reason, Option<String>, bool) {
    let truths = |rules: &[Rule]| rules.iter().map(|rule| (rule.clone(), reference(&rule.condition, call))).collect::<Vec<_>>();
    let first = |truths: &[(Rule, u8)], least: u8| truths.iter().find(|(_, truth)| *truth >= least).map(|(rule, _)| rule.name.clone());
    let (deny, ask, allow) = (truths(&policy.deny), truths(&policy.ask), truths(&policy.allow));
    let asks = ask.iter().any(|(_, truth)| *truth >= 1) || !evidence.hook_asks.is_empty();
    // Nothing else asks and no rule allows, but one failed to: then the default asks because of a failure.
    let default_failed = !asks && first(&allow, 2).is_none() && first(&allow, 1).is_some();
    let grantable = !default_failed && ask.iter().filter(|(_, truth)| *truth >= 1).all(|(rule, truth)| *truth == 2 && rule.grantable);
    let default = policy.default.unwrap_or(if call.context.has_approver { Effect::Ask } else { Effect::Deny });
    let denied_anyway = !asks && first(&allow, 2).is_none() && default == Effect::Deny;
    if let Some(name) = first(&deny, 1) {
        (Effect::Deny, Reason::DenyRule, Some(name), false)
    } else if let Some(pin) = evidence.pin.filter(|_| !denied_anyway) {
        (Effect::Ask, pin, None, grantable)
    } else if let Some(name) = first(&ask, 1) {
        (Effect::Ask, Reason::AskRule, Some(name), grantable)
    } else if !evidence.hook_asks.is_empty() {
        (Effect::Ask, Reason::HookAsk, None, true)
    } else if let Some(name) = first(&allow, 2) {
        (Effect::Allow, Reason::AllowRule, Some(name), false)
    } else {
        (default, Reason::NoRule, None, grantable)
    }
}

proptest! {
    #![proptest_config(cases(1_024))]

    #[test]
    fn policy_decides_as_the_reference_does(
        policy in policy(),
        members in proptest::collection::vec(("[ab]", prop_oneof![(0..3u64).prop_map(Json::from), "x?\n?[a-z]{0,2}".prop_map(Json::from), Just(Json::Null), Just(json("[1,2]"))]), 0..3),
        has_approver in any::<bool>(),
        anonymous in any::<bool>(),
        taint in proptest::collection::btree_set(prop_oneof![Just("files".to_owned()), Just("mail".to_owned()), Just("web".to_owned())], 0..3),
        pin in proptest::option::of(prop_oneof![Just(Reason::ToolChanged), Just(Reason::ToolNew)]),
        hook in any::<bool>(),
    ) {
        let mut call = seen(tool(definition("read", "")), &members.into_iter().collect::<Json>().to_string());
        let mut context = callgate_core::model::Context::clone(&call.context);
        context.has_approver = has_approver;
        context.taint = taint;
        if anonymous {
            context.principal = None;
        }
        call.context = Arc::new(context);
        let evidence = Evidence { pin, hook_asks: if hook { vec!["h".to_owned()] } else { vec![] } };
        let mut oracle = |entry: &PredicateEntry, _: &Call| match entry.name.as_str() { "yes" => Truth::True, "no" => Truth::False, _ => Truth::Failed };
        let decision = policy.evaluate(&call, &evidence, &mut oracle);
        let expected = reference_decision(&policy, &evidence, &call);
        let grantable = decision.grantable;
        prop_assert_eq!((decision.effect, decision.reason, decision.rule.clone()), (expected.0, expected.1, expected.2.clone()));
        if decision.effect == Effect::Ask {
            prop_assert_eq!(grantable, expected.3);
            prop_assert!(!decision.causes.is_empty());
        }
        prop_assert_eq!(policy.denies(&call, &mut oracle), decision.effect == Effect::Deny && decision.reason == Reason::DenyRule);
        prop_assert_eq!(policy.evaluate(&call, &evidence, &mut oracle), decision, "a decision can be replayed");
    }
}

// The whole call

/// Where something fails before the call is sent.
#[derive(Clone, Copy, Debug)]
enum Point {
    Nowhere,
    Filter,
    PreHook(usize),
    DenyPredicate,
    AllowPredicate,
    Approver,
    Store(&'static str),
}

fn point() -> impl Strategy<Value = Point> {
    prop_oneof![
        Just(Point::Nowhere),
        Just(Point::Filter),
        (0..3usize).prop_map(Point::PreHook),
        Just(Point::DenyPredicate),
        Just(Point::AllowPredicate),
        Just(Point::Approver),
        proptest::sample::select(vec!["baseline", "record_baseline", "granted", "settle", "record", "is_live"]).prop_map(Point::Store),
    ]
}

fn setup(point: Point, failure: Option<Failure>, hooks: usize, saw: &Arc<Mutex<Vec<String>>>, rewrites: &[Arguments]) -> Setup {
    let fail = move || failure.clone().unwrap_or_else(|| panic!("it breaks"));
    let fail = Arc::new(fail);
    let rule = |name: &str, fails: bool, fine: Finding| {
        let fail = fail.clone();
        vec![Rule::new(name, Condition::Predicate(predicate(name, move |_| if fails { Err(fail()) } else { Ok(fine) })))]
    };
    let seen = saw.clone();
    // Where an allow rule decides, nobody is asked; else an ask rule does.
    let by_allow_rule = matches!(point, Point::AllowPredicate);
    let policy = Policy {
        deny: rule("deny", matches!(point, Point::DenyPredicate), Finding::NoMatch),
        ask: if by_allow_rule { vec![] } else { vec![Rule::new("ask", any_tool())] },
        allow: rule("allow", by_allow_rule, Finding::Match),
        default: Some(Effect::Deny),
    };
    Setup::policy(Server::new(), policy).with(|revision| {
        if let Point::Filter = point {
            let fail = fail.clone();
            revision.filters.push(filter("filter", move |_| Err::<Visibility, _>(fail())));
        }
        for index in 0..hooks {
            let fail = fail.clone();
            let rewrite = rewrites.get(index).cloned();
            revision.pre_hooks.push(pre("hook", move |_| match (point, &rewrite) {
                (Point::PreHook(at), _) if at == index => Err(fail()),
                (_, Some(arguments)) => Ok(PreOutcome::Rewrite(arguments.value().clone())),
                _ => Ok(PreOutcome::Proceed),
            }));
        }
        let fail = fail.clone();
        revision.approver = Some(approving(move |call| {
            seen.lock().unwrap().push(call.arguments.canonical().to_owned());
            if let Point::Approver = point { Err(fail()) } else { Ok(always()) }
        }));
    })
}

proptest! {
    #![proptest_config(cases(192))]

    #[test]
    fn a_failure_at_any_point_sends_nothing(
        point in point(),
        failure in proptest::sample::select(failures().into_iter().map(Some).chain([None]).collect::<Vec<_>>()),
        given in arguments(),
    ) {
        let saw = Arc::default();
        let world = setup(point, failure, 3, &saw, &[]).build();
        if let Point::Store(call) = point {
            world.store.break_at(call, 0);
        }
        let call = callgate_core::model::ToolCall::new("read", given).with(CallOptions::default().principal(alice()));
        let outcome = block_on(world.run(call));
        if let Point::Nowhere = point {
            prop_assert_eq!(said(&outcome), "ok");
            prop_assert_eq!(world.server.rounds().len(), 1);
        } else {
            prop_assert!(outcome.is_err(), "{point:?}");
            prop_assert!(world.server.rounds().is_empty(), "{point:?}");
        }
    }

    #[test]
    fn what_arrives_is_what_the_approver_saw(given in arguments(), rewrites in proptest::collection::vec(arguments(), 0..4)) {
        let saw: Arc<Mutex<Vec<String>>> = Arc::default();
        let world = setup(Point::Nowhere, None, rewrites.len(), &saw, &rewrites).build();
        let last = rewrites.last().unwrap_or(&given).clone();
        let call = callgate_core::model::ToolCall::new("read", given).with(CallOptions::default().principal(alice()));
        prop_assert_eq!(said(&block_on(world.run(call))), "ok");
        let shown = saw.lock().unwrap().remove(0);
        prop_assert_eq!(&shown, last.canonical());
        let arrived = world.server.rounds().remove(0);
        prop_assert_eq!(&arrived, &format!(r#"{{"name":"read","arguments":{shown}}}"#));
        let again = Arguments::from_json(json(&arrived).get("arguments").unwrap().clone()).unwrap();
        prop_assert_eq!(again.digest(), last.digest());
        prop_assert!(world.raw_events().contains(&last.digest().to_string()));
    }

    #[test]
    fn approver_and_person_allow_at_most_what_both_said(
        person in proptest::option::of(0..4usize),
        plugin in 0..4usize,
        decide in any::<bool>(),
        for_good in any::<bool>(),
    ) {
        let verdict = |index: usize| [Verdict::DenyAndHalt(no("x")), Verdict::Deny(no("x")), Verdict::AllowOnce, always()][index].clone();
        let powers = callgate_core::revision::Powers { decide, always: for_good, ..Default::default() };
        let review = Prompting { times: usize::from(person.is_some()), says: Some(verdict(plugin)) };
        let setup = Setup::policy(Server::new(), asking())
            .with(|revision| revision.approver = Some(callgate_core::revision::Entry::plugin("plugin", Arc::new(review), powers)));
        let world = Setup { prompter: Some(Person::who_says(person.map(verdict))), ..setup }.build();
        let call = call("read", "{}").with(CallOptions::default().principal(alice()));
        let outcome = said(&block_on(world.run(call)));
        let said_both = person.unwrap_or(plugin).min(plugin);
        let allowed = said_both >= 2 && (person.is_some() || decide);
        prop_assert_eq!(outcome == "ok", allowed);
        prop_assert_eq!(world.server.rounds().len(), usize::from(allowed));
        let grants = block_on(callgate_core::store::GrantStore::list(&*world.store, 0)).unwrap().len();
        prop_assert_eq!(grants, usize::from(allowed && said_both == 3 && for_good));
    }
}

#[test]
fn objects_keep_their_order() {
    let object: Object = object(r#"{"b":1,"a":2}"#);
    assert_eq!(Json::from(object).to_string(), r#"{"b":1,"a":2}"#);
}
