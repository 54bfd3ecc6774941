//! What a legacy server asks, and whom (T14).

use std::time::{Duration, Instant};

use callgate_core::json::Json;
use callgate_core::model::Era;
use callgate_core::upstream::InputKinds;

use super::{config, talk};
use crate::WireLimits;
use crate::link::Link;
use crate::pending::{Event, Purpose};

#[tokio::test]
async fn the_only_call_is_asked() {
    let mut talk = talk(config(&[])).await;
    assert_eq!(talk.call("ask").await.unwrap(), r#"{"for": {"message": "who?"}}"#);
    assert_eq!(talk.call("ask:roots/list").await.unwrap(), r#"{"code": -1, "message": "no roots"}"#);
    assert_eq!(talk.call("ping").await.unwrap(), "{}");
    for undeclared in ["sampling/createMessage", "tools/call"] {
        assert!(talk.call(&format!("ask:{undeclared}")).await.unwrap().contains("-32601"), "{undeclared}");
    }
    talk.gate = Duration::from_millis(500);
    talk.progress.lock().unwrap().clear();
    let asking = talk.call("ask");
    let watching = async {
        tokio::time::sleep(Duration::from_millis(250)).await;
        assert_eq!(talk.progress.lock().unwrap().len(), 1, "read while the person thinks");
    };
    let (answer, ()) = tokio::join!(asking, watching);
    answer.unwrap();
}

#[tokio::test]
async fn with_two_calls_nobody_is_asked() {
    let talk = talk(config(&[])).await;
    let other = tokio::spawn({
        let talk = talk.clone();
        async move { talk.call("sleep:1").await }
    });
    tokio::time::sleep(Duration::from_millis(200)).await;
    let refused = talk.call("ask").await.unwrap();
    assert!(refused.contains("-32000") && refused.contains("several calls"), "{refused}");
    other.await.unwrap().unwrap();
    assert!(talk.call("ask").await.unwrap().contains("who?"));
}

#[tokio::test]
async fn a_call_that_was_given_up_may_still_ask_so_nobody_is_asked() {
    let mut talk = talk(config(&[])).await;
    talk.patience = Duration::from_millis(100);
    talk.call("sleep:0.6").await.unwrap_err();
    talk.patience = Duration::from_secs(20);
    let refused = talk.call("ask").await.unwrap();
    assert!(refused.contains("given up"), "{refused}");
    tokio::time::sleep(Duration::from_millis(800)).await;
    assert!(talk.call("ask").await.unwrap().contains("who?"), "its late answer came");
}

#[tokio::test]
async fn questions_end_with_their_call_or_their_asker() {
    let mut talk = talk(config(&[])).await;
    talk.gate = Duration::from_secs(60);
    talk.patience = Duration::from_millis(300);
    talk.call("ask").await.unwrap_err();
    talk.patience = Duration::from_secs(20);
    let begun = Instant::now();
    assert_eq!(talk.call("ask-and-withdraw").await.unwrap(), "done");
    assert!(begun.elapsed() < Duration::from_secs(60));
    assert!(talk.counts().refused_requests > 0);
}

#[tokio::test]
async fn outside_of_calls_only_pings_are_answered() {
    let log = std::env::temp_dir().join(format!("callgate-mcp-outside-{}", std::process::id()));
    let mut config = config(&["ping-first", "ask-outside"]);
    config.env.insert("LOG".to_owned(), log.display().to_string());
    let talk = talk(config).await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    talk.call("echo").await.unwrap();
    let read = std::fs::read_to_string(&log).unwrap();
    let _left = std::fs::remove_file(&log);
    assert!(read.contains(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#), "{read}");
    assert!(read.contains(r#""id":"out","error":{"code":-32000"#), "{read}");
}

#[tokio::test]
async fn a_modern_server_makes_no_requests() {
    let mut config = config(&["modern"]);
    config.declared = InputKinds { form: true, url: true, sampling: true, roots: true };
    let talk = talk(config).await;
    for method in ["elicitation/create", "roots/list", "ping"] {
        assert!(talk.call(&format!("ask:{method}")).await.unwrap().contains("-32601"), "{method}");
    }
}

#[test]
fn each_request_counts_once_whatever_becomes_of_it() {
    let declared = InputKinds { form: true, ..InputKinds::default() };
    let limits = WireLimits { input_requests: 4, ..WireLimits::default() };
    let (link, mut written) = Link::new("s".parse().unwrap(), declared, limits);
    link.established(Era::Legacy);
    let (_id, mut events) = link.pending.enter(Purpose::Call(None)).unwrap();
    let ask = |id: u64, method: &str, bytes| link.requested(Json::from(id), method.to_owned(), Json::Null, bytes);
    let withdraw = |id: u64| {
        link.receive(format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#).as_bytes());
    };
    ask(1, "elicitation/create", 1);
    (0..100).for_each(|_| withdraw(1));
    withdraw(9);
    ask(2, "elicitation/create", 1);
    ask(3, "sampling/createMessage", 1);
    ask(4, "elicitation/create", 1 << 20);
    ask(5, "elicitation/create", 1);
    let told: Vec<String> = std::iter::from_fn(|| events.try_recv().ok())
        .map(|event| match event {
            Event::Ask(ask) => format!("ask {}", ask.id),
            Event::AskWithdrawn(id) => format!("withdrawn {id}"),
            other => format!("{other:?}"),
        })
        .collect();
    assert_eq!(told, ["ask 1", "withdrawn 1", "ask 2"], "a withdrawal is told once, and of what was asked");
    let refused: Vec<String> = std::iter::from_fn(|| written.try_recv().ok()).map(|message| message.line).collect();
    let expected = [(3, "does not offer"), (4, "too large"), (5, "too often")];
    assert_eq!(refused.len(), expected.len(), "{refused:?}");
    for (line, (id, why)) in refused.iter().zip(expected) {
        assert!(line.contains(&format!(r#""id":{id},"#)) && line.contains(why), "{line}");
    }
}
