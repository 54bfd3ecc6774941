//! `callgate config check` on every configuration in `tests/config`: what it says stands beside each, word for word.
//!
//! Beside `NAME.toml` lies `NAME.err` with the one error, or `NAME.ok` with the warnings. `CALLGATE_BLESS=1` writes them anew, for
//! a person to read.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on must fail where it stands")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use callgate_e2e::{Folder, callgate, plugin, project};

/// What of the configuration must be covered, by the beginning of the files' names.
const SECTIONS: [&str; 14] = [
    "server",
    "plugin",
    "pipeline",
    "policy",
    "validate",
    "ask",
    "pins",
    "shape",
    "send",
    "telemetry",
    "store",
    "log",
    "assigns",
    "section",
];

/// What `config check` says of a file: whether it is accepted, and its error or warnings without what differs from place to place.
fn said(file: &Path) -> (bool, String) {
    let folder = Folder::new();
    let plugins = Path::new(&plugin("path-guard")).parent().unwrap().display().to_string();
    let name = file.file_name().unwrap().to_str().unwrap();
    let mut command = Command::new(callgate());
    command.current_dir(file.parent().unwrap()).args(["--dev", "--config", name, "config", "check"]);
    command
        .env_remove("CALLGATE_NOT_SET")
        .env_remove("CALLGATE_LOG")
        .env("CALLGATE_PLUGINS", &plugins)
        .env("XDG_STATE_HOME", folder.path("state"));
    let output = command.output().unwrap();
    let (stdout, stderr) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    if output.status.success() {
        assert_eq!(stderr, "", "{name}");
        let (last, warnings) =
            stdout.lines().collect::<Vec<_>>().split_last().map(|(last, rest)| ((*last).to_owned(), rest.join("\n"))).unwrap();
        assert!(last.starts_with(&format!("{name}: ok, revision ")), "{name}: {last}");
        (true, warnings)
    } else {
        assert_eq!((output.status.code(), stdout.as_str(), stderr.lines().count()), (Some(8), "", 1), "{name}: one error: {stderr}");
        (false, digests_hidden(stderr.replace(&plugins, "PLUGINS").trim_end()))
    }
}

/// A built plugin's digest changes with its compiler.
fn digests_hidden(text: &str) -> String {
    let is_digest =
        |word: &str| word.len() == 64 && word.bytes().all(|byte| byte.is_ascii_hexdigit()) && word.bytes().any(|byte| byte != b'0');
    let hidden = |word: &str| if is_digest(word.trim_end_matches(',')) { "DIGEST,".to_owned() } else { word.to_owned() };
    text.split(' ').map(hidden).collect::<Vec<_>>().join(" ")
}

fn files() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(project().join("tests/config")).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = entries.filter(|path| path.extension().is_some_and(|extension| extension == "toml")).collect();
    files.sort();
    files
}

#[test]
fn each_file_is_told_what_stands_beside_it() {
    let mut wrong = Vec::new();
    for file in files() {
        let (accepted, text) = said(&file);
        let (beside, other) = if accepted { ("ok", "err") } else { ("err", "ok") };
        if std::env::var_os("CALLGATE_BLESS").is_some() {
            std::fs::write(file.with_extension(beside), format!("{text}\n")).unwrap();
        }
        if file.with_extension(other).exists() {
            wrong.push(format!("{}: a .{other} lies beside it, but it says: {text}", file.display()));
        } else if std::fs::read_to_string(file.with_extension(beside)).unwrap_or_default().trim_end() != text {
            wrong.push(format!("{}: this is not what stands in .{beside}:\n{text}", file.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn each_section_has_its_files() {
    let names: BTreeSet<String> = files().iter().map(|file| file.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
    for section in SECTIONS {
        assert!(names.iter().any(|name| name.starts_with(&format!("{section}-"))), "no file in tests/config is about `{section}`");
    }
    let stems = std::fs::read_dir(project().join("tests/config")).unwrap().map(|entry| entry.unwrap().path());
    for path in stems {
        assert!(names.contains(path.file_stem().unwrap().to_str().unwrap()), "{} has no configuration beside it", path.display());
    }
}

/// Whoever writes by the schema writes what the reader takes.
#[test]
fn the_schema_accepts_every_accepted_file() {
    let output = Command::new(callgate()).args(["config", "schema"]).output().unwrap();
    let schema = serde_json::from_slice(&output.stdout).unwrap();
    let validator = jsonschema::options().offline().build(&schema).unwrap();
    for file in files().into_iter().filter(|file| file.with_extension("ok").exists()) {
        let text = std::fs::read_to_string(&file).unwrap();
        let value = serde_json::to_value(toml::from_str::<toml::Value>(&text).unwrap()).unwrap();
        if let Err(error) = validator.validate(&value) {
            panic!("{}: {error}", file.display());
        }
    }
}
