//! Step 10: structured content of results that are no errors must fit the tool's output schema.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test that cannot go on must fail where it stands")]

mod support;

use callgate_core::extension::PostOutcome;
use callgate_core::json::Json;
use callgate_core::revision::{Strictness, Validate};
use support::*;

fn tool() -> Json {
    definition("read", r#""outputSchema":{"type":"object","required":["n"],"properties":{"n":{"type":"integer"}}}"#)
}

fn setup(strictness: Strictness, reply: Json) -> Setup {
    Setup::policy(Server::with([tool()]).replies([reply]), allowing())
        .with(|revision| revision.validate = Some(Validate { arguments: true, structured_content: strictness }))
}

#[tokio::test]
async fn strict_warn_and_off() {
    use Strictness::{Off, Strict, Warn};
    let mismatch = "invalid_result/schema_mismatch/yes";
    for (name, strictness, reply, outcome) in [
        ("fits", Strict, structured(r#"{"n":1}"#), "ok"),
        ("fits, 1.0", Strict, structured(r#"{"n":1.0}"#), "ok"),
        ("does not fit", Strict, structured(r#"{"n":"x"}"#), mismatch),
        ("null", Strict, structured("null"), mismatch),
        ("missing", Strict, done("x"), "invalid_result/no_structured_content/yes"),
        ("an error is not checked", Strict, json(r#"{"content":[],"isError":true,"structuredContent":{"n":"x"}}"#), "tool_error"),
        ("an error needs none", Strict, json(r#"{"content":[],"isError":true}"#), "tool_error"),
        ("no error is checked", Strict, json(r#"{"content":[],"isError":false,"structuredContent":{"n":"x"}}"#), mismatch),
        ("warn", Warn, structured(r#"{"n":"x"}"#), "ok"),
        ("warn, missing", Warn, done("x"), "ok"),
        ("off", Off, structured(r#"{"n":"x"}"#), "ok"),
        ("off, missing", Off, done("x"), "ok"),
    ] {
        let world = setup(strictness, reply).build();
        assert_eq!(world.said().await, outcome, "{name}");
        assert_eq!(world.server.rounds().len(), 1, "{name}: never sent again for this");
    }
}

#[tokio::test]
async fn strict_by_default_and_without_a_schema_nothing_is_asked() {
    let world = Setup::policy(Server::with([tool()]).replies([done("x")]), allowing()).build();
    assert_eq!(world.said().await, "invalid_result/no_structured_content/yes");
    let world = Setup::policy(Server::new().replies([structured(r#"{"any":1}"#)]), allowing()).build();
    assert_eq!(world.said().await, "ok");
}

#[tokio::test]
async fn a_warning_is_in_the_trace() {
    let world = setup(Strictness::Warn, structured("{}")).build();
    let traced = world.pipeline.run_traced(call("read", "{}")).await;
    assert!(traced.steps.iter().any(|step| (step.step, step.verdict) == ("result", "warned")));
}

#[tokio::test]
async fn a_result_that_costs_too_much_to_check_is_refused() {
    let schema = r#""outputSchema":{"type":"object","properties":{"a":{"uniqueItems":true}}}"#;
    let many = format!(r#"{{"a":[{}]}}"#, (0..2_000).map(|n| format!("[{n}]")).collect::<Vec<_>>().join(","));
    let server = Server::with([definition("read", schema)]).replies([structured(&many)]);
    assert_eq!(Setup::policy(server, allowing()).build().said().await, "invalid_result/schema_too_costly/yes");
}

#[tokio::test]
async fn a_replaced_result_is_checked_again() {
    for (name, strictness, to, outcome) in [
        ("fits", Strictness::Strict, structured(r#"{"n":2}"#), "ok"),
        ("does not fit", Strictness::Strict, structured("{}"), "invalid_result/schema_mismatch/yes"),
        ("missing", Strictness::Strict, done("x"), "invalid_result/no_structured_content/yes"),
        ("an error", Strictness::Strict, json(r#"{"content":[],"isError":true}"#), "tool_error"),
        ("off", Strictness::Off, structured("{}"), "ok"),
    ] {
        let world = setup(strictness, structured(r#"{"n":1}"#))
            .with(|revision| revision.post_hooks.push(post("post", move |_, _| Ok(PostOutcome::Replace(to.clone())))))
            .build();
        assert_eq!(world.said().await, outcome, "{name}");
    }
}
