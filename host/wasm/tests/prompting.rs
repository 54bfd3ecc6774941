//! Approvers ask a person: the wait costs no running time, ends with the ask, and what the person said is what the guest hears.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test that cannot go on must fail where it stands"
)]

mod support;

use std::time::{Duration, Instant};

use callgate_core::extension::{PromptError, Refusal, Verdict};
use callgate_wasm::{Kind, LimitOverrides, LoadOptions, Plugin};
use support::*;

/// Asks, and answers what the person said; `err` where nobody did.
///
/// `ask` writes `result<verdict, prompt-error>` to 64: `[tag][verdict, from 68]`, laid out as the answer is.
fn asking(before: &str) -> Guest {
    let ask = format!("{before} (call $prompt.ask (i32.const 2048) (i32.const 5) (i32.const 2053) (i32.const 7) (i32.const 64))");
    Guest::new(Kind::Approver)
        .reads(&["prompt.ask"])
        .defs(&data(2048, b"Sure?details"))
        .run(&format!("{ask} (if (i32.load8_u (i32.const 64)) (then (return (i32.const 4096)))) (i32.const 64)"))
        .defs(&data(4096, &[1, 0, 0, 0]))
}

fn loaded(guest: &Guest, limits: LimitOverrides) -> Plugin {
    load(&guest.bytes(), LoadOptions { limits, ..LoadOptions::new("approver") }).unwrap()
}

#[test]
fn the_persons_answer_reaches_the_guest() {
    let plugin = loaded(&asking(""), LimitOverrides::default());
    for (says, expected) in [
        (Ok(Verdict::AllowOnce), Ok("AllowOnce")),
        (Ok(Verdict::AllowAlways(Default::default())), Ok("AllowAlways")),
        (Ok(Verdict::Deny(Refusal::new("not_today", "no"))), Ok("Deny(Refusal { reason: \"not_today\"")),
        (Ok(Verdict::DenyAndHalt(Refusal::new("stop", "no"))), Ok("DenyAndHalt")),
        (Err(PromptError::Unanswered), Err("no_answer")),
        (Err(PromptError::Other("broken".to_owned())), Err("no_answer")),
    ] {
        let person = Person::new(Duration::ZERO, says);
        let said = reviewed(&plugin, Some(person.clone())).said;
        match (said, expected) {
            (Ok(said), Ok(expected)) => assert!(said.starts_with(expected), "{said}"),
            (said, expected) => assert_eq!(said.err().as_deref(), expected.err()),
        }
        assert_eq!(*person.seen.lock().unwrap(), [("Sure?".to_owned(), "details".to_owned())]);
    }
    assert_eq!(reviewed(&plugin, None).said, Err("no_answer".to_owned()));
}

#[test]
fn the_wait_counts_neither_as_fuel_nor_as_running_time() {
    let limits = LimitOverrides { deadline: Some(Duration::from_millis(50)), ..Default::default() };
    // It works for a while after the wait, so that an epoch that went by meanwhile would end it.
    let work = "(loop $l (global.set $n (i32.add (global.get $n) (i32.const 1))) (br_if $l (i32.lt_u (global.get $n) (i32.const 100000))))";
    let guest = asking("").defs("(global $n (mut i32) (i32.const 0))");
    let guest = guest.run(&format!(
        "(call $prompt.ask (i32.const 2048) (i32.const 5) (i32.const 2053) (i32.const 7) (i32.const 64)) {work} (i32.const 64)"
    ));
    let outcome = reviewed(&loaded(&guest, limits), Some(Person::new(Duration::from_millis(300), Ok(Verdict::AllowOnce))));
    assert_eq!(outcome.said, Ok("AllowOnce".to_owned()));
}

#[test]
fn running_on_after_the_wait_ends_at_the_deadline() {
    let limits = LimitOverrides { fuel: Some(u64::MAX / 2), deadline: Some(Duration::from_millis(50)), ..Default::default() };
    let guest = asking("").run(
        "(call $prompt.ask (i32.const 2048) (i32.const 5) (i32.const 2053) (i32.const 7) (i32.const 64)) (loop $l (br $l)) unreachable",
    );
    let start = Instant::now();
    let outcome = reviewed(&loaded(&guest, limits), Some(Person::new(Duration::from_millis(100), Ok(Verdict::AllowOnce))));
    assert_eq!(outcome.said, Err("timeout (deadline)".to_owned()));
    assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
}

#[test]
fn the_ask_time_out_ends_the_wait_wherever_the_guest_is() {
    let plugin = loaded(&asking(""), LimitOverrides::default());
    let person = Person::new(Duration::from_secs(60), Ok(Verdict::AllowOnce));
    let start = Instant::now();
    let (outcome, reply) = reviewed_within(&plugin, Some(person.clone()), Duration::from_millis(100));
    assert!(start.elapsed() < Duration::from_secs(60));
    assert_eq!(outcome.said, Err("cut off".to_owned()));
    assert_eq!(reply.unwrap_err().reason.as_str(), "ask_failed");
    // The question was taken back, and the sandbox is free again.
    assert_eq!(*person.waiting.lock().unwrap(), 0);
    let next = reviewed(&plugin, Some(Person::new(Duration::ZERO, Ok(Verdict::AllowOnce))));
    assert_eq!(next.said, Ok("AllowOnce".to_owned()));
}

#[test]
fn a_second_question_is_refused() {
    let again = "(call $prompt.ask (i32.const 2048) (i32.const 5) (i32.const 2053) (i32.const 7) (i32.const 64))";
    let person = Person::new(Duration::ZERO, Ok(Verdict::Deny(Refusal::new("no", "no"))));
    let outcome = reviewed(&loaded(&asking(again), LimitOverrides::default()), Some(person.clone()));
    assert_eq!(outcome.said, Err("refused".to_owned()));
    assert_eq!(person.seen.lock().unwrap().len(), 1);
}

#[test]
fn headline_and_details_are_cut() {
    let guest = asking("")
        .memory("2")
        .run("(call $prompt.ask (i32.const 2048) (i32.const 60000) (i32.const 2048) (i32.const 60000) (i32.const 64)) (i32.const 64)");
    let person = Person::new(Duration::ZERO, Ok(Verdict::AllowOnce));
    reviewed(&loaded(&guest, LimitOverrides::default()), Some(person.clone()));
    let seen = person.seen.lock().unwrap().clone();
    assert_eq!((seen[0].0.chars().count(), seen[0].1.chars().count()), (200, 4_000));
}
