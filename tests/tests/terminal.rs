//! A person at the controlling terminal: what is shown, and what each answer does.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail where it stands")]

use std::process::Command;

use callgate_e2e::{Folder, callgate, plugin, project};

const QUESTION: &str = "[d]eny";
const WRITE: [&str; 5] = ["call", "s", "write_note", r#"{"path":"a","text":"b"}"#, "--principal"];

/// A notebook whose writes are asked about.
fn asking() -> Folder {
    let folder = Folder::new();
    let rest = format!(
        "[plugin.person]\npath = '{}'\n[pipeline]\napprover = {{ plugin = 'person', may = ['always'] }}\n[policy]\nallow = [{{ name = 'read', tool = 'read_*' }}]\n",
        plugin("ask-person")
    );
    folder.configure(&[&callgate().display().to_string(), "demo-server"], &rest);
    folder
}

/// Runs the command on a terminal, answering in this order; gives the exit code and what the terminal showed.
fn drive(folder: &Folder, answers: &[(&str, &str)], arguments: &[&str]) -> (i32, String) {
    let script = serde_json::to_string(answers).unwrap();
    let mut driver = Command::new("python3");
    driver.arg(project().join("tests/terminal/drive.py")).arg(script);
    let command = folder.command(arguments);
    driver.arg(command.get_program()).args(command.get_args());
    driver.envs(command.get_envs().filter_map(|(key, value)| Some((key, value?))));
    let output = driver.output().unwrap();
    (output.status.code().unwrap(), String::from_utf8_lossy(&output.stdout).into_owned())
}

fn write(principal: &str) -> Vec<&str> {
    WRITE.into_iter().chain([principal]).collect()
}

#[test]
fn once_is_for_one_call() {
    let folder = asking();
    let (code, shown) = drive(&folder, &[(QUESTION, "o")], &write("ann"));
    assert_eq!(code, 0, "{shown}");
    for text in ["A tool call waits", "write_note", "cli:ann", r#"{"path":"a","text":"b"}"#, "no_rule", "expires in", "plugin says"] {
        assert!(shown.contains(text), "`{text}` in {shown}");
    }
    let (code, _) = drive(&folder, &[(QUESTION, "o")], &write("ann"));
    assert_eq!(code, 0, "the next call is asked about again");
}

#[test]
fn always_is_confirmed_and_becomes_a_grant_of_this_principal() {
    let folder = asking();
    let (code, shown) = drive(&folder, &[(QUESTION, "a"), ("Type yes", "yes")], &write("ann"));
    assert!(code == 0 && shown.contains("ANY arguments"), "{shown}");
    let grants = folder.run(&["--format", "json", "grants", "list"]).json();
    assert_eq!((&grants["grants"][0]["principal"], &grants["grants"][0]["tool"]), (&"cli:ann".into(), &"write_note".into()));
    assert_eq!(folder.run(&write("ann")).code, 0, "settled without a terminal");
    assert_eq!(folder.run(&write("bob")).code, 4, "not for anybody else");
    let id = grants["grants"][0]["id"].as_str().unwrap();
    assert_eq!(folder.run(&["grants", "revoke", id]).code, 0);
    assert_eq!(folder.run(&write("ann")).code, 4, "a revoked grant settles nothing");
}

#[test]
fn always_without_the_confirmation_is_asked_again() {
    let folder = asking();
    let (code, shown) = drive(&folder, &[(QUESTION, "a"), ("Type yes", "no"), (QUESTION, "d")], &write("ann"));
    assert_eq!(code, 4, "{shown}");
}

#[test]
fn no_is_the_default_and_stop_is_told_apart() {
    let folder = asking();
    let (code, shown) = drive(&folder, &[(QUESTION, "")], &write("ann"));
    assert!(code == 4 && shown.contains("ask_denied"), "{shown}");
    let (code, shown) = drive(&folder, &[(QUESTION, "s")], &write("ann"));
    assert!(code == 4 && shown.contains("ask_halt"), "{shown}");
}

#[test]
fn without_a_terminal_it_is_a_deny_at_once() {
    let folder = asking();
    let command = folder.command(&write("ann"));
    let mut alone = Command::new("setsid");
    alone.arg("--wait").arg(command.get_program()).args(command.get_args());
    alone.envs(command.get_envs().filter_map(|(key, value)| Some((key, value?))));
    let output = alone.stdin(std::process::Stdio::null()).output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(4), "{errors}");
    assert!(errors.contains("no terminal to ask on"), "{errors}");
}

#[test]
fn what_cannot_be_seen_is_shown_as_an_escape() {
    let folder = asking();
    let arguments = ["call", "s", "write_note", "{\"path\":\"a\u{202e}b\\u001b[2J\",\"text\":\"c\\nd\"}"];
    let (code, shown) = drive(&folder, &[(QUESTION, "d")], &arguments);
    assert_eq!(code, 4, "{shown}");
    assert!(shown.contains("a\\u{202e}b\\u001b[2J") && shown.contains("c\\nd"), "{shown}");
    assert!(!shown.contains('\u{202e}') && !shown.contains('\u{1b}'), "{shown}");
}
