//! What is refused when it is loaded, each with a message that says what to do.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test that cannot go on must fail where it stands"
)]

mod support;

use callgate_core::digest::Digest;
use callgate_core::json::Json;
use callgate_wasm::{Capability, Class, Interface, Kind, LimitOverrides, LoadError, LoadOptions, inspect};
use support::*;

fn refused(bytes: &[u8]) -> String {
    engine().0.load(bytes, LoadOptions::new("guest")).map(|_| ()).unwrap_err().to_string()
}

fn settings(json: &str) -> LoadOptions {
    LoadOptions { settings: Json::parse(json).unwrap(), ..LoadOptions::new("guest") }
}

#[test]
fn bytes_that_are_no_component() {
    let core = wat::parse_str("(module)").unwrap();
    for (bytes, expected) in [
        (&b""[..], "empty"),
        (&core, "core WebAssembly module"),
        (b"\x7fELF\x02\x01", "machine code"),
        (b"(component)", "WebAssembly text"),
        (b"PK\x03\x04", "starts with 50 4b 03 04"),
        (b"#!/bin/sh", "starts with 23 21"),
        (&vec![0; (32 << 20) + 1], "more than 33554432"),
    ] {
        let error = refused(bytes);
        assert!(error.contains(expected), "{error}");
    }
    let whole = Guest::new(Kind::Filter).bytes();
    for end in [9, 100, whole.len() / 2, whole.len() - 1] {
        let error = refused(&whole[..end]);
        assert!(error.contains("malformed"), "{end}: {error}");
    }
}

#[test]
fn proposals_that_are_off() {
    for (name, part) in [
        ("memory64", "(core module (memory i64 1))"),
        ("threads", "(core module (memory 1 1 shared))"),
        ("tail calls", "(core module (func $f (return_call $f)))"),
        ("exceptions", "(core module (tag))"),
        ("gc", "(core module (type (struct)))"),
        ("relaxed simd", "(core module (func (param v128 v128) (result v128) (i8x16.relaxed_swizzle (local.get 0) (local.get 1))))"),
        ("custom page sizes", "(core module (memory 1 (pagesize 1)))"),
    ] {
        let error = refused(&Guest::new(Kind::Filter).extra(part).bytes());
        assert!(error.contains("malformed, or uses") || error.contains("cannot be compiled"), "{name}: {error}");
    }
}

#[test]
fn what_costs_the_compiler_too_much() {
    let many = format!("(core module {})", "(func)".repeat(70_000));
    let locals = format!("(core module (func (local {}) {}))", "i64 ".repeat(5_000), "(drop (i32.const 1))".repeat(20_000));
    let large = format!("(core module (func {}))", "(drop (i64.const 0x7fffffffffffffff))".repeat(50_000));
    let nested = format!("{}{}", "(component ".repeat(6), ")".repeat(6));
    let parts = "(component)".repeat(200);
    for (name, part, expected) in [
        ("functions", many.as_str(), "functions"),
        ("locals", &locals, "locals"),
        ("body", &large, "bytes in one function"),
        ("nesting", &nested, "nesting"),
        ("parts", &parts, "components"),
    ] {
        let error = refused(&Guest::new(Kind::Filter).extra(part).bytes());
        assert!(error.contains("not compiled") && error.contains(expected), "{name}: {error}");
    }
}

#[test]
fn the_contract_is_checked_by_name() {
    let of = |version| Guest::new(Kind::Filter).reads(&["tool.name"]).version(version);
    let foreign = |import: &str| Guest::new(Kind::Filter).extra(&format!("(import \"{import}\" (instance (export \"get\" (func))))"));
    let newer = Guest::new(Kind::Filter).extra(r#"(import "callgate:plugin/context@0.1.9" (instance (export "weather" (func))))"#);
    for (name, guest, expected) in [
        ("version", of("0.2.0"), "`callgate:plugin/setup@0.2.0` is version 0.2.0 of the contract, and this host has 0.1.0"),
        (
            "wasi",
            foreign("wasi:clocks/monotonic-clock@0.2.0"),
            "it imports `wasi:clocks/monotonic-clock@0.2.0`, and this version offers no WASI",
        ),
        ("foreign", foreign("acme:net/http@1.0.0"), "it imports `acme:net/http@1.0.0`, which this host does not offer"),
        (
            "other kind",
            Guest::new(Kind::Filter).reads(&["call-arguments.digest"]),
            "it imports `callgate:plugin/call-arguments@0.1.0`, which a plugin of kind filter may not use",
        ),
        ("prompt of a hook", Guest::new(Kind::PreHook).reads(&["prompt.ask"]), "which a plugin of kind pre-hook may not use"),
        (
            "prompt not granted",
            Guest::new(Kind::Approver).reads(&["prompt.ask"]),
            "it imports `callgate:plugin/prompt@0.1.0`, which needs the capability `prompt`",
        ),
        ("no kind", Guest::of(&[]), "it exports none of filter, predicate"),
        ("no setup", Guest::new(Kind::Filter).without_setup(), "it does not export `callgate:plugin/setup`"),
        ("newer function", newer, "it imports `weather` of `callgate:plugin/context@0.1.9`, which this host is too old to have"),
        (
            "unknown interface",
            foreign("callgate:plugin/http@0.1.0"),
            "it imports `callgate:plugin/http@0.1.0`, which this host does not offer",
        ),
    ] {
        let error = refused(&guest.bytes());
        assert!(error.contains(expected), "{name}: {error}");
    }
}

#[test]
fn a_later_version_of_the_track_is_taken() {
    let plugin = plugin(&Guest::new(Kind::Filter).reads(&["tool.name"]).version("0.1.7").answers(&yes(Kind::Filter)));
    assert_eq!(invoke(&plugin, Kind::Filter).said, Ok("Visible".to_owned()));
}

#[test]
fn a_function_of_another_type_is_found_at_load() {
    let other = r#"(import "callgate:plugin/context@0.1.0" (instance (export "now-ms" (func (result string)))))"#;
    let error = refused(&Guest::new(Kind::Filter).extra(other).bytes());
    assert!(error.contains("does not fit the contract"), "{error}");
    let text = r#"(component
        (core module $m (memory (export "mem") 1) (func (export "realloc") (param i32 i32 i32 i32) (result i32) (i32.const 64))
            (func (export "configure") (param i32 i32) (result i32) (i32.const 0)) (func (export "run") (result i32) (i32.const 1)))
        (core instance $m (instantiate $m))
        (func $configure (param "settings" string) (result (result (error string)))
            (canon lift (core func $m "configure") (memory (core memory $m "mem")) (realloc (core func $m "realloc"))))
        (instance $setup (export "configure" (func $configure)))
        (export "callgate:plugin/setup@0.1.0" (instance $setup))
        (func $run (result bool) (canon lift (core func $m "run")))
        (instance $filter (export "visible" (func $run)))
        (export "callgate:plugin/filter@0.1.0" (instance $filter)))"#;
    let error = refused(&wat::parse_str(text).unwrap());
    assert!(error.contains("`visible` of `filter` has another type"), "{error}");
}

#[test]
fn other_bytes_than_were_vetted() {
    let bytes = Guest::new(Kind::Filter).bytes();
    let options = |digest| LoadOptions { sha256: Some(digest), ..LoadOptions::new("guest") };
    assert!(load(&bytes, options(Digest::of(&bytes))).is_ok());
    let error = load(&bytes, options(Digest::of("other"))).map(|_| ()).unwrap_err();
    assert!(matches!(error, LoadError::Digest { .. }), "{error}");
}

#[test]
fn a_configure_that_fails_stops_the_load() {
    let fails =
        |configure: &str| refused(&Guest::new(Kind::Filter).configure(configure).defs(&data(512, &err_at(512, "no such\nkind"))).bytes());
    assert_eq!(fails("(i32.const 512)"), "it does not accept its settings: no such\\nkind");
    assert!(fails("unreachable").starts_with("it broke while taking its settings: trap, wasm trap"), "{}", fails("unreachable"));
    assert!(fails("(loop $l (br $l)) unreachable").contains("timeout (fuel)"));
    assert!(fails("(i32.const -1)").contains("bad_return"));
    let start = Guest::new(Kind::Filter).defs("(func $s (loop $l (br $l))) (start $s)");
    assert!(refused(&start.bytes()).contains("timeout (fuel)"));
    let huge = Guest::new(Kind::Filter).defs("").memory("300");
    assert!(refused(&huge.bytes()).contains("memory"), "{}", refused(&huge.bytes()));
    let outside = Guest::new(Kind::Filter).defs("(data (i32.const 65535) \"ab\")");
    assert!(refused(&outside.bytes()).contains("trap"));
}

fn err_at(at: u32, text: &str) -> Vec<u8> {
    let mut bytes = vec![1, 0, 0, 0];
    bytes.extend((at + 12).to_le_bytes());
    bytes.extend((text.len() as u32).to_le_bytes());
    bytes.extend(text.as_bytes());
    bytes
}

#[test]
fn while_it_takes_its_settings_only_log_answers() {
    for function in ["tool.name", "call-arguments.digest", "context.era", "tool-result.get-result", "failure.kind", "question.reason"] {
        let guest =
            Guest::of(&Kind::ALL).reads(&[function, "log.write"]).configure(&format!("(call ${function} (i32.const 64)) (i32.const 512)"));
        assert_eq!(
            refused(&guest.bytes()),
            format!("it broke while taking its settings: refused, `{function}` is not available to this plugin here")
        );
    }
    let logs = Guest::new(Kind::Filter)
        .reads(&["log.write"])
        .configure("(call $log.write (i32.const 3) (local.get $ptr) (local.get $len)) (i32.const 512)");
    load(&logs.bytes(), LoadOptions { settings: Json::parse(r#"{"a":1}"#).unwrap(), ..LoadOptions::new("logs-settings") }).unwrap();
    assert_eq!(engine().1.of("logs-settings"), [r#"warn {"a":1}"#]);
}

#[test]
fn settings_are_checked_against_the_components_schema() {
    let schema = r#"(@custom "callgate:settings-schema" "{\22type\22:\22object\22,\22properties\22:{\22max\22:{\22type\22:\22integer\22}},\22additionalProperties\22:false}")"#;
    let bytes = Guest::new(Kind::Filter).extra(schema).bytes();
    assert!(load(&bytes, settings(r#"{"max":3}"#)).is_ok());
    for wrong in [r#"{"max":"3"}"#, r#"{"min":3}"#] {
        let error = load(&bytes, settings(wrong)).map(|_| ()).unwrap_err();
        assert!(matches!(error, LoadError::SettingsMismatch(_)), "{error}");
    }
    assert_eq!(inspect(&bytes).unwrap().settings_schema.unwrap().get("type").unwrap().as_str(), Some("object"));
    let broken = Guest::new(Kind::Filter).extra(r#"(@custom "callgate:settings-schema" "{")"#).bytes();
    assert!(refused(&broken).contains("settings schema cannot be used"));
    assert!(matches!(
        load(&bytes, LoadOptions { settings: Json::Null, ..LoadOptions::new("guest") }).unwrap_err(),
        LoadError::SettingsForm
    ));
}

#[test]
fn limits_that_no_sandbox_can_hold() {
    let limits = LimitOverrides { memory: Some(1 << 30), ..Default::default() };
    let error = load(&Guest::new(Kind::Filter).bytes(), LoadOptions { limits, ..LoadOptions::new("guest") }).map(|_| ()).unwrap_err();
    assert_eq!(error.to_string(), "its limit `memory` is 1073741824, but at most 67108864 can be given to a plugin that is compiled");
}

#[test]
fn inspection_says_in_plain_words_what_a_component_may_do() {
    let guest = Guest::of(&[Kind::PreHook, Kind::Approver])
        .reads(&["tool.name", "call-arguments.argument-at", "prompt.ask", "log.write"])
        .extra(r#"(instance $left (export "f" (func $configure))) (export "init" (instance $left))"#);
    let inspection = inspect(&guest.bytes()).unwrap();
    assert_eq!(inspection.kinds, [Kind::PreHook, Kind::Approver]);
    assert_eq!(inspection.version.as_deref(), Some("0.1.0"));
    assert_eq!(inspection.class, Class::Compiled);
    assert_eq!(inspection.extra_exports, ["init"]);
    assert_eq!(inspection.needs, [Capability::Prompt]);
    assert_eq!(inspection.problems, []);
    let words: Vec<_> = inspection.imports.iter().flat_map(|import| import.words.clone()).collect();
    assert_eq!(words, ["reads the tool's name", "reads single arguments", "asks a person", "writes to the log"]);
    assert_eq!(inspection.imports[0].interface, Some(Interface::Types));
    let plugin = plugin(&guest);
    assert!(plugin.is(Kind::Approver) && plugin.filter().is_none() && plugin.pre_hook().is_some());
}
