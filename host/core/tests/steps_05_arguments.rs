//! Step 5: invalid arguments are never sent.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test that cannot go on must fail where it stands")]

mod support;

use callgate_core::extension::PreOutcome;
use callgate_core::json::Json;
use callgate_core::model::{Arguments, Error};
use callgate_core::revision::{Strictness, Validate};
use support::*;

fn tool(schema: &str) -> Json {
    json(&format!(r#"{{"name":"read","inputSchema":{schema}}}"#))
}

async fn check(name: &str, schema: &str, arguments: &str, outcome: &str) {
    let world = Setup::policy(Server::with([tool(schema)]), allowing()).build();
    assert_eq!(said(&world.run(call("read", arguments)).await), outcome, "{name}");
    assert_eq!(world.server.rounds().len(), usize::from(outcome == "ok"), "{name}");
}

#[tokio::test]
async fn arguments_that_do_not_fit_are_not_sent() {
    let mismatch = "invalid_arguments/schema_mismatch/no";
    for (name, schema, arguments, outcome) in [
        ("fits", r#"{"type":"object","required":["a"]}"#, r#"{"a":1}"#, "ok"),
        ("required", r#"{"type":"object","required":["a"]}"#, "{}", mismatch),
        ("type", r#"{"type":"object","properties":{"a":{"type":"string"}}}"#, r#"{"a":1}"#, mismatch),
        ("enum", r#"{"type":"object","properties":{"a":{"enum":["x"]}}}"#, r#"{"a":"y"}"#, mismatch),
        ("additional", r#"{"type":"object","additionalProperties":false}"#, r#"{"a":1}"#, mismatch),
        ("pattern", r#"{"type":"object","properties":{"a":{"pattern":"^x$"}}}"#, r#"{"a":"xx"}"#, mismatch),
        (
            "reference",
            r##"{"type":"object","properties":{"a":{"$ref":"#/$defs/n"}},"$defs":{"n":{"type":"integer"}}}"##,
            r#"{"a":"1"}"#,
            mismatch,
        ),
        ("1.0 is an integer", r#"{"type":"object","properties":{"a":{"type":"integer"}}}"#, r#"{"a":1.0}"#, "ok"),
        (
            "64 bits are exact",
            r#"{"type":"object","properties":{"a":{"maximum":9007199254740992}}}"#,
            r#"{"a":9007199254740993}"#,
            mismatch,
        ),
        ("formats are words only", r#"{"type":"object","properties":{"a":{"format":"email"}}}"#, r#"{"a":"x"}"#, "ok"),
    ] {
        check(name, schema, arguments, outcome).await;
    }
}

#[tokio::test]
async fn drafts_by_their_name() {
    for (dialect, schema, arguments) in [
        ("http://json-schema.org/draft-04/schema#", r#""properties":{"a":{"maximum":5,"exclusiveMaximum":true}}"#, r#"{"a":5}"#),
        ("http://json-schema.org/draft-06/schema#", r#""properties":{"a":{"exclusiveMaximum":5}}"#, r#"{"a":5}"#),
        ("http://json-schema.org/draft-07/schema#", r#""if":{"required":["a"]},"then":{"required":["b"]}"#, r#"{"a":1}"#),
        ("https://json-schema.org/draft/2019-09/schema", r#""dependentRequired":{"a":["b"]}"#, r#"{"a":1}"#),
        ("https://json-schema.org/draft/2020-12/schema", r#""properties":{"a":{"prefixItems":[{"type":"string"}]}}"#, r#"{"a":[1]}"#),
    ] {
        let schema = format!(r#"{{"$schema":"{dialect}","type":"object",{schema}}}"#);
        check(dialect, &schema, arguments, "invalid_arguments/schema_mismatch/no").await;
        check(dialect, &schema, "{}", "ok").await;
    }
    check(
        "default is 2020-12",
        r#"{"type":"object","dependentRequired":{"a":["b"]}}"#,
        r#"{"a":1}"#,
        "invalid_arguments/schema_mismatch/no",
    )
    .await;
}

#[tokio::test]
async fn an_unusable_schema_fails_closed() {
    let unusable = "invalid_arguments/schema_unusable/no";
    for (name, schema) in [
        ("an unknown dialect", r#"{"type":"object","$schema":"https://example.com/mine"}"#),
        ("a reference outside", r#"{"type":"object","properties":{"a":{"$ref":"https://example.com/s.json"}}}"#),
        ("a reference to nothing", r##"{"type":"object","properties":{"a":{"$ref":"#/$defs/none"}}}"##),
        ("a circle", r##"{"type":"object","$ref":"#"}"##),
        ("invalid", r#"{"type":"object","required":"a"}"#),
        ("look-around", r#"{"type":"object","properties":{"a":{"pattern":"(?=a)b"}}}"#),
        ("an enormous pattern", r#"{"type":"object","properties":{"a":{"pattern":"^((x{1,100}y?){1,100}z?){1,100}$"}}}"#),
    ] {
        check(name, schema, "{}", unusable).await;
    }
}

#[tokio::test]
async fn a_check_that_would_cost_too_much_is_not_begun() {
    let doubling: Vec<String> =
        (0..40).map(|n| format!(r##""a{n}":{{"allOf":[{{"$ref":"#/$defs/a{m}"}},{{"$ref":"#/$defs/a{m}"}}]}}"##, m = n + 1)).collect();
    let schema = format!(r##"{{"type":"object","$ref":"#/$defs/a0","$defs":{{{},"a40":true}}}}"##, doubling.join(","));
    check("doubling", &schema, "{}", "invalid_arguments/schema_too_costly/no").await;
    let many = format!(r#"{{"a":[{}]}}"#, (0..2_000).map(|n| format!("[{n}]")).collect::<Vec<_>>().join(","));
    let unique = r#"{"type":"object","properties":{"a":{"uniqueItems":true}}}"#;
    check("unique items", unique, &many, "invalid_arguments/schema_too_costly/no").await;
}

/// What takes a while runs on a worker, and says the same there.
#[tokio::test]
async fn a_long_check_is_made_elsewhere() {
    let schema = r#"{"type":"object","properties":{"a":{"items":{"type":"integer","minimum":0}}}}"#;
    let items = |last: i32| format!(r#"{{"a":[{},{last}]}}"#, vec!["1"; 5_000].join(","));
    check("fits", schema, &items(1), "ok").await;
    check("does not fit", schema, &items(-1), "invalid_arguments/schema_mismatch/no").await;
}

#[tokio::test]
async fn checked_by_default_and_by_option() {
    let strict = r#"{"type":"object","required":["a"]}"#;
    for (name, validate, outcome) in [
        ("by default", None, "invalid_arguments/schema_mismatch/no"),
        ("on", Some(Validate::default()), "invalid_arguments/schema_mismatch/no"),
        ("off", Some(Validate { arguments: false, structured_content: Strictness::Off }), "ok"),
    ] {
        let world = Setup::policy(Server::with([tool(strict)]), allowing()).with(|revision| revision.validate = validate).build();
        assert_eq!(world.said().await, outcome, "{name}");
    }
}

#[tokio::test]
async fn what_hooks_left_is_checked() {
    for (to, outcome) in [(r#"{"a":1}"#, "ok"), (r#"{"b":1}"#, "invalid_arguments/schema_mismatch/no")] {
        let world = Setup::policy(Server::with([tool(r#"{"type":"object","required":["a"]}"#)]), allowing())
            .with(|revision| revision.pre_hooks.push(pre("fix", move |_| Ok(PreOutcome::Rewrite(json(to))))))
            .build();
        assert_eq!(world.said().await, outcome, "{to}");
    }
}

#[tokio::test]
async fn an_output_schema_that_could_not_be_used_stops_the_call_before_it_is_sent() {
    let bad = definition("read", r#""outputSchema":{"type":"nonsense"}"#);
    for (strictness, outcome) in
        [(Strictness::Strict, "invalid_arguments/schema_unusable/no"), (Strictness::Warn, "ok"), (Strictness::Off, "ok")]
    {
        let world = Setup::policy(Server::with([bad.clone()]), allowing())
            .with(|revision| revision.validate = Some(Validate { arguments: true, structured_content: strictness }))
            .build();
        assert_eq!(world.said().await, outcome, "{strictness:?}");
    }
}

#[test]
fn arguments_are_read_strictly() {
    let deep = |levels: usize| format!("{}{}", r#"{"a":"#.repeat(levels - 1) + "{", "}".repeat(levels));
    for (name, text, reason) in [
        ("a duplicate key", r#"{"a":1,"a":1}"#.to_owned(), "duplicate_key"),
        ("a duplicate key by escape", r#"{"a":1,"\u0061":1}"#.to_owned(), "duplicate_key"),
        ("half a pair", r#"{"a":"\ud83d"}"#.to_owned(), "lone_surrogate"),
        ("too deep", deep(129), "too_deep"),
        ("no object", "[]".to_owned(), "not_an_object"),
        ("no JSON", "{a:1}".to_owned(), "not_json"),
        ("beyond 64 bits", r#"{"a":18446744073709551616}"#.to_owned(), "inexact_number"),
        ("more digits than a double", r#"{"a":0.12345678901234567890}"#.to_owned(), "inexact_number"),
        ("beyond a double", r#"{"a":1e999}"#.to_owned(), "inexact_number"),
        ("too large", format!(r#"{{"a":"{}"}}"#, "x".repeat(4 << 20)), "too_large"),
    ] {
        let error = Error::from(Arguments::parse(&text).unwrap_err());
        assert_eq!((error.kind.as_str(), error.reason.as_str()), ("invalid_arguments", reason), "{name}");
    }
    assert!(Arguments::parse(&deep(128)).is_ok());
    assert_eq!(Arguments::none().canonical(), "{}");
}
