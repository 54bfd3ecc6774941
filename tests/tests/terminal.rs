//! A person at the controlling terminal: what is shown, and what each answer does.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on must fail where it stands")]

use std::process::Command;

use callgate_e2e::{Folder, callgate, plugin, project};
use serde_json::{Value, json};

const QUESTION: &str = "[d]eny";
const WRITE: [&str; 5] = ["call", "s", "write_note", r#"{"path":"a","text":"b"}"#, "--principal"];

/// A notebook whose writes are asked about.
fn asking() -> Folder {
    asking_with("")
}

/// The same, with something more in its configuration.
fn asking_with(more: &str) -> Folder {
    let folder = Folder::new();
    let rest = format!(
        "[plugin.person]\npath = '{}'\n[pipeline]\napprover = {{ plugin = 'person', may = ['always'] }}\n[policy]\nallow = [{{ name = 'read', tool = 'read_*' }}]\n{more}",
        plugin("ask-person")
    );
    let changed = folder.path("changed").display().to_string();
    folder.configure(&[&callgate().display().to_string(), "demo-server", "--changed-while", &changed], &rest);
    folder
}

/// Runs the command on a terminal, answering in this order; gives the exit code and what the terminal showed.
fn drive(folder: &Folder, answers: &[(&str, &str)], arguments: &[&str]) -> (i32, String) {
    act(folder, &json!(answers), arguments)
}

/// Runs the command on a terminal, with a script of `tests/terminal/drive.py`.
fn act(folder: &Folder, script: &Value, arguments: &[&str]) -> (i32, String) {
    act_in(folder, "exec \"$@\"", script, arguments)
}

/// The same, with the command as the words of a shell's program.
fn act_in(folder: &Folder, shell: &str, script: &Value, arguments: &[&str]) -> (i32, String) {
    let mut driver = Command::new("python3");
    driver.arg(project().join("tests/terminal/drive.py")).arg(script.to_string()).args(["sh", "-c", shell, "sh"]);
    let command = folder.command(arguments);
    driver.arg(command.get_program()).args(command.get_args());
    driver.envs(command.get_envs().filter_map(|(key, value)| Some((key, value?))));
    let output = driver.output().unwrap();
    // The command goes back to the margin itself, and the terminal once more.
    (output.status.code().unwrap(), String::from_utf8_lossy(&output.stdout).replace("\r\r\n", "\r\n"))
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

/// The lines of a page, each of which must begin with the host's own words and fit.
fn page(shown: &str, columns: usize) -> Vec<&str> {
    let page = shown.split("waits for your approval.").last().unwrap().split("\r\n  [d]eny").next().unwrap();
    let heading = |line: &str| line.is_empty() || line == "  The approver plugin says:";
    let lines: Vec<&str> = page.lines().filter(|line| !heading(line)).collect();
    let labels = ["server", "tool", "principal", "why", "asked for", "tainted by", "arguments", "digest", "expires in", "its words"];
    for line in &lines {
        let label = line.get(2..12).unwrap_or_default().trim_end();
        assert!(line.starts_with("  ") && labels.contains(&label) && line.len() < columns, "{line:?} in {shown}");
    }
    lines
}

#[test]
fn long_values_forge_no_lines() {
    let folder = asking();
    let forged = format!("{}  server        trusted{}  [d]eny (default)", " ".repeat(70), "\u{3000}".repeat(80));
    let arguments = json!({ "path": forged, "text": "語".repeat(200) }).to_string();
    for columns in [40, 80, 133] {
        let script = json!([["", { "columns": columns }], ["allow [a]lways", "d"]]);
        let call = ["call", "s", "write_note", &arguments, "--principal", &forged, "--taint", &forged];
        let (code, shown) = act(&folder, &script, &call);
        assert_eq!(code, 4, "{shown}");
        let lines = page(&shown, columns);
        assert_eq!(lines.iter().filter(|line| line.starts_with("  server  ")).count(), 2, "{shown}");
        let arguments = lines.iter().filter(|line| line.starts_with("  arguments"));
        let text: String = arguments.map(|line| line.chars().skip(15).collect::<String>()).collect();
        assert!(text.starts_with("{\"path\":\"(␠×72)server(␠×8)trusted\\u{3000}"), "{text}");
    }
}

#[test]
fn what_is_decided_on_is_in_view_with_the_question() {
    let folder = asking();
    let arguments = json!({ "path": "a", "text": "b".repeat(5_000) }).to_string();
    let (_, shown) = drive(&folder, &[(QUESTION, "d")], &["call", "s", "write_note", &arguments]);
    let last: Vec<&str> = page(&shown, 80).into_iter().rev().take(3).collect();
    let labels: Vec<&str> = last.iter().rev().map(|line| line.get(2..12).unwrap().trim_end()).collect();
    assert_eq!(labels, ["server", "tool", "digest"], "{shown}");
}

#[test]
fn a_yes_counts_at_the_width_it_was_asked_at() {
    let folder = asking();
    let script = json!([[QUESTION, [{ "columns": 50 }, "o"]], [QUESTION, "d"]]);
    let (code, shown) = act(&folder, &script, &write("ann"));
    assert!(code == 4 && shown.contains("another width"), "{shown}");
    page(&shown, 50);
    let script = json!([[QUESTION, [{ "columns": 50 }, "o"]], [QUESTION, "o"]]);
    assert_eq!(act(&folder, &script, &write("ann")).0, 0);
}

#[test]
fn a_terminal_too_narrow_to_show_a_call_approves_none() {
    let (code, shown) = act(&asking(), &json!([["", { "columns": 20 }]]), &write("ann"));
    assert!(code == 4 && shown.contains("40 columns or more") && shown.contains("too narrow"), "{shown}");
}

#[test]
fn what_was_typed_before_the_question_is_no_answer() {
    let folder = asking();
    let (code, shown) = act(&folder, &json!([["", ["o", "o", "a", "yes"]], [QUESTION, "d"]]), &write("ann"));
    assert!(code == 4 && shown.contains("a person said no"), "{shown}");
    // Nor is a confirmation that was typed with the answer.
    let (code, shown) = act(&folder, &json!([[QUESTION, { "keys": "a\nyes\n" }], ["Type yes", "no"], [QUESTION, "d"]]), &write("ann"));
    assert!(code == 4 && shown.contains("a person said no"), "{shown}");
    // Nor an answer that was typed with one that was none.
    let (code, _) = act(&folder, &json!([[QUESTION, { "keys": "what?\no\n" }], [QUESTION, "d"]]), &write("ann"));
    assert_eq!(code, 4);
}

#[test]
fn no_answer_is_a_no() {
    let folder = asking();
    for keys in ["\u{4}", "o\u{4}\u{4}"] {
        let (code, shown) = act(&folder, &json!([[QUESTION, { "keys": keys }]]), &write("ann"));
        assert!(code == 4 && shown.contains("ask_failed"), "{keys:?}: {shown}");
    }
    let (code, shown) = act(&folder, &json!([[QUESTION, { "keys": "\u{3}" }]]), &write("ann"));
    assert!(code == 130 && shown.contains("SIGINT"), "{shown}");
    let long = format!("o{}x", " ".repeat(200));
    let (code, _) = act(&folder, &json!([[QUESTION, long], [QUESTION, "d"]]), &write("ann"));
    assert_eq!(code, 4, "too long to be an answer, and asked again");
}

#[test]
fn a_definition_is_approved_by_who_has_seen_it() {
    let none = "0".repeat(64);
    let new = asking_with(&format!("[pins]\napproved = {{ read_note = '{none}' }}\n"));
    let changed = asking_with(&format!("[pins]\napproved = {{ write_note = '{none}' }}\n"));
    for (folder, why) in [(new, "tool_new"), (changed, "tool_changed")] {
        let (code, shown) = drive(&folder, &[(QUESTION, "o")], &write("ann"));
        assert_eq!(code, 0, "{shown}");
        for text in [why, r#"  definition | "description": "Writes a note.""#, r#"  definition | "inputSchema": {"type":"object","#] {
            assert!(shown.contains(text), "`{text}` in {shown}");
        }
    }
    let folder = asking();
    assert_eq!(folder.call("read_note", r#"{"path":"a"}"#, &[]).0, 0);
    folder.write("changed", "");
    let (code, shown) = drive(&folder, &[(QUESTION, "o")], &write("ann"));
    assert!(code == 0 && shown.contains("  redefined    [{\"op\":\"replace\"") && !shown.contains("  definition"), "{shown}");
}

#[test]
fn what_is_too_long_to_show_is_approved_by_nobody() {
    let folder = asking();
    let arguments = json!({ "path": "a", "text": "b".repeat(20_000) }).to_string();
    let (code, shown) = act(&folder, &json!([["", "o"]]), &["call", "s", "write_note", &arguments]);
    assert!(code == 4 && shown.contains("approved here: arguments.") && shown.contains("… cut: "), "{shown}");
    let (code, shown) = act(&folder, &json!([["", "o"]]), &write(&"p".repeat(20_000)));
    assert!(code == 4 && shown.contains("approved here: principal."), "{shown}");
}

#[test]
fn an_answer_goes_to_the_question_in_view() {
    let folder = asking();
    let both = r#""$@" '{"path":"first","text":""}' & "$@" '{"path":"second","text":""}' & wait"#;
    let script = json!([[QUESTION, [{ "seconds": 2 }, "o"]], [QUESTION, "d"]]);
    let (_, shown) = act_in(&folder, both, &script, &["call", "s", "write_note"]);
    // What is allowed is what was asked about first; only then comes the other.
    let pages: Vec<&str> = shown.split("waits for your approval.").collect();
    let [_, first, second] = pages[..] else { panic!("{shown}") };
    let name = if first.contains("first") { "first" } else { "second" };
    assert!(first.contains("lways: o") && second.contains("lways: d"), "{shown}");
    assert!(shown.contains(&format!("was called with {{\"path\":\"{name}\"")) && shown.matches("was called").count() == 1, "{shown}");
}

#[test]
fn a_terminal_in_another_programs_mode_is_no_other() {
    let folder = asking();
    let (code, shown) = act_in(&folder, "stty raw -echo; exec \"$@\"", &json!([[QUESTION, { "keys": "o\r" }]]), &write("ann"));
    assert_eq!(code, 0, "{shown}");
    page(&shown, 80);
    let margins = shown.split("lways: ").next().unwrap();
    assert_eq!(margins.matches('\n').count(), margins.matches("\r\n").count(), "{shown:?}");
    let (code, _) = act_in(&folder, "stty raw -echo; exec \"$@\"", &json!([[QUESTION, { "keys": "\u{3}" }]]), &write("ann"));
    assert_eq!(code, 4);
}

#[test]
fn where_nothing_can_be_said_the_code_still_tells() {
    let folder = asking();
    for (arguments, code) in [(&["call", "s", "nope"][..], 5), (&["-vv", "call", "s", "read_note", r#"{"path":"a"}"#, "--trace"], 0)] {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        assert_eq!(folder.command(arguments).stderr(full).status().unwrap().code(), Some(code), "{arguments:?}");
    }
}
