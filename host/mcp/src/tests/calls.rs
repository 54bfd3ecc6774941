//! Replies of every kind, and none.

use std::time::{Duration, Instant};

use callgate_core::json::Json;
use callgate_core::model::{Kind, Reason, Sent};
use callgate_core::upstream::Connection;

use super::{config, talk};

#[tokio::test]
async fn each_reply_has_its_one_meaning() {
    let talk = talk(config(&[])).await;
    for (tool, kind, reason, sent) in [
        ("error", Kind::Upstream, Reason::ErrorReply, Sent::Yes),
        ("both", Kind::Upstream, Reason::Protocol, Sent::Yes),
        ("neither", Kind::Upstream, Reason::Protocol, Sent::Yes),
        ("twin-keys", Kind::InvalidResult, Reason::DuplicateKey, Sent::Yes),
        ("surrogate", Kind::InvalidResult, Reason::LoneSurrogate, Sent::Yes),
        ("twin-ids", Kind::Transport, Reason::NotJson, Sent::Unknown),
        ("text", Kind::Transport, Reason::NotJson, Sent::Unknown),
    ] {
        let begun = Instant::now();
        let error = talk.call(tool).await.unwrap_err();
        assert_eq!((error.kind, error.reason, error.sent), (kind, reason, sent), "{tool}: {error}");
        assert!(error.message.contains("`scripted`"), "{tool}: {error}");
        assert!(begun.elapsed() < Duration::from_secs(60), "{tool}");
    }
    let error = talk.call("error").await.unwrap_err();
    assert_eq!(error.data.to_string(), r#"{"code":-32602,"message":"unknown\ntool","data":{"n":1}}"#);
    assert_eq!(error.message, "`scripted` answered with error -32602: `unknown\\ntool`");
    assert_eq!(talk.call("print").await.unwrap(), "done");
    assert!(talk.call("echo").await.unwrap().contains(r#""n": 1.0"#));
    assert!(talk.connection.is_open());
}

#[tokio::test]
async fn replies_that_nobody_waits_for_are_dropped_and_counted() {
    let talk = talk(config(&[])).await;
    assert_eq!(talk.call("twice").await.unwrap(), "first");
    talk.call("echo").await.unwrap();
    assert_eq!(talk.counts().stray_replies, 3);
}

#[tokio::test]
async fn a_call_that_is_given_up_is_cancelled_at_the_server() {
    let log = std::env::temp_dir().join(format!("callgate-mcp-cancel-{}", std::process::id()));
    let mut config = config(&[]);
    config.env.insert("LOG".to_owned(), log.display().to_string());
    let mut talk = talk(config).await;
    talk.patience = Duration::from_millis(200);
    let error = talk.call("sleep:0.5").await.unwrap_err();
    assert_eq!((error.kind, error.reason, error.sent), (Kind::Transport, Reason::Timeout, Sent::Unknown));
    talk.patience = Duration::from_secs(20);
    let cancel = talk.cancel.clone();
    let cancelling = async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        cancel.cancel();
    };
    let (error, ()) = tokio::join!(talk.call("hang"), cancelling);
    let error = error.unwrap_err();
    assert_eq!((error.reason, error.sent), (Reason::Cancelled, Sent::Unknown));
    let error = talk.call("echo").await.unwrap_err();
    assert_eq!((error.reason, error.sent), (Reason::Cancelled, Sent::No), "cancelled before it was sent");
    talk.cancel = tokio_util::sync::CancellationToken::new();
    let dropped = tokio::time::timeout(Duration::from_millis(100), talk.call("hang")).await;
    assert!(dropped.is_err());
    tokio::time::sleep(Duration::from_millis(500)).await;
    talk.call("echo").await.unwrap();
    assert_eq!(talk.counts().stray_replies, 1, "the late one");
    let read = std::fs::read_to_string(&log).unwrap();
    let _left = std::fs::remove_file(&log);
    let messages: Vec<Json> = read.lines().map(|line| Json::parse(line).unwrap()).collect();
    let ids_of = |method: &str, pick: fn(&Json) -> Option<&Json>| {
        let of = |message: &&Json| message.get("method").and_then(Json::as_str) == Some(method);
        messages.iter().filter(of).filter_map(pick).map(ToString::to_string).collect::<Vec<_>>()
    };
    let cancelled = ids_of("notifications/cancelled", |message| message.get("params")?.get("requestId"));
    let called = ids_of("tools/call", |message| message.get("id"));
    assert_eq!(cancelled.len(), 3, "{read}");
    assert_eq!(cancelled[..], called[..3]);
}

#[tokio::test]
async fn calls_run_beside_each_other() {
    let talk = talk(config(&[])).await;
    let begun = Instant::now();
    let calls = (0..8).map(|_| {
        let talk = talk.clone();
        tokio::spawn(async move { talk.call("sleep:2").await })
    });
    for call in calls.collect::<Vec<_>>() {
        assert_eq!(call.await.unwrap().unwrap(), "slept");
    }
    assert!(begun.elapsed() < Duration::from_secs(12));
}

#[tokio::test]
async fn progress_only_rises_and_ends_with_the_call() {
    let mut config = config(&[]);
    config.limits.progress_notices = 5;
    let talk = talk(config).await;
    talk.call("progress:100").await.unwrap();
    talk.call("echo").await.unwrap();
    let seen = talk.progress.lock().unwrap().clone();
    assert_eq!(seen.iter().map(|notice| notice.progress).collect::<Vec<_>>(), [1.0, 2.0, 3.0, 4.0, 5.0]);
    assert_eq!((seen[0].total, seen[0].message.as_ref().unwrap().len()), (Some(3.0), 4096));
    assert_eq!(talk.counts().stray_progress, 100);
}

#[tokio::test]
async fn changed_lists_are_counted_at_once() {
    let talk = talk(config(&[])).await;
    assert_eq!(talk.connection.generation(), 0);
    talk.call("flood").await.unwrap();
    assert_eq!(talk.connection.generation(), 1000);
}

#[tokio::test]
async fn a_server_that_does_not_read_gets_nothing_and_says_so() {
    let mut talk = talk(config(&[])).await;
    talk.call("deaf").await.unwrap();
    talk.patience = Duration::from_secs(5);
    let filler = format!("x{}", "y".repeat(3_000_000));
    let (first, second) = tokio::join!(talk.call(&filler), talk.call("echo"));
    let (first, second) = (first.unwrap_err(), second.unwrap_err());
    assert_eq!((first.reason, first.sent), (Reason::Timeout, Sent::Unknown), "begun to be written");
    assert_eq!((second.reason, second.sent), (Reason::Timeout, Sent::No), "never begun");
}

#[tokio::test]
async fn a_line_end_in_the_parameters_is_never_written() {
    let talk = talk(config(&[])).await;
    let error = talk.call("a\nb").await.unwrap_err();
    assert_eq!(error.sent, Sent::No);
    talk.call("echo").await.unwrap();
}
