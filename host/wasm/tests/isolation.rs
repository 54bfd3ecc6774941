//! A fresh instance for every call: the settings are there and nothing else is, whoever ran before.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test that cannot go on must fail where it stands"
)]

mod support;

use std::sync::Arc;

use callgate_core::json::Json;
use callgate_core::model::Context;
use callgate_wasm::{Class, Engine, EngineOptions, Kind, LimitOverrides, LoadOptions, Plugin};
use support::*;

/// Looks for a byte that is not zero from 16 KiB up, answers `err` if there is one, and else leaves every byte set.
const PROWL: &str = "(local $at i32)
    (local.set $at (i32.const 16384))
    (loop $next
      (if (i64.ne (i64.load (local.get $at)) (i64.const 0)) (then (return (i32.const 4096))))
      (local.set $at (i32.add (local.get $at) (i32.const 8)))
      (br_if $next (i32.lt_u (local.get $at) (i32.mul (memory.size) (i32.const 65536)))))
    (memory.fill (i32.const 16384) (i32.const 0xaa) (i32.sub (i32.mul (memory.size) (i32.const 65536)) (i32.const 16384)))";

fn prowler(memory: &str, end: &str) -> Guest {
    Guest::new(Kind::PreHook)
        .memory(memory)
        .defs(&data(4096, &[1, 0, 0, 0]))
        .answers(&answer(2))
        .run(&format!("{PROWL} {end} (i32.const {ANSWER})"))
}

#[test]
fn a_guest_never_sees_the_bytes_of_another() {
    // One sandbox at a time and few slots, so that memories are used again and again; sizes below and above what is kept resident.
    let options = EngineOptions { running: 1, reviewing: 1, ..EngineOptions::default() };
    let engine = Engine::new(&options).unwrap();
    assert!(engine.is_pooled(Class::Compiled));
    let load = |guest: &Guest| engine.load(&guest.bytes(), LoadOptions::new("prowler")).unwrap();
    let guests: Vec<Plugin> = (0..24)
        .map(|index| {
            let memory = ["1", "5", "16"][index % 3];
            // Each has code of its own, and every fourth ends in a trap.
            let end = if index % 4 == 3 { "unreachable".to_owned() } else { format!("(drop (i32.const {index}))") };
            load(&prowler(memory, &end))
        })
        .collect();
    for round in 0..6 {
        for (index, guest) in guests.iter().enumerate() {
            let outcome = invoke(guest, Kind::PreHook);
            let expected = if index % 4 == 3 { Err("trap".to_owned()) } else { Ok("Proceed".to_owned()) };
            assert_eq!(outcome.said, expected, "round {round}, guest {index}");
        }
    }
}

#[test]
fn settings_are_there_and_nothing_is_carried_over() {
    // `configure` keeps the settings' length; `run` proceeds only while a counter is 0 and the length is right.
    let guest = Guest::new(Kind::PreHook)
        .defs("(global $length (mut i32) (i32.const 0)) (global $calls (mut i32) (i32.const 0))")
        .configure("(global.set $length (i32.add (global.get $length) (local.get $len))) (i32.const 512)")
        .answers(&answer(2))
        .run(&format!(
            "(if (i32.ne (global.get $calls) (i32.const 0)) (then unreachable))
             (global.set $calls (i32.const 1))
             (if (i32.ne (global.get $length) (i32.const 7)) (then unreachable))
             (i32.const {ANSWER})"
        ));
    let options = LoadOptions { settings: Json::parse(r#"{"a": 1}"#).unwrap(), ..LoadOptions::new("guest") };
    let plugin = load(&guest.bytes(), options).unwrap();
    for _ in 0..50 {
        assert_eq!(invoke(&plugin, Kind::PreHook).said, Ok("Proceed".to_owned()));
    }
}

#[test]
fn fuel_is_the_same_every_time() {
    let plugin = plugin(
        &Guest::new(Kind::PreHook).reads(&["call-arguments.get-arguments"]).first("(call $call-arguments.get-arguments (i32.const 64))"),
    );
    let fuel = invoke(&plugin, Kind::PreHook).fuel.unwrap();
    assert!(fuel > 0 && fuel < 1_000, "{fuel}");
    for _ in 0..20 {
        assert_eq!(invoke(&plugin, Kind::PreHook).fuel, Some(fuel));
    }
}

/// Ends the call with what a function gave: a JSON text at 64.
fn echo(functions: &[&'static str], call: &str) -> Guest {
    // Case `halt`, whose text is what the function returned at 64.
    let run = format!(
        "{call}
         (i32.store8 (i32.const 1028) (i32.const 4))
         (i32.store (i32.const 1032) (i32.load (i32.const 64)))
         (i32.store (i32.const 1036) (i32.load (i32.const 68)))"
    );
    Guest::new(Kind::PreHook).reads(functions).first(&run)
}

#[test]
fn a_plugin_reads_the_current_call() {
    let plugin = plugin(&echo(&["call-arguments.get-arguments"], "(call $call-arguments.get-arguments (i32.const 64))"));
    for arguments in [r#"{"b":1,"a":2}"#, "{}"] {
        let said = format!("{:?}", plugin.pre_hook().unwrap().on_call(&call(arguments)).answer.unwrap());
        assert_eq!(said, format!("Halt({:?})", Json::parse(call(arguments).arguments.canonical()).unwrap()));
    }
    // A text of megabytes fits too, but not more than the memory that the plugin may have.
    let large = format!(r#"{{"text":"{}"}}"#, "x".repeat(3 << 20));
    assert!(about(&plugin, Kind::PreHook, &call(&large)).said.is_ok());
    let limits = LimitOverrides { memory: Some(1 << 20), ..Default::default() };
    let guest = echo(&["call-arguments.get-arguments"], "(call $call-arguments.get-arguments (i32.const 64))");
    let small = load(&guest.bytes(), LoadOptions { limits, ..LoadOptions::new("guest") }).unwrap();
    assert_eq!(about(&small, Kind::PreHook, &call(&large)).said, Err("memory".to_owned()));
}

#[test]
fn an_assign_that_the_entry_does_not_list_is_not_there() {
    // `some` at 64 with the text at 68, else `none`: proceeds where there is none.
    let run = "(call $context.assigned (i32.const 2048) (i32.const 4) (i32.const 64))
        (i32.store8 (i32.const 1028) (i32.add (i32.const 2) (i32.mul (i32.const 2) (i32.load8_u (i32.const 64)))))
        (i32.store (i32.const 1032) (i32.load (i32.const 68)))
        (i32.store (i32.const 1036) (i32.load (i32.const 72)))";
    let plugin = plugin(&Guest::new(Kind::PreHook).reads(&["context.assigned"]).defs(&data(2048, b"team")).first(run));
    let assigned = |key: &str| Context { assigns: Arc::new([(key.to_owned(), Json::object())].into_iter().collect()), ..context() };
    assert!(about(&plugin, Kind::PreHook, &call_with("{}", assigned("team"))).said.unwrap().starts_with("Halt"));
    assert_eq!(about(&plugin, Kind::PreHook, &call_with("{}", assigned("other"))).said, Ok("Proceed".to_owned()));
}

#[test]
fn logs_are_capped_escaped_and_delivered_after_the_call() {
    let text = b"line\n\x1b[2Jof \xe2\x80\xaetext";
    let write = format!("(call $log.write (i32.const 4) (i32.const 2048) (i32.const {}))", text.len());
    let flood = "(loop $l (call $log.write (i32.const 0) (i32.const 2048) (i32.const 4)) (global.set $n (i32.add (global.get $n) (i32.const 1))) (br_if $l (i32.lt_u (global.get $n) (i32.const 500))))";
    let note = format!("(call $log.note (i32.const 2048) (i32.const {}))", text.len());
    let guest = Guest::new(Kind::PreHook)
        .reads(&["log.write", "log.note"])
        .defs("(global $n (mut i32) (i32.const 0))")
        .defs(&data(2048, text))
        .answers(&answer(2))
        .first(&format!("{write} {note} {flood}"));
    let plugin = load(&guest.bytes(), LoadOptions::new("talker")).unwrap();
    let outcome = invoke(&plugin, Kind::PreHook);
    assert_eq!(outcome.said, Ok("Proceed".to_owned()));
    let escaped = "line\\n\\u{1b}[2Jof \\u{202e}text";
    assert_eq!(outcome.note.as_deref(), Some(escaped));
    let lines = engine().1.of("talker");
    assert_eq!(lines[0], format!("error {escaped}"));
    assert_eq!(lines.len(), 101);
    assert_eq!(lines[100], "warn 401 lines were dropped: the plugin logs more than it may");
}

#[test]
fn a_failing_plugin_still_delivers_its_last_words() {
    let guest = Guest::new(Kind::Predicate)
        .reads(&["log.write"])
        .defs(&data(2048, b"panicked: no such thing"))
        .run("(call $log.write (i32.const 4) (i32.const 2048) (i32.const 23)) unreachable");
    let plugin = load(&guest.bytes(), LoadOptions::new("last-words")).unwrap();
    assert_eq!(invoke(&plugin, Kind::Predicate).said, Err("trap".to_owned()));
    assert_eq!(engine().1.of("last-words"), ["error panicked: no such thing"]);
}

#[test]
fn no_free_sandbox_is_a_bounded_wait_and_then_a_failure() {
    let options = EngineOptions { running: 1, patience: std::time::Duration::from_millis(20), ..EngineOptions::default() };
    let engine = Engine::new(&options).unwrap();
    let limits = LimitOverrides { fuel: Some(u64::MAX / 2), deadline: Some(std::time::Duration::from_millis(400)), ..Default::default() };
    let slow = Guest::new(Kind::PreHook).run("(loop $l (br $l)) unreachable");
    let slow = engine.load(&slow.bytes(), LoadOptions { limits, ..LoadOptions::new("slow") }).unwrap();
    let quick = engine.load(&Guest::new(Kind::PreHook).answers(&answer(2)).bytes(), LoadOptions::new("quick")).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| invoke(&slow, Kind::PreHook));
        std::thread::sleep(std::time::Duration::from_millis(60));
        assert_eq!(invoke(&quick, Kind::PreHook).said, Err("timeout (queue)".to_owned()));
    });
    assert_eq!(invoke(&quick, Kind::PreHook).said, Ok("Proceed".to_owned()));
}

#[test]
fn many_threads_at_once() {
    let plugin = plugin(&Guest::new(Kind::PreHook).reads(&["tool.name"]).answers(&answer(2)).first("(call $tool.name (i32.const 64))"));
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| (0..200).for_each(|_| assert_eq!(invoke(&plugin, Kind::PreHook).said, Ok("Proceed".to_owned()))));
        }
    });
}
