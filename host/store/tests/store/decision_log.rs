//! The decision log: what is in it, and what never is.

use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use callgate_core::digest::{ArgsDigest, Digest};
use callgate_core::json::Json;
use callgate_core::model::{CallId, Decision, Effect, Failure, FailureKind, Kind, Principal, Reason, Sent};
use callgate_core::observe::{Event, Observer, Outcome, Subject};
use callgate_store::DecisionLog;

use crate::support::Folder;

fn subject() -> Subject {
    Subject {
        call_id: Some(CallId::fresh()),
        principal: Some(Principal::new("cli", "ann")),
        server: "files".parse().unwrap(),
        tool: "wri\"te".to_owned(),
        revision: "r1".to_owned(),
    }
}

fn lines(path: &std::path::Path) -> Vec<Json> {
    std::fs::read_to_string(path).unwrap().lines().map(|line| Json::parse(line).unwrap()).collect()
}

fn text<'a>(line: &'a Json, key: &str) -> &'a str {
    line.get(key).and_then(Json::as_str).unwrap_or_default()
}

#[test]
fn says_what_happened_and_not_with_what() {
    let folder = Folder::new();
    let path = folder.join("log/decisions.jsonl");
    let call = subject();
    let decision = Decision {
        effect: Effect::Deny,
        reason: Reason::DenyRule,
        rule: Some("no-dotfiles".to_owned()),
        also: Vec::new(),
        causes: std::collections::BTreeSet::new(),
        grantable: false,
    };
    let failure = Failure::new(FailureKind::Trap).with_text("secret panic");
    let log = DecisionLog::open(&path).unwrap();
    log.observe(&Event::Policy { call: &call, decision: &decision });
    log.observe(&Event::HookException {
        call: &call,
        step: "pre_hook",
        plugin: "guard",
        failure: &failure,
        duration: Duration::from_micros(7),
    });
    log.observe(&Event::ToolCallStop {
        call: &call,
        digest: Some(ArgsDigest(Digest::of("x"))),
        outcome: Outcome::Error { kind: Kind::Denied, reason: Reason::DenyRule, sent: Sent::No },
        duration: Duration::from_millis(2),
        arguments: Some(Json::from("secret argument")),
        result: Some(Json::from("secret result")),
    });
    log.flush().unwrap();
    let written = lines(&path);
    let [policy, hook, stop] = written.as_slice() else { panic!("{written:?}") };
    assert_eq!(text(policy, "event"), "policy");
    assert_eq!(text(policy, "rule"), "no-dotfiles");
    assert_eq!(text(policy, "call_id"), call.call_id.as_ref().unwrap().as_str());
    assert_eq!(text(policy, "principal"), "cli:ann");
    assert_eq!((text(hook, "event"), text(hook, "failure"), text(hook, "plugin")), ("hook_exception", "trap", "guard"));
    assert_eq!((text(stop, "kind"), text(stop, "reason"), text(stop, "sent")), ("denied", "deny_rule", "no"));
    assert_eq!(text(stop, "digest"), Digest::of("x").to_string());
    assert_eq!(stop.get("micros"), Some(&Json::from(2000_u64)));
    assert!(text(stop, "time").ends_with('Z'));
    assert!(!std::fs::read_to_string(&path).unwrap().contains("secret"));
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn appends_and_writes_what_waits_when_dropped() {
    let folder = Folder::new();
    let path = folder.join("decisions.jsonl");
    for _ in 0..2 {
        let log = DecisionLog::open(&path).unwrap();
        for tools in 0..100 {
            log.observe(&Event::BaselineRecorded { server: &"files".parse().unwrap(), tools });
        }
    }
    assert_eq!(lines(&path).len(), 200);
}

#[test]
fn a_device_is_refused() {
    assert!(DecisionLog::open("/dev/full").is_err());
}
