//! What every store must do, tried on the one in memory and on SQLite.

use std::collections::BTreeSet;
use std::sync::Arc;

use callgate_core::json::Json;
use callgate_core::model::{ArgumentConstraint, Arguments, Era, GrantTerms, NewGrant, Principal, ServerIdentity};
use callgate_core::store::{Baselines, GrantStore, MemoryStore, PinStore};
use callgate_core::upstream::InputKinds;
use callgate_store::SqliteStore;

use crate::support::{Asked, Folder, baseline, fingerprint, key, key_with, pinned, server, texts};

async fn sqlite() -> (Folder, SqliteStore) {
    let folder = Folder::new();
    let store = SqliteStore::open(folder.join("state.db")).await.unwrap();
    (folder, store)
}

macro_rules! for_both {
    ($($name:ident,)*) => { $(
        mod $name {
            #[tokio::test]
            async fn in_memory() {
                super::$name(super::MemoryStore::default()).await;
            }

            #[tokio::test]
            async fn in_sqlite() {
                let (_folder, store) = super::sqlite().await;
                super::$name(store).await;
            }
        }
    )* };
}

for_both!(
    grants_settle_what_they_were_given_for,
    terms_narrow,
    uses_run_out,
    definitions_are_granted,
    grants_expire_and_are_revoked,
    racing_for_the_last_use,
    baselines,
    racing_for_a_baseline,
);

async fn grants_settle_what_they_were_given_for(store: impl GrantStore) {
    let asked = Asked { taint: texts(&["web"]), causes: texts(&["default", "rule:writes"]), ..Asked::new() };
    let id = store.record(asked.grant(), 1000).await.unwrap();
    let cases: Vec<(&str, bool, Asked)> = vec![
        ("the same", true, asked.clone()),
        ("fewer causes", true, Asked { causes: texts(&["default"]), ..asked.clone() }),
        ("another cause", false, Asked { causes: texts(&["default", "pin:tool_changed"]), ..asked.clone() }),
        ("less taint", true, Asked { taint: texts(&[]), ..asked.clone() }),
        ("more taint", false, Asked { taint: texts(&["web", "mail"]), ..asked.clone() }),
        ("another principal", false, Asked { principal: Some(Principal::new("cli", "bob")), ..asked.clone() }),
        ("another issuer", false, Asked { principal: Some(Principal::new("cli", "ann").with_issuer("i")), ..asked.clone() }),
        ("nobody", false, Asked { principal: None, ..asked.clone() }),
        ("another command", false, Asked { server: server("files", "b"), ..asked.clone() }),
        ("another server's name", false, Asked { server: server("other", "a"), ..asked.clone() }),
        ("another tool", false, Asked { tool: "read", ..asked.clone() }),
        ("another definition", false, Asked { definition: "v2", ..asked.clone() }),
    ];
    for (case, settles, ask) in cases {
        assert_eq!(store.settle(ask.about()).await.unwrap(), settles.then(|| id.clone()), "{case}");
    }
    let nobody = Asked { principal: None, ..asked.clone() };
    let empty = Asked { principal: Some(Principal::new("", "")), ..asked.clone() };
    let of_nobody = store.record(nobody.grant(), 1000).await.unwrap();
    assert_eq!(store.settle(nobody.about()).await.unwrap(), Some(of_nobody));
    assert_eq!(store.settle(empty.about()).await.unwrap(), None);
    let of_empty = store.record(empty.grant(), 1000).await.unwrap();
    assert_eq!(store.settle(empty.about()).await.unwrap(), Some(of_empty));
}

async fn terms_narrow(store: impl GrantStore) {
    let asked = Asked::new();
    let terms = r#"{"constraints":[{"pointer":"/path","one_of":["/a",12345678901234567890]}],"uses":3,"seconds":9,"note":"ok"}"#;
    let mut grant = asked.grant();
    grant.terms = GrantTerms::from_json(&Json::parse(terms).unwrap()).unwrap();
    let id = store.record(grant.clone(), 1000).await.unwrap();
    for (arguments, settles) in [
        (r#"{"path":"/a"}"#, true),
        (r#"{"path":12345678901234567890}"#, true),
        (r#"{"path":12345678901234567891}"#, false),
        (r#"{"path":"/b"}"#, false),
        ("{}", false),
    ] {
        let ask = Asked { arguments: Arguments::parse(arguments).unwrap(), ..asked.clone() };
        assert_eq!(store.settle(ask.about()).await.unwrap().is_some(), settles, "{arguments}");
    }
    let listed = store.list(1000).await.unwrap();
    let [listed] = listed.as_slice() else { panic!("{listed:?}") };
    assert_eq!((&listed.id, listed.created_ms, listed.uses_left, &listed.given), (&id, 1000, Some(1), &grant));
}

async fn uses_run_out(store: impl GrantStore) {
    let asked = Asked::new();
    let mut grant = asked.grant();
    grant.terms.uses = Some(2);
    let id = store.record(grant, 1000).await.unwrap();
    assert!(store.settle(asked.about()).await.unwrap().is_some());
    assert!(store.settle(asked.about()).await.unwrap().is_some());
    assert_eq!(store.settle(asked.about()).await.unwrap(), None);
    // The call that used it last goes on.
    assert!(store.is_live(&id, 1000).await.unwrap());
}

/// PO-6, T8: a definition is approved by a grant that was given about its pin, narrows nothing, and is this grantee's.
async fn definitions_are_granted(store: impl GrantStore) {
    let asked = Asked { causes: texts(&["pin:tool_changed"]), taint: texts(&["web"]), ..Asked::new() };
    let granted = async |by: &Asked| store.granted(by.grantee()).await.unwrap();
    let path = ArgumentConstraint { pointer: "/path".parse().unwrap(), one_of: vec!["/a".into()] };
    for narrowed in [
        NewGrant { causes: texts(&["rule:writes"]), ..asked.grant() },
        NewGrant { terms: GrantTerms { uses: Some(1), ..GrantTerms::default() }, ..asked.grant() },
        NewGrant { terms: GrantTerms { constraints: vec![path], ..GrantTerms::default() }, ..asked.grant() },
    ] {
        store.record(narrowed, 1000).await.unwrap();
    }
    assert_eq!(granted(&asked).await, BTreeSet::new());
    store.record(asked.grant(), 1000).await.unwrap();
    let approved = BTreeSet::from([fingerprint("v1")]);
    assert_eq!(granted(&asked).await, approved);
    assert_eq!(granted(&Asked { taint: texts(&[]), ..asked.clone() }).await, approved);
    for other in [
        Asked { principal: None, ..asked.clone() },
        Asked { principal: Some(Principal::new("cli", "bob")), ..asked.clone() },
        Asked { server: server("files", "b"), ..asked.clone() },
        Asked { server: server("other", "a"), ..asked.clone() },
        Asked { tool: "read", ..asked.clone() },
        Asked { taint: texts(&["web", "mail"]), ..asked.clone() },
        Asked { now_ms: 10_000, ..asked.clone() },
    ] {
        assert_eq!(granted(&other).await, BTreeSet::new(), "{:?}", other.grantee());
    }
}

async fn grants_expire_and_are_revoked(store: impl GrantStore) {
    let asked = Asked::new();
    let first = store.record(asked.grant(), 1000).await.unwrap();
    let second = store.record(Asked { tool: "read", ..asked.clone() }.grant(), 1000).await.unwrap();
    assert_ne!(first, second);
    let ids = async |now| store.list(now).await.unwrap().into_iter().map(|grant| grant.id).collect::<Vec<_>>();
    assert_eq!(ids(1000).await, [first.clone(), second.clone()]);
    assert!(store.revoke(&second).await.unwrap());
    assert!(!store.revoke(&second).await.unwrap());
    assert!(!store.is_live(&second, 1000).await.unwrap());
    assert!(store.is_live(&first, 9_999).await.unwrap());
    assert!(!store.is_live(&first, 10_000).await.unwrap());
    assert_eq!(store.settle(Asked { now_ms: 10_000, ..asked.clone() }.about()).await.unwrap(), None);
    assert_eq!(ids(10_000).await, Vec::<String>::new());
}

async fn racing_for_the_last_use(store: impl GrantStore + 'static) {
    let store = Arc::new(store);
    for _ in 0..10 {
        let asked = Asked::new();
        let mut grant = asked.grant();
        grant.terms.uses = Some(1);
        store.record(grant, 1000).await.unwrap();
        let racers: Vec<_> = (0..8)
            .map(|_| {
                let (store, asked) = (Arc::clone(&store), asked.clone());
                tokio::spawn(async move { store.settle(asked.about()).await.unwrap() })
            })
            .collect();
        let mut winners = 0;
        for racer in racers {
            winners += usize::from(racer.await.unwrap().is_some());
        }
        assert_eq!(winners, 1);
    }
}

async fn baselines(store: impl PinStore) {
    let (key, first) = (key(), baseline(&[("a", r#"{"name":"a","n":1.0,"big":123456789012345678901}"#), ("b", "{}")]));
    let of = async |server: ServerIdentity| store.baselines(&server).await.unwrap();
    let files = || server("files", "a");
    assert_eq!(of(files()).await, Baselines::default());
    assert!(store.accept(&key, "a", Some(pinned("{}"))).await.is_err());
    let standing = Baselines(vec![(key.clone(), first)]);
    assert_eq!(store.record(&key, standing.0[0].1.clone()).await.unwrap(), standing);
    // Nothing is recorded by itself for a server that was seen, whatever it speaks now.
    for again in [key.clone(), key_with(|key| key.era = Era::Modern), key_with(|key| key.declared = InputKinds::default())] {
        assert_eq!(store.record(&again, baseline(&[("other", "{}")])).await.unwrap(), standing);
    }
    assert_eq!(of(files()).await, standing);
    let definition = of(files()).await.0[0].1.tools["a"].definition.to_string();
    assert_eq!(definition, r#"{"name":"a","n":1.0,"big":123456789012345678901}"#);
    for other in [server("files", "b"), server("other", "a")] {
        assert_eq!(of(other).await, Baselines::default());
    }
    store.accept(&key, "a", Some(pinned(r#"{"v":2}"#))).await.unwrap();
    store.accept(&key, "b", None).await.unwrap();
    store.accept(&key, "c", Some(pinned("[]"))).await.unwrap();
    let modern = key_with(|key| key.era = Era::Modern);
    store.accept(&modern, "d", Some(pinned("{}"))).await.unwrap();
    let accepted = vec![(key, baseline(&[("a", r#"{"v":2}"#), ("c", "[]")])), (modern, baseline(&[("d", "{}")]))];
    assert_eq!(store.list().await.unwrap(), accepted);
    assert_eq!(of(files()).await, Baselines(accepted));
    let empty = key_with(|key| key.server = "empty".to_owned());
    store.record(&empty, baseline(&[])).await.unwrap();
    assert_eq!(of(server("empty", "a")).await, Baselines(vec![(empty, baseline(&[]))]));
}

async fn racing_for_a_baseline(store: impl PinStore + 'static) {
    let store = Arc::new(store);
    let racers: Vec<_> = (0..8)
        .map(|racer| {
            let store = Arc::clone(&store);
            let first = baseline(&[("tool", &racer.to_string())]);
            tokio::spawn(async move { store.record(&key(), first).await.unwrap() })
        })
        .collect();
    let standing = |baselines: Baselines| baselines.0[0].1.tools["tool"].definition.to_string();
    let mut seen = BTreeSet::new();
    for racer in racers {
        seen.insert(standing(racer.await.unwrap()));
    }
    assert_eq!(seen.len(), 1, "{seen:?}");
}
