//! Step 3: which definitions are approved, and what the pin makes of the others (PO-6).

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test that cannot go on must fail where it stands")]

mod support;

use std::sync::{Arc, Mutex};

use callgate_core::digest::Fingerprint;
use callgate_core::extension::{PreOutcome, Verdict};
use callgate_core::model::{ArgumentConstraint, Call, CallOptions, Effect, Era, Failure, GrantTerms, Question};
use callgate_core::policy::{Policy, Rule};
use callgate_core::revision::{Approved, Entry};
use callgate_core::store::PinStore;
use support::*;

fn changed() -> callgate_core::json::Json {
    definition("read", r#""description":"other words""#)
}

/// Changes what the server lists, and says so.
fn relist(world: &World, tools: impl IntoIterator<Item = callgate_core::json::Json>) {
    world.server.lists(tools);
    world.server.list_changed();
}

#[tokio::test]
async fn first_listing_is_recorded_before_filtering_and_by_a_client_with_a_policy() {
    let hide = || {
        filter("hide", |tool| {
            Ok(if tool.name() == "b" {
                callgate_core::extension::Visibility::Hidden
            } else {
                callgate_core::extension::Visibility::Visible
            })
        })
    };
    let server = || Server::with([definition("read", ""), definition("b", "")]);
    let with = Setup::policy(server(), allowing()).with(|revision| revision.filters.push(hide())).build();
    assert_eq!(with.said().await, "ok");
    let (_, baseline) = PinStore::list(&*with.store).await.unwrap().remove(0);
    assert_eq!(baseline.tools.keys().collect::<Vec<_>>(), ["b", "read"], "hidden ones too");
    let without = Setup::new(server()).with(|revision| revision.filters.push(hide())).build();
    assert_eq!(without.said().await, "ok");
    assert!(PinStore::list(&*without.store).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_listing_that_was_read_before_there_was_a_policy_becomes_the_baseline() {
    let world = Setup::new(Server::new())
        .with(|revision| revision.filters.push(filter("f", |_| Ok(callgate_core::extension::Visibility::Visible))))
        .build();
    assert_eq!(world.said().await, "ok");
    let mut governed = (*world.pipeline.revision()).clone();
    governed.policy = Some(allowing());
    world.pipeline.swap(governed);
    assert_eq!(world.said().await, "ok");
    assert_eq!(world.events().iter().filter(|event| *event == "baseline 1").count(), 1);
}

#[tokio::test]
async fn listing_the_tools_records_it_too() {
    let world = Setup::policy(Server::new(), allowing()).build();
    world.pipeline.list_tools(&CallOptions::default()).await.unwrap();
    relist(&world, [changed()]);
    assert_eq!(world.said().await, "denied/tool_changed/no");
}

#[tokio::test]
async fn a_list_cut_by_a_cap_is_no_baseline() {
    let setup = Setup::policy(Server::with([definition("a", ""), definition("b", "")]), allowing());
    let world = Setup { limits: callgate_core::ListingLimits { tools: 1, ..Default::default() }, ..setup }.build();
    assert_eq!(world.said().await, "upstream/listing_too_large/no");
    assert!(PinStore::list(&*world.store).await.unwrap().is_empty());
}

#[tokio::test]
async fn the_baseline_is_inserted_if_absent_and_survives_a_restart() {
    let first = Setup::policy(Server::new(), allowing()).build();
    assert_eq!(first.said().await, "ok");
    let second = Setup { store: first.store.clone(), ..Setup::policy(Server::with([changed()]), allowing()) }.build();
    assert_eq!(second.said().await, "denied/tool_changed/no", "the loser compares with the winner's");
    assert!(second.events().iter().all(|event| !event.starts_with("baseline")));
}

/// T33: what a server was first seen with holds, however it speaks and whatever is declared to it.
#[tokio::test]
async fn the_baseline_holds_under_every_era_and_all_declared_kinds() {
    let first = Setup::policy(Server::new(), allowing()).build();
    first.said().await;
    let as_legacy = |server: Server| server.era(Era::Legacy);
    let with_roots = |server: Server| server.declare(Kinds { roots: true, ..Kinds::default() });
    for (name, under) in [("era", &as_legacy as &dyn Fn(Server) -> Server), ("kinds", &with_roots)] {
        for (tools, said) in [(changed(), "denied/tool_changed/no"), (definition("read", ""), "ok")] {
            let other = Setup { store: first.store.clone(), ..Setup::policy(under(Server::with([tools])), allowing()) }.build();
            assert_eq!(other.said().await, said, "{name}");
            assert!(other.events().iter().all(|event| !event.starts_with("baseline")), "{name}: nothing is recorded by itself");
        }
        let more = Server::with([definition("read", ""), definition("more", "")]);
        let other = Setup { store: first.store.clone(), ..Setup::policy(under(more), allowing()) }.build();
        assert_eq!(said(&other.run(call("more", "{}")).await), "denied/tool_new/no", "{name}");
    }
}

/// What a person accepts under one era stands beside what was approved under the other, and both are approved.
#[tokio::test]
async fn a_definition_accepted_under_another_era_is_approved_beside_the_first() {
    let first = Setup::policy(Server::new(), allowing()).build();
    first.said().await;
    let legacy = Setup { store: first.store.clone(), ..Setup::policy(Server::with([changed()]).era(Era::Legacy), allowing()) }.build();
    assert_eq!(legacy.said().await, "denied/tool_changed/no");
    let (key, standing, listed) = legacy.pipeline.pins().await.unwrap();
    assert_eq!(standing.unwrap().tools["read"].fingerprint, first.pipeline.pins().await.unwrap().2.tools["read"].fingerprint);
    legacy.store.accept(&key, "read", listed.tools.get("read").cloned()).await.unwrap();
    assert_eq!(legacy.said().await, "ok");
    assert_eq!(first.said().await, "ok");
    assert_eq!(legacy.pipeline.pins().await.unwrap().1.unwrap(), listed, "nothing differs any more");
}

#[tokio::test]
async fn the_pin_stands_over_allow_rules_and_default_and_under_deny() {
    let allow = || Policy { allow: vec![Rule::new("all", any_tool())], ..Policy::default() };
    let deny = || Policy { deny: vec![Rule::new("all", any_tool())], ..allow() };
    let ask = || Policy { ask: vec![Rule::new("all", any_tool())], ..allow() };
    for (name, policy, tools, reason) in [
        ("changed, allow rule", allow(), vec![changed()], "denied/tool_changed/no"),
        ("changed, default allow", allowing(), vec![changed()], "denied/tool_changed/no"),
        ("changed, default deny", Policy { default: Some(Effect::Deny), ..Policy::default() }, vec![changed()], "denied/no_rule/no"),
        ("changed, allow rule, default deny", Policy { default: Some(Effect::Deny), ..allow() }, vec![changed()], "denied/tool_changed/no"),
        ("changed, no default and nobody to ask", Policy::default(), vec![changed()], "denied/no_rule/no"),
        ("changed, ask rule", ask(), vec![changed()], "denied/tool_changed/no"),
        ("changed, deny rule", deny(), vec![changed()], "denied/deny_rule/no"),
        ("same again", allow(), vec![definition("read", "")], "ok"),
        ("same, with reordered keys", allow(), vec![json(r#"{"inputSchema":{"type":"object"},"name":"read"}"#)], "ok"),
        ("an unknown member", allow(), vec![definition("read", r#""x-secret":1"#)], "denied/tool_changed/no"),
    ] {
        let world = Setup::policy(Server::new(), policy).build();
        world.pipeline.list_all_tools().await.unwrap();
        relist(&world, tools);
        assert_eq!(world.said().await, reason, "{name}");
        assert_eq!(world.server.rounds().len(), usize::from(reason == "ok"), "{name}");
    }
}

#[tokio::test]
async fn tool_new_and_allow_new_tools() {
    for (allow_new, new, old) in [(false, "denied/tool_new/no", "denied/tool_changed/no"), (true, "ok", "denied/tool_changed/no")] {
        let world = Setup::policy(Server::new(), allowing()).with(|revision| revision.pins.allow_new_tools = allow_new).build();
        world.pipeline.list_all_tools().await.unwrap();
        relist(&world, [changed(), definition("new", "")]);
        assert_eq!(said(&world.run(call("new", "{}")).await), new);
        assert_eq!(world.said().await, old, "a changed one is never a new one");
    }
}

#[tokio::test]
async fn an_explicit_map_pins_exactly_its_names() {
    let fingerprint = tool(definition("read", "")).fingerprint();
    let other = tool(changed()).fingerprint();
    for (name, map, allow_new, outcome) in [
        ("its fingerprint", vec![("read", fingerprint)], false, "ok"),
        ("another", vec![("read", other)], false, "denied/tool_changed/no"),
        ("another, new ones allowed", vec![("read", other)], true, "denied/tool_changed/no"),
        ("not in it", vec![("write", fingerprint)], false, "denied/tool_new/no"),
        ("not in it, new ones allowed", vec![("write", fingerprint)], true, "ok"),
        ("empty", vec![], false, "denied/tool_new/no"),
    ] {
        let map = map.into_iter().map(|(name, fingerprint)| (name.to_owned(), fingerprint)).collect();
        let setup = Setup::policy(Server::new(), allowing()).with(|revision| {
            revision.pins.approved = Approved::Fingerprints(map);
            revision.pins.allow_new_tools = allow_new;
        });
        let world = setup.build();
        assert_eq!(world.said().await, outcome, "{name}");
        assert!(PinStore::list(&*world.store).await.unwrap().is_empty(), "{name}: nothing is recorded");
    }
}

#[tokio::test]
async fn without_a_policy_nothing_is_pinned() {
    let world = Setup::new(Server::new()).with(|revision| revision.pre_hooks.push(pre("p", |_| Ok(PreOutcome::Proceed)))).build();
    world.said().await;
    relist(&world, [changed()]);
    assert_eq!(world.said().await, "ok");
}

#[tokio::test]
async fn a_rename_is_reported_and_inherits_nothing() {
    let world = Setup::policy(Server::new(), allowing()).build();
    world.pipeline.list_all_tools().await.unwrap();
    relist(&world, [definition("renamed", "")]);
    assert_eq!(said(&world.run(call("renamed", "{}")).await), "denied/tool_new/no");
    assert!(world.events().contains(&"renamed read renamed".to_owned()), "{:?}", world.events());
    relist(&world, [definition("read", ""), definition("copy", "")]);
    world.pipeline.list_all_tools().await.unwrap();
    assert!(!world.events().contains(&"renamed read copy".to_owned()), "the old one is still there");
}

#[tokio::test]
async fn the_approved_fingerprint_is_in_the_context_from_this_step_on() {
    let saw: Arc<Mutex<Vec<Vec<Fingerprint>>>> = Arc::default();
    let seen = saw.clone();
    let world = Setup::policy(Server::new(), allowing())
        .with(|revision| {
            revision.pre_hooks.push(pre("look", move |call| {
                seen.lock().unwrap().push(call.context.approved_fingerprints.clone());
                Ok(PreOutcome::Proceed)
            }));
        })
        .build();
    world.said().await;
    relist(&world, [changed()]);
    world.said().await;
    let approved = tool(definition("read", "")).fingerprint();
    assert_eq!(*saw.lock().unwrap(), [vec![approved], vec![approved]]);
}

#[tokio::test]
async fn a_live_grant_adds_its_fingerprint_for_its_principal_only() {
    let world = Setup::policy(Server::new(), allowing()).with(|revision| revision.approver = Some(approver(always()))).build();
    world.pipeline.list_all_tools().await.unwrap();
    relist(&world, [changed()]);
    let by = |name: &str| call("read", "{}").with(CallOptions::default().principal(callgate_core::model::Principal::new("test", name)));
    assert_eq!(said(&world.run(by("alice")).await), "ok");
    let mut silent = (*world.pipeline.revision()).clone();
    silent.approver = None;
    world.pipeline.swap(silent);
    assert_eq!(said(&world.run(by("alice")).await), "ok", "granted");
    assert_eq!(said(&world.run(by("bob")).await), "denied/tool_changed/no");
    assert_eq!(said(&world.run(call("read", "{}")).await), "denied/tool_changed/no", "nobody in particular");
    relist(&world, [definition("read", r#""description":"yet others""#)]);
    assert_eq!(said(&world.run(by("alice")).await), "denied/tool_changed/no", "another definition");
}

/// T8: a grant that narrows something settles the asks that it is about, and approves the definition for no other call.
#[tokio::test]
async fn a_narrowed_grant_approves_no_definition() {
    let narrowed = |terms: GrantTerms, given: CallOptions| async move {
        let approver = approver(Verdict::AllowAlways(terms));
        let world = Setup::policy(Server::new(), allowing()).with(|revision| revision.approver = Some(approver)).build();
        world.pipeline.list_all_tools().await.unwrap();
        relist(&world, [changed()]);
        assert_eq!(said(&world.run(call("read", r#"{"path":"/a"}"#).with(given)).await), "ok");
        let mut silent = (*world.pipeline.revision()).clone();
        silent.approver = None;
        world.pipeline.swap(silent);
        world
    };
    let by_alice = || CallOptions::default().principal(alice());
    let path = ArgumentConstraint { pointer: pointer("/path"), one_of: vec!["/a".into()] };
    let world = narrowed(GrantTerms { constraints: vec![path], ..GrantTerms::default() }, by_alice()).await;
    for (arguments, outcome) in
        [(r#"{"path":"/a"}"#, "ok"), (r#"{"path":"/b"}"#, "denied/tool_changed/no"), ("{}", "denied/tool_changed/no")]
    {
        assert_eq!(said(&world.run(call("read", arguments).with(by_alice())).await), outcome, "{arguments}");
    }
    let world = narrowed(GrantTerms { uses: Some(1), ..GrantTerms::default() }, by_alice()).await;
    assert_eq!(said(&world.run(call("read", "{}").with(by_alice())).await), "ok");
    assert_eq!(said(&world.run(call("read", "{}").with(by_alice())).await), "denied/tool_changed/no", "its one use is over");
    let world = narrowed(GrantTerms::default(), by_alice()).await;
    assert_eq!(said(&world.run(call("read", "{}").with(by_alice())).await), "ok");
    let tainted = by_alice().taint(["web"]);
    assert_eq!(said(&world.run(call("read", "{}").with(tainted)).await), "denied/tool_changed/no", "it was given untainted");
}

/// T8: who was asked about a rule has not approved the definition as such.
#[tokio::test]
async fn a_grant_that_was_not_asked_about_the_pin_approves_no_definition() {
    let policy = Policy { ask: vec![Rule::new("all", any_tool())], ..Policy::default() };
    let world = Setup::policy(Server::new(), policy).with(|revision| revision.approver = Some(approver(always()))).build();
    let by_alice = || call("read", "{}").with(CallOptions::default().principal(alice()));
    assert_eq!(said(&world.run(by_alice()).await), "ok");
    let (key, _, now) = world.pipeline.pins().await.unwrap();
    let other = callgate_core::store::PinnedTool { fingerprint: tool(changed()).fingerprint(), ..now.tools["read"].clone() };
    world.store.accept(&key, "read", Some(other)).await.unwrap();
    let mut silent = (*world.pipeline.revision()).clone();
    silent.approver = None;
    world.pipeline.swap(silent);
    assert_eq!(said(&world.run(by_alice()).await), "denied/tool_changed/no");
}

#[tokio::test]
async fn the_approver_hears_what_changed() {
    let heard: Arc<Mutex<Vec<Arc<Question>>>> = Arc::default();
    let asked = heard.clone();
    let listen = move |_: Call, question: Arc<Question>| {
        asked.lock().unwrap().push(question);
        async { Ok::<_, Failure>(Verdict::AllowOnce) }
    };
    let entry: Entry<dyn callgate_core::extension::Approver> = Entry::trusted("person", Arc::new(listen));
    let world = Setup::policy(Server::new(), allowing()).with(|revision| revision.approver = Some(entry)).build();
    world.pipeline.list_all_tools().await.unwrap();
    relist(&world, [changed()]);
    assert_eq!(world.said().await, "ok");
    let question = heard.lock().unwrap().remove(0);
    assert_eq!(question.reason.as_str(), "tool_changed");
    let patch = question.definition_changes.clone().unwrap();
    assert_eq!(patch.to_string(), r#"[{"op":"add","path":"/description","value":"other words"}]"#);
}

#[tokio::test]
async fn a_pin_store_that_fails_is_a_deny_and_nothing_is_sent() {
    for point in ["baseline", "record_baseline", "granted"] {
        let world = Setup::policy(Server::new(), allowing()).build();
        world.store.break_at(point, 0);
        let by_alice = call("read", "{}").with(CallOptions::default().principal(alice()));
        assert_eq!(said(&world.run(by_alice).await), "denied/store_failed/no", "{point}");
        assert!(world.server.rounds().is_empty(), "{point}");
    }
    let world = Setup::policy(Server::new(), allowing()).build();
    assert_eq!(world.said().await, "ok");
    world.store.break_at("baseline", 0);
    assert_eq!(world.said().await, "denied/store_failed/no", "an old answer is no answer");
}

#[tokio::test]
async fn a_first_listing_that_was_not_recorded_is_read_and_recorded_again() {
    let world = Setup::policy(Server::new(), allowing()).build();
    world.store.break_at("record_baseline", 0);
    assert_eq!(world.said().await, "denied/store_failed/no");
    world.store.break_at("nothing", 0);
    assert_eq!(world.said().await, "ok");
}

#[tokio::test]
async fn accepting_a_change_lets_it_pass() {
    let world = Setup::policy(Server::new(), allowing()).build();
    world.said().await;
    relist(&world, [changed()]);
    assert_eq!(world.said().await, "denied/tool_changed/no");
    let (key, standing, now) = world.pipeline.pins().await.unwrap();
    assert_ne!(standing.unwrap(), now);
    world.store.accept(&key, "read", now.tools.get("read").cloned()).await.unwrap();
    assert_eq!(world.said().await, "ok");
    world.store.accept(&key, "read", None).await.unwrap();
    assert_eq!(world.said().await, "denied/tool_new/no");
}
