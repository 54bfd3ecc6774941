//! Plugins of real toolchains, where they have been built (`target/plugins`); else a line says that they were passed over.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test that cannot go on must fail where it stands"
)]

mod support;

use std::path::PathBuf;

use callgate_core::extension::{Finding, PreOutcome, Visibility};
use callgate_core::json::Json;
use callgate_core::model::FailureKind;
use callgate_wasm::{Class, Kind, LoadError, LoadOptions, Plugin, inspect};
use support::*;

fn bytes(name: &str) -> Option<Vec<u8>> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../target/plugins").join(format!("{name}.wasm"));
    let bytes = std::fs::read(path).ok();
    if bytes.is_none() {
        println!("passed over: target/plugins/{name}.wasm has not been built");
    }
    bytes
}

fn try_load(name: &str, settings: &str) -> Option<Result<Plugin, LoadError>> {
    let options = LoadOptions { settings: Json::parse(settings).unwrap(), ..LoadOptions::new(name) };
    Some(load(&bytes(name)?, options))
}

fn guest(name: &str, settings: &str) -> Option<Plugin> {
    Some(try_load(name, settings)?.unwrap_or_else(|error| panic!("{name}: {error}")))
}

#[test]
fn the_same_hook_in_three_languages() {
    for (name, class) in [("hook-c", Class::Compiled), ("hook-js", Class::Interpreted), ("hook-python", Class::Interpreted)] {
        let Some(plugin) = guest(name, "{}") else { continue };
        assert_eq!((plugin.kinds(), plugin.class()), (&[Kind::PreHook][..], class), "{name}");
        let hook = plugin.pre_hook().unwrap();
        for _ in 0..3 {
            let metered = hook.on_call(&call(r#"{"command":"rm -rf /"}"#));
            let Ok(PreOutcome::Deny(refusal)) = metered.answer else { panic!("{name}: {metered:?}") };
            assert_eq!(refusal.reason, "recursive_delete", "{name}");
            assert_eq!(hook.on_call(&call(r#"{"command":"ls"}"#)).answer.unwrap(), PreOutcome::Proceed, "{name}");
        }
        // Compiled already, by the plugin that is still there.
        let start = std::time::Instant::now();
        let error = try_load(name, r#"{"x":1}"#).unwrap().map(drop).unwrap_err().to_string();
        assert!(error.contains("this plugin takes no settings"), "{name}: {error}");
        assert!(start.elapsed() < std::time::Duration::from_secs(60), "{name}: {:?}", start.elapsed());
    }
}

#[test]
fn hide_destructive_hides() {
    let Some(plugin) = guest("hide-destructive", "{}") else { return };
    let filter = plugin.filter().unwrap();
    let around = context().into();
    for (definition, expected) in [
        (r#"{"name":"read","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}"#, Visibility::Visible),
        (r#"{"name":"rm","inputSchema":{"type":"object"},"annotations":{"destructiveHint":true}}"#, Visibility::Hidden),
    ] {
        assert_eq!(filter.visible(&tool(definition), &around).answer.unwrap(), expected, "{definition}");
    }
}

#[test]
fn one_component_of_many_kinds() {
    let Some(plugin) = guest("many-kinds", "{}") else { return };
    assert!(plugin.kinds().len() >= 4, "{:?}", plugin.kinds());
    assert_eq!(plugin.predicate().unwrap().matches(&call(r#"{"go":true}"#)).answer.unwrap(), Finding::Match);
    assert_eq!(plugin.predicate().unwrap().matches(&call(r#"{"go":1}"#)).answer.unwrap(), Finding::NoMatch);
    let call = call("{}");
    assert_eq!(plugin.filter().unwrap().visible(&call.tool, &call.context).answer.unwrap(), Visibility::Visible);
    let Some(Ok(overreaching)) = try_load("many-kinds", r#"{"overreach":true}"#) else { panic!("it does not load") };
    let failure = overreaching.filter().unwrap().visible(&call.tool, &call.context).answer.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Refused);
}

#[test]
fn everything_that_a_pre_hook_may_read() {
    let Some(plugin) = guest("echo-context", r#"{"pointers":["/path"]}"#) else { return };
    let metered = plugin.pre_hook().unwrap().on_call(&call(r#"{"path":"/srv/a"}"#));
    let Ok(PreOutcome::Halt(result)) = metered.answer else { panic!("{metered:?}") };
    let seen = result.get("structuredContent").unwrap();
    let at = |pointer: &str| seen.at(&pointer.parse().unwrap()).unwrap().to_string();
    assert_eq!(at("/tool/name"), "\"read_file\"");
    assert_eq!(at("/tool/annotation/read-only"), "true");
    assert_eq!(at("/arguments/at/~1path"), "\"/srv/a\"");
    assert_eq!(at("/context/principal"), "\"cli:ann\"");
    assert_eq!(at("/context/tainted"), "true");
    assert_eq!(metered.note.as_deref(), Some("echoed"));
    assert_eq!(engine().1.of("echo-context").len(), 5);
}

#[test]
fn a_panic_is_a_trap_with_its_text_in_the_log() {
    let Some(plugin) = guest("panics", r#"{"text":"so long"}"#) else { return };
    let outcome = invoke(&plugin, Kind::PreHook);
    assert_eq!(outcome.said, Err("trap".to_owned()));
    let lines = engine().1.of("panics");
    assert!(lines.iter().any(|line| line.contains("so long")), "{lines:?}");
    let error = try_load("panics", r#"{"at_once":true}"#).unwrap().map(drop).unwrap_err().to_string();
    assert!(error.contains("it broke while taking its settings: trap"), "{error}");
}

#[test]
fn a_looper_is_ended() {
    let Some(plugin) = guest("looper", "{}") else { return };
    assert!(invoke(&plugin, Kind::PreHook).said.unwrap_err().starts_with("timeout"));
}

#[test]
fn every_plugin_that_is_there_can_be_inspected() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../target/plugins");
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.extension().is_none_or(|extension| extension != "wasm") {
            continue;
        }
        let inspection = inspect(&std::fs::read(&path).unwrap()).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        println!(
            "{}: {:?}, {}, {} bytes, extra {:?}, by {:?}, problems {:?}",
            path.display(),
            inspection.kinds,
            inspection.class.as_str(),
            inspection.size,
            inspection.extra_exports,
            inspection.producers,
            inspection.problems
        );
        for import in &inspection.imports {
            println!("    {}: {}", import.name, import.words.join(", "));
        }
    }
}
