//! What one governed look costs. Printed, not asserted: run with `--release --nocapture --ignored`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test that cannot go on must fail where it stands"
)]

mod support;

use std::hint::black_box;
use std::time::{Duration, Instant};

use callgate_wasm::{Kind, Plugin};
use support::*;

/// Microseconds of one invocation: the median of batches.
fn measure(name: &str, mut invoke: impl FnMut()) {
    let mut batches: Vec<Duration> = (0..21)
        .map(|_| {
            let start = Instant::now();
            (0..200).for_each(|_| invoke());
            start.elapsed() / 200
        })
        .collect();
    batches.sort();
    println!("{name:48} {:7.2} us", batches[10].as_secs_f64() * 1e6);
}

fn pre_hook(name: &str, plugin: &Plugin, arguments: &str) {
    let hook = plugin.pre_hook().unwrap();
    let mut around = context();
    around.budget = callgate_core::model::PluginBudget::new(Duration::from_secs(3_600));
    let call = call_with(arguments, around);
    measure(name, || assert!(black_box(hook.on_call(&call)).answer.is_ok()));
}

#[test]
#[ignore = "prints figures"]
fn a_fresh_instance_for_every_call() {
    let small = r#"{"path":"/srv/a"}"#;
    let text = "x".repeat(1000);
    let kilobyte = format!(r#"{{"path":"/srv/a","text":"{text}"}}"#);
    pre_hook("hand-written, reads nothing", &plugin(&Guest::new(Kind::PreHook).answers(&answer(2))), small);
    let reads = Guest::new(Kind::PreHook)
        .reads(&["call-arguments.get-arguments"])
        .answers(&answer(2))
        .first("(call $call-arguments.get-arguments (i32.const 64))");
    pre_hook("hand-written, reads 1 KiB of arguments", &plugin(&reads), &kilobyte);
    let folder = std::path::PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../target/plugins");
    for (name, settings) in [("hook-c", "{}"), ("path-guard", r#"{"roots":["/srv"]}"#), ("hook-js", "{}"), ("hook-python", "{}")] {
        let Ok(bytes) = std::fs::read(folder.join(format!("{name}.wasm"))) else { continue };
        let settings = callgate_core::json::Json::parse(settings).unwrap();
        match load(&bytes, callgate_wasm::LoadOptions { settings, ..callgate_wasm::LoadOptions::new(name) }) {
            Ok(plugin) => pre_hook(name, &plugin, small),
            Err(error) => println!("{name}: {error}"),
        }
    }
}
