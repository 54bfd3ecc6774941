//! Other people's test suites, from `../shared/data` beside the workspace or from `CALLGATE_DATA`; passed over where absent.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test that cannot go on must fail where it stands")]

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use callgate_core::extension::PreOutcome;
use callgate_core::json::{Json, ParseErrorKind};
use callgate_core::model::{Arguments, ToolCall, ToolResult};
use callgate_core::shape::{clean_text, shape, show_json, show_text};
use support::*;

/// A suite's folder; none, and a line that says so, where it is not there.
fn suite(name: &str) -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let folder = std::env::var_os("CALLGATE_DATA").map_or_else(beside, PathBuf::from).join(name);
    if !folder.is_dir() {
        eprintln!("{name}: not at {}, passed over", folder.display());
        return None;
    }
    Some(folder)
}

fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> =
        entries.map(|path| (path.file_name().unwrap().to_str().unwrap().to_owned(), fs::read(&path).unwrap())).collect();
    files.sort();
    assert!(!files.is_empty());
    files
}

/// What the suite says must be accepted and is refused here, since two readers could read it differently.
const STRICTER: &[(&str, ParseErrorKind)] = &[
    ("y_object_duplicated_key.json", ParseErrorKind::DuplicateKey),
    ("y_object_duplicated_key_and_value.json", ParseErrorKind::DuplicateKey),
];

#[test]
fn json_test_suite() {
    let Some(folder) = suite("json-test-suite") else { return };
    let mut counted = [0, 0, 0];
    for (name, bytes) in files(&folder.join("test_parsing")) {
        let read = Json::parse_bytes(&bytes);
        match name.as_bytes()[0] {
            b'y' => {
                counted[0] += 1;
                match STRICTER.iter().find(|(stricter, _)| *stricter == name) {
                    Some((_, kind)) => assert_eq!(&read.unwrap_err().kind, kind, "{name}"),
                    None => {
                        let value = read.unwrap_or_else(|error| panic!("{name}: {error}"));
                        assert_eq!(json(&value.to_string()), value, "{name}");
                        assert_eq!(json(&value.canonical()).canonical(), value.canonical(), "{name}");
                    }
                }
            }
            b'n' => {
                counted[1] += 1;
                assert!(read.is_err(), "{name}");
            }
            b'i' => {
                counted[2] += 1;
                // Either will do; what is read must be written back.
                if let Ok(value) = read {
                    assert_eq!(json(&value.to_string()), value, "{name}");
                    assert_eq!(json(&value.canonical()).canonical(), value.canonical(), "{name}");
                }
            }
            _ => panic!("{name} says nothing of what it wants"),
        }
    }
    assert!(counted.into_iter().all(|count| count > 10), "{counted:?}");
    let named = STRICTER.iter().filter(|(name, _)| folder.join("test_parsing").join(name).is_file());
    assert_eq!(named.count(), STRICTER.len());
}

#[test]
fn json_canonicalization() {
    let Some(folder) = suite("json-canonicalization") else { return };
    let folder = folder.join("testdata");
    for (name, bytes) in files(&folder.join("input")) {
        let expected = fs::read(folder.join("output").join(&name)).unwrap();
        // Integers beyond 2^53 keep their digits here: none of the vectors has one that is not its own double.
        let canonical = Json::parse_bytes(&bytes).unwrap_or_else(|error| panic!("{name}: {error}")).canonical();
        assert_eq!(canonical, String::from_utf8(expected).unwrap(), "{name}");
        let hex = fs::read_to_string(folder.join("outhex").join(name.replace(".json", ".txt"))).unwrap();
        let bytes: Vec<_> = hex.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect();
        assert_eq!(canonical.as_bytes(), bytes, "{name}");
    }
}

fn naughty_strings() -> Option<Vec<String>> {
    let list = Json::parse_bytes(&fs::read(suite("naughty-strings")?.join("blns.json")).unwrap()).unwrap();
    let strings: Vec<_> = list.as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect();
    assert!(strings.len() > 400);
    Some(strings)
}

#[tokio::test]
async fn naughty_strings_as_arguments_and_results() {
    let Some(strings) = naughty_strings() else { return };
    let saw: Arc<Mutex<Vec<String>>> = Arc::default();
    let seen = saw.clone();
    let server = Server::new().replies(strings.iter().map(|text| done(text)));
    let world = Setup::policy(server, allowing())
        .with(|revision| {
            revision.pre_hooks.push(pre("look", move |call| {
                seen.lock().unwrap().push(call.arguments.value().get("text").unwrap().as_str().unwrap().to_owned());
                Ok(PreOutcome::Proceed)
            }));
        })
        .build();
    for (index, text) in strings.iter().enumerate() {
        let arguments: Json = [("text", text.as_str()), (&format!("k{text}"), "v")].into_iter().collect();
        let arguments = Arguments::from_json(arguments).unwrap();
        let reply = world.reply(ToolCall::new("read", arguments.clone())).await;
        assert_eq!(reply, done(text), "{text:?}");
        assert_eq!(saw.lock().unwrap()[index], *text);
        let arrived = json(&world.server.rounds()[index]);
        assert_eq!(arrived.get("arguments").unwrap(), arguments.value(), "{text:?}");
        assert_eq!(args(arguments.canonical()).digest(), arguments.digest(), "{text:?}");
    }
}

#[tokio::test]
async fn naughty_strings_as_names() {
    let Some(strings) = naughty_strings() else { return };
    let is_name =
        |text: &str| (1..=128).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte));
    let offered = |text: &str| is_name(text) && strings.iter().filter(|other| other.eq_ignore_ascii_case(text)).count() == 1;
    let world = Setup::policy(Server::with(strings.iter().map(|text| definition(text, ""))), allowing()).build();
    for text in &strings {
        let outcome = said(&world.run(call(text, "{}")).await);
        assert_eq!(outcome, if offered(text) { "ok" } else { "not_found/unknown_tool/no" }, "{text:?}");
    }
    let kept = strings.iter().filter(|text| offered(text)).count();
    let dropped = world.events().iter().filter(|event| event.starts_with("dropped")).count();
    assert!(kept > 0 && dropped > 0);
    assert_eq!(kept + dropped, strings.len());
}

#[test]
fn naughty_strings_cleaned_and_shown() {
    let Some(strings) = naughty_strings() else { return };
    for text in &strings {
        let cleaned = clean_text(text);
        assert_eq!(clean_text(&cleaned.text).text, cleaned.text, "{text:?}");
        let shown = show_text(text);
        assert!(
            !shown.contains(|character: char| character.is_control() || matches!(character, '\u{200b}' | '\u{202e}' | '\u{feff}')),
            "{text:?}"
        );
        assert!(!show_json(&Json::from(text.as_str()).to_string()).contains(char::is_control), "{text:?}");
        let shaped = shape(&ToolResult::from_server(done(text)).unwrap(), &"files".parse().unwrap(), 1_024);
        assert!(shaped.value().to_string().len() <= 1_024, "{text:?}");
    }
}
