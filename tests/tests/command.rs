//! The command: exit codes, the one JSON object, and every subcommand, as a user would run them.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test that cannot go on must fail where it stands")]

use callgate_e2e::{Folder, callgate, plugin, processes, project};
use serde_json::{Value, json};

/// The demo's notebook as the server, under these rules.
fn notebook(folder: &Folder, rest: &str) {
    let marker = folder.path("changed").display().to_string();
    folder.configure(&[&callgate().display().to_string(), "demo-server", "--changed-while", &marker], rest);
}

const READ: &str = "[policy]\nallow = [{ name = 'read', tool = 'read_*' }]\ndeny = [{ name = 'no-mail', tool = 'send_mail' }]";

#[test]
fn a_result_is_0_and_one_object() {
    let folder = Folder::new();
    notebook(&folder, READ);
    let (code, reply) = folder.call("read_note", r#"{"path":"a"}"#, &["--trace"]);
    assert_eq!(code, 0, "{reply}");
    assert_eq!((&reply["version"], &reply["outcome"]), (&json!(1), &json!("result")));
    assert!(reply["call_id"].is_string() && reply["revision"].is_string());
    let steps: Vec<_> = reply["steps"].as_array().unwrap().iter().map(|step| step["step"].as_str().unwrap()).collect();
    assert_eq!(steps, ["resolve", "select", "fingerprint", "arguments", "policy", "encode", "send", "result"]);
    let ran = folder.run(&["call", "s", "read_note", r#"{"path":"a"}"#]);
    assert_eq!((ran.code, ran.stdout.trim(), ran.stderr.as_str()), (0, r#"read_note was called with {"path":"a"}"#, ""));
    assert_eq!(processes(&folder.path("changed").display().to_string()), Vec::<u32>::new(), "no server outlives the command");
}

#[test]
fn every_other_exit_code() {
    let folder = Folder::new();
    notebook(&folder, READ);
    for (code, tool, arguments, options, kind, reason) in [
        (1, "read_note", r#"{"path":1}"#, vec![], "invalid_arguments", "schema_mismatch"),
        (1, "read_note", r#"{"a":1,"a":2}"#, vec![], "invalid_arguments", "duplicate_key"),
        (3, "send_mail", r#"{"to":"x"}"#, vec![], "denied", "deny_rule"),
        (3, "write_note", r#"{"path":"a","text":"b"}"#, vec![], "denied", "no_rule"),
        (5, "nothing", "{}", vec![], "not_found", "unknown_tool"),
    ] {
        let (got, reply) = folder.call(tool, arguments, &options);
        assert_eq!((got, &reply["error"]["kind"], &reply["error"]["reason"]), (code, &json!(kind), &json!(reason)), "{reply}");
        assert_eq!((&reply["outcome"], &reply["error"]["sent"]), (&json!("error"), &json!("no")));
    }
    assert_eq!(folder.run(&["call", "s"]).code, 2);
    assert_eq!(folder.run(&["call", "nobody", "x"]).code, 5);
    notebook(&folder, &format!("[plugin.p]\npath = '{}'\n[pipeline]\npre_hooks = ['p']", plugin("looper")));
    let (code, reply) = folder.call("read_note", r#"{"path":"a"}"#, &[]);
    assert_eq!((code, &reply["error"]["kind"]), (7, &json!("hook")), "{reply}");
    assert_eq!(reply["error"]["data"], json!({"plugin": "p", "failure": "timeout", "limit": "fuel"}));
    notebook(&folder, "[policy]\nask = [{ name = 'all', tool = '*' }]");
    assert_eq!(folder.call("read_note", r#"{"path":"a"}"#, &[]).0, 4);
    folder.write("callgate.toml", "nonsense");
    assert_eq!(folder.run(&["tools", "s"]).code, 8);
}

#[test]
fn taint_assigns_and_principal_reach_policy() {
    let folder = Folder::new();
    let rules = "[policy]\ndefault = 'allow'\ndeny = [{ name = 'tainted', tainted = { ignore = ['mail'] } }, { name = 'guest', all = [{ assign = { key = 'role', exists = true } }, { assign = { key = 'role', equals = 'guest' } }] }]";
    notebook(&folder, rules);
    let read = |options: &[&str]| folder.call("read_note", r#"{"path":"a"}"#, options);
    assert_eq!(read(&[]).0, 0);
    assert_eq!(read(&["--taint", "mail"]).0, 0);
    assert_eq!(read(&["--taint", "web"]).1["error"]["data"]["rule"], "tainted");
    assert_eq!(read(&["--assign", "role=guest"]).1["error"]["data"]["rule"], "guest");
    notebook(&folder, "[policy]\nallow = [{ name = 'ann', principal = 'cli:ann' }]");
    assert_eq!(read(&["--principal", "ann"]).0, 0);
    assert_eq!(read(&["--principal", "bob"]).0, 3);
    assert_eq!(read(&[]).0, 3);
}

#[test]
fn pins_notice_a_changed_definition_until_it_is_accepted() {
    let folder = Folder::new();
    notebook(&folder, "[policy]\ndefault = 'allow'");
    let write = || folder.call("write_note", r#"{"path":"a","text":"b"}"#, &[]);
    assert_eq!(write().0, 0);
    folder.write("changed", "");
    let (code, reply) = write();
    assert_eq!((code, &reply["error"]["reason"]), (4, &json!("tool_changed")));
    let diff = folder.run(&["--format", "json", "pins", "diff", "s"]).json();
    assert_eq!((&diff["differences"][0]["tool"], &diff["differences"][0]["what"]), (&json!("write_note"), &json!("changed")));
    assert_eq!(diff["differences"][0]["changes"][0]["path"], "/description");
    // For a person, every line of the server's text is broken by the host and begins with its words.
    let shown = folder.run(&["pins", "diff", "s"]).stdout;
    assert!(shown.lines().all(|line| line.starts_with("  changed ") || line.starts_with("  change ")), "{shown}");
    let accept = |rest: &[&str]| folder.run(&[&["pins", "accept", "s"][..], rest].concat());
    assert_eq!(accept(&["nothing"]).code, 5);
    // Only what was looked at: the server may list something else by now.
    let other = accept(&["write_note", "--fingerprint", &"0".repeat(64)]);
    assert!(other.code == 2 && other.stderr.contains("something else now"), "{other:?}");
    let unseen = accept(&["write_note"]);
    assert!(unseen.code == 2 && unseen.stderr.contains("callgate pins diff s"), "{unseen:?}");
    assert_eq!(write().0, 4);
    assert_eq!(accept(&["write_note", "--fingerprint", diff["differences"][0]["fingerprint"].as_str().unwrap()]).code, 0);
    assert_eq!(write().0, 0);
    let pins = folder.run(&["--format", "json", "pins", "list"]).json();
    assert_eq!(pins["pins"].as_array().unwrap().len(), 7);
}

#[test]
fn grants_are_listed_and_revoked() {
    let folder = Folder::new();
    notebook(&folder, READ);
    assert_eq!(folder.run(&["--format", "json", "grants", "list"]).json()["grants"], json!([]));
    assert_eq!(folder.run(&["--format", "json", "grants", "reset-clock"]).json()["revoked"], json!(0));
    let ran = folder.run(&["grants", "revoke", "none"]);
    assert_eq!(ran.code, 5);
    assert!(ran.stderr.contains("`none`"), "{ran:?}");
}

#[test]
fn init_writes_what_works() {
    let folder = Folder::new();
    let server = callgate().display().to_string();
    let ran = folder.run(&["init", "--name", "notes", "--", &server, "demo-server"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(folder.run(&["init", "--", &server, "demo-server"]).code, 2, "a configuration is not replaced by accident");
    assert_eq!(folder.run(&["config", "check"]).code, 0);
    let tools = folder.run(&["--format", "json", "tools", "notes"]).json();
    assert_eq!(tools["tools"].as_array().unwrap().len(), 7);
    let ran = folder.run(&["--format", "json", "call", "notes", "read_note", r#"{"path":"a"}"#]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_ne!(folder.run(&["call", "notes", "write_note", r#"{"path":"a","text":"b"}"#]).code, 0);
}

#[test]
fn the_schema_takes_what_the_reader_takes() {
    let folder = Folder::new();
    notebook(&folder, READ);
    let schema: Value = serde_json::from_str(&folder.run(&["config", "schema"]).stdout).unwrap();
    let validator = jsonschema::options().offline().build(&schema).unwrap();
    let readme = std::fs::read_to_string(project().join("README.md")).unwrap();
    let example = readme.split("```toml").nth(1).unwrap().split("```").next().unwrap();
    for text in [std::fs::read_to_string(folder.path("callgate.toml")).unwrap(), example.to_owned()] {
        let value = serde_json::to_value(toml::from_str::<toml::Value>(&text).unwrap()).unwrap();
        assert!(validator.validate(&value).is_ok(), "{text}");
    }
    let misspelt = json!({"server": {"s": {"comand": ["x"]}}});
    assert!(validator.validate(&misspelt).is_err());
}

#[test]
fn inspect_says_what_a_plugin_is_and_may_do() {
    let folder = Folder::new();
    let inspected = folder.run(&["--format", "json", "plugin", "inspect", &plugin("path-guard")]).json();
    assert_eq!((&inspected["kinds"], &inspected["contract"]), (&json!(["pre-hook"]), &json!("0.1.0")));
    assert!(inspected["settings_schema"].is_object());
    let text = folder.run(&["plugin", "inspect", &plugin("office-hours")]).stdout;
    assert!(text.contains("predicate") && !text.contains("arguments"), "{text}");
    for (name, bytes, says) in [
        ("empty.wasm", &b""[..], "empty"),
        ("text.wasm", b"hello", "no WebAssembly component"),
        ("core.wasm", b"\0asm\x01\0\0\0", "core WebAssembly module"),
    ] {
        let path = folder.write(name, bytes);
        let ran = folder.run(&["plugin", "inspect", path.to_str().unwrap()]);
        assert_eq!(ran.code, 8, "{ran:?}");
        assert!(ran.stderr.contains(says) && ran.stderr.contains(name), "{name}: {}", ran.stderr);
    }
    assert_eq!(folder.run(&["plugin", "inspect", "/nowhere.wasm"]).code, 5);
}

#[test]
fn decisions_are_logged_without_arguments() {
    let folder = Folder::new();
    notebook(&folder, READ);
    assert_eq!(folder.call("read_note", r#"{"path":"hush-hush"}"#, &[]).0, 0);
    let log = std::fs::read_to_string(folder.path("state/callgate/decisions.jsonl")).unwrap();
    assert!(log.contains("\"tool_call_stop\"") && log.contains("\"allow_rule\""), "{log}");
    assert!(!log.contains("hush-hush"), "{log}");
}

#[test]
fn the_demo_comes_out_as_stated() {
    let folder = Folder::new();
    let plugins = project().join("target/plugins").display().to_string();
    let ran = folder.run(&["demo", "--plugins", &plugins]);
    assert!(ran.code == 0 && ran.stdout.contains("9 of 9 scenes"), "{ran:?}");
}
