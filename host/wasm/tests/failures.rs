//! Every way to fail, for every kind. One table: whatever a guest does, the host lives and the failure has its name.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test that cannot go on must fail where it stands"
)]

mod support;

use callgate_wasm::{Kind, LimitOverrides, LoadOptions};
use std::time::{Duration, Instant};
use support::*;

/// Runs the guest that `make` makes of each kind, and compares how it ends.
fn check(name: &str, expected: &str, make: impl Fn(Kind) -> Guest) {
    for kind in Kind::ALL {
        let plugin = plugin(&make(kind));
        // Twice: a failure leaves nothing behind that the next call would notice.
        for _ in 0..2 {
            let outcome = invoke(&plugin, kind);
            assert_eq!(outcome.said, Err(expected.to_owned()), "{name}, {kind}: {outcome:?}");
        }
    }
}

#[test]
fn an_endless_loop_ends_with_its_fuel() {
    check("loop", "timeout (fuel)", |kind| Guest::new(kind).run("(loop $l (br $l)) unreachable"));
}

#[test]
fn an_endless_loop_with_fuel_enough_ends_at_its_deadline() {
    for kind in Kind::ALL {
        let limits = LimitOverrides { fuel: Some(u64::MAX / 2), deadline: Some(Duration::from_millis(20)), ..Default::default() };
        let guest = Guest::new(kind).run("(loop $l (br $l)) unreachable");
        let plugin = load(&guest.bytes(), LoadOptions { limits, ..LoadOptions::new("guest") }).unwrap();
        let start = Instant::now();
        let outcome = invoke(&plugin, kind);
        assert_eq!(outcome.said, Err("timeout (deadline)".to_owned()), "{kind}: {outcome:?}");
        assert!(start.elapsed() < Duration::from_secs(60), "{kind}: {:?}", start.elapsed());
    }
}

#[test]
fn unreachable_traps() {
    check("unreachable", "trap", |kind| Guest::new(kind).run("unreachable"));
}

#[test]
fn a_stack_overflow_traps() {
    let recursion = "(func $deep (param i32) (result i32) (i32.add (call $deep (i32.add (local.get 0) (i32.const 1))) (i32.const 1)))";
    check("recursion", "trap", |kind| Guest::new(kind).defs(recursion).run("(call $deep (i32.const 0))"));
}

#[test]
fn wanting_too_much_memory_has_its_own_name() {
    let grow = "(if (i32.eq (memory.grow (i32.const 1000)) (i32.const -1)) (then unreachable))";
    check("grow", "memory", |kind| Guest::new(kind).first(grow));
}

#[test]
fn doing_without_the_memory_is_no_failure() {
    for kind in Kind::ALL {
        let guest = Guest::new(kind).first("(drop (memory.grow (i32.const 1000)))").answers(&yes(kind));
        assert!(invoke(&plugin(&guest), kind).said.is_ok(), "{kind}");
    }
}

#[test]
fn an_answer_out_of_bounds_is_malformed() {
    for address in ["-4", "65533", "65536", "1025"] {
        check("pointer", "bad_return", |kind| Guest::new(kind).run(&format!("(i32.const {address})")));
    }
}

#[test]
fn invalid_utf8_is_malformed() {
    for text in [&b"\xff"[..], b"\xc3", b"ok\xed\xa0\x80"] {
        check("utf-8", "bad_return", |kind| Guest::new(kind).answers(&err(text)));
    }
}

#[test]
fn a_text_out_of_bounds_is_malformed() {
    let mut bytes = vec![1, 0, 0, 0];
    bytes.extend(1024_u32.to_le_bytes());
    bytes.extend(0x7fff_ffff_u32.to_le_bytes());
    check("length", "bad_return", |kind| Guest::new(kind).answers(&bytes));
}

#[test]
fn a_case_that_does_not_exist_is_malformed() {
    for tag in [5, 9, 255] {
        check("case", "bad_return", |kind| Guest::new(kind).answers(&answer(tag)));
    }
    check("result", "bad_return", |kind| Guest::new(kind).answers(&[7, 0, 0, 0]));
}

#[test]
fn an_answer_over_its_bytes_is_malformed() {
    // 9 MiB of zeros as the text of an error.
    let mut bytes = vec![1, 0, 0, 0];
    bytes.extend(65536_u32.to_le_bytes());
    bytes.extend((9_u32 << 20).to_le_bytes());
    check("size", "bad_return", |kind| Guest::new(kind).memory("160").answers(&bytes));
}

#[test]
fn saying_that_there_is_no_answer_is_kept_apart() {
    for kind in Kind::ALL {
        let outcome = invoke(&plugin(&Guest::new(kind).answers(&err(b"no idea\n\x1b[31m"))), kind);
        assert_eq!(outcome.said, Err("no_answer".to_owned()), "{kind}");
        assert_eq!(outcome.text.as_deref(), Some("no idea\\n\\u{1b}[31m"), "{kind}");
    }
}

/// A function that the kind's row lacks.
fn forbidden(kind: Kind) -> &'static str {
    match kind {
        Kind::Filter => "call-arguments.get-arguments",
        Kind::Predicate | Kind::PreHook | Kind::FailureHook | Kind::Approver => "tool-result.get-result",
        Kind::PostHook => "failure.message",
    }
}

#[test]
fn what_only_another_kind_may_read_is_refused() {
    for kind in Kind::ALL {
        let function = forbidden(kind);
        let guest = Guest::of(&Kind::ALL).reads(&[function]).first(&format!("(call ${function} (i32.const 64))"));
        let outcome = invoke(&plugin(&guest), kind);
        assert_eq!(outcome.said, Err("refused".to_owned()), "{kind}: {outcome:?}");
        assert_eq!(outcome.text, Some(format!("`{function}` is not available to this plugin here")));
    }
}

#[test]
fn only_an_approver_prompts() {
    let call = "(call $prompt.ask (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 64))";
    let plugin = plugin(&Guest::of(&Kind::ALL).reads(&["prompt.ask"]).first(call));
    for kind in Kind::ALL {
        let expected = if kind == Kind::Approver { "bad" } else { "refused" };
        let said = invoke(&plugin, kind).said;
        assert_eq!(said.clone().err().as_deref() == Some("refused"), expected == "refused", "{kind}: {said:?}");
    }
}

#[test]
fn a_text_beyond_memory_handed_to_the_host_is_malformed() {
    let log = "(call $log.write (i32.const 2) (i32.const 0) (i32.const 0x7fffffff))";
    check("log", "bad_return", |kind| Guest::new(kind).reads(&["log.write"]).first(log));
}

#[test]
fn a_text_too_large_to_hand_over_is_malformed() {
    let log = "(call $log.write (i32.const 2) (i32.const 65536) (i32.const 15000000))";
    check("log", "bad_return", |kind| Guest::new(kind).memory("240").reads(&["log.write"]).first(log));
}

#[test]
fn a_level_that_does_not_exist_is_malformed() {
    let log = "(call $log.write (i32.const 9) (i32.const 0) (i32.const 0))";
    check("log", "bad_return", |kind| Guest::new(kind).reads(&["log.write"]).first(log));
}

#[test]
fn lies_of_realloc() {
    // `configure` needs `realloc` too, so it lies only from the second time on.
    let lie = |lie: &str| {
        format!(
            "(if (i32.eq (global.get $next) (i32.const 8192)) (then (global.set $next (i32.const 8200)) (return (i32.const 8192)))) {lie}"
        )
    };
    for (name, code, expected) in [
        ("out of bounds", "(i32.const -1)", "bad_return"),
        ("at the end", "(i32.const 65535)", "bad_return"),
        ("traps", "unreachable", "trap"),
        ("loops", "(loop $l (br $l)) unreachable", "timeout (fuel)"),
    ] {
        check(name, expected, |kind| Guest::new(kind).reads(&["tool.name"]).realloc(&lie(code)).first("(call $tool.name (i32.const 64))"));
    }
}

#[test]
fn calling_the_host_too_often_traps() {
    let flood = "(loop $l (drop (call $context.now-ms)) (br $l))";
    check("flood", "trap", |kind| Guest::new(kind).reads(&["context.now-ms"]).first(flood));
}

#[test]
fn a_burn_of_bulk_memory_costs_fuel() {
    let burn = "(loop $l (memory.fill (i32.const 0) (i32.const 1) (i32.const 60000)) (br $l))";
    check("fill", "timeout (fuel)", |kind| Guest::new(kind).first(burn));
}

#[test]
fn a_tables_growth_is_bounded() {
    let grow = "(if (i32.eq (table.grow $t (ref.null func) (i32.const 100000)) (i32.const -1)) (then unreachable))";
    check("table", "memory", |kind| Guest::new(kind).defs("(table $t 1 funcref)").first(grow));
}

#[test]
fn json_that_two_readers_could_read_differently_is_malformed() {
    for text in ["", "{", "[1]", "\"x\"", r#"{"a":1,"a":2}"#, r#"{"a":"\ud800"}"#, &("[".repeat(200) + &"]".repeat(200)), "{}x"] {
        for (kind, tag) in [(Kind::PreHook, 3), (Kind::PreHook, 4), (Kind::PostHook, 2)] {
            let outcome = invoke(&plugin(&Guest::new(kind).answers(&text_answer(tag, text))), kind);
            assert_eq!(outcome.said, Err("bad_return".to_owned()), "{kind} {tag} {text}");
        }
    }
}

#[test]
fn the_answers_of_every_kind() {
    for (kind, bytes, expected) in [
        (Kind::Filter, answer(0), "Hidden"),
        (Kind::Filter, answer(1), "Visible"),
        (Kind::Predicate, answer(1), "NoMatch"),
        (Kind::Predicate, answer(2), "Match"),
        (Kind::PreHook, answer(2), "Proceed"),
        (Kind::PreHook, text_answer(3, r#"{"b":1}"#), "Rewrite"),
        (Kind::PreHook, text_answer(4, r#"{"content":[]}"#), "Halt"),
        (Kind::PostHook, answer(1), "Keep"),
        (Kind::PostHook, text_answer(2, r#"{"content":[]}"#), "Replace"),
        (Kind::FailureHook, answer(0), "Keep"),
        (Kind::FailureHook, text_answer(1, "sorry"), "Replace"),
        (Kind::Approver, answer(2), "AllowOnce"),
        (Kind::Approver, answer(3), "AllowAlways"),
    ] {
        let said = invoke(&plugin(&Guest::new(kind).answers(&bytes)), kind).said.unwrap();
        assert!(said.starts_with(expected), "{kind}: {said}");
    }
}

#[test]
fn all_zero_memory_never_means_yes() {
    for (kind, expected) in [
        (Kind::Filter, "Hidden"),
        (Kind::Predicate, "Undecided"),
        (Kind::PreHook, "Deny"),
        (Kind::PostHook, "Withhold"),
        (Kind::FailureHook, "Keep"),
        (Kind::Approver, "Deny"),
    ] {
        let said = invoke(&plugin(&Guest::new(kind).answers(&zero())), kind).said.unwrap();
        assert!(said.starts_with(expected), "{kind}: {said}");
    }
}

#[test]
fn the_budget_of_a_call_is_shared_and_runs_out() {
    let loops = plugin(&Guest::new(Kind::PreHook).run("(loop $l (br $l)) unreachable"));
    let limits = LimitOverrides { fuel: Some(u64::MAX / 2), ..Default::default() };
    let endless =
        load(&Guest::new(Kind::PreHook).run("(loop $l (br $l)) unreachable").bytes(), LoadOptions { limits, ..LoadOptions::new("guest") })
            .unwrap();
    let around = context();
    around.budget.spend(Duration::from_millis(9_970));
    let call = call_with("{}", around);
    let start = Instant::now();
    assert_eq!(about(&endless, Kind::PreHook, &call).said, Err("timeout (call_budget)".to_owned()));
    assert!(start.elapsed() < Duration::from_secs(60));
    // Nothing is left: the next plugin is not even started.
    let outcome = about(&loops, Kind::PreHook, &call);
    assert_eq!((outcome.said, outcome.fuel), (Err("timeout (call_budget)".to_owned()), None));
}
