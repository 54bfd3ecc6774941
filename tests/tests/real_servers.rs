//! Servers that nobody here wrote, governed through the command: both eras, with and without policy.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test that cannot go on must fail where it stands")]

use std::process::Command;

use callgate_e2e::{Folder, plugin, project, server};
use serde_json::{Value, json};

const NO_POLICY: &str = "policy = \"none\"\n";

fn text(reply: &Value) -> String {
    let blocks = reply["result"]["content"].as_array().unwrap_or_else(|| panic!("a result is expected: {reply}"));
    blocks.iter().filter_map(|block| block["text"].as_str()).collect()
}

fn reason(reply: &Value) -> (&str, &str) {
    (reply["error"]["kind"].as_str().unwrap_or_default(), reply["error"]["reason"].as_str().unwrap_or_default())
}

#[test]
fn everything_answers_and_its_requests_pass_the_gate() {
    let folder = Folder::new();
    folder.configure(&[&server("mcp-server-everything")], NO_POLICY);
    let (code, reply) = folder.call("echo", r#"{"message":"hi"}"#, &[]);
    assert_eq!((code, text(&reply).as_str()), (0, "Echo: hi"));
    let (code, reply) = folder.call("get-structured-content", r#"{"location":"New York"}"#, &[]);
    assert!(code == 0 && reply["result"]["structuredContent"]["conditions"].is_string(), "{reply}");
    let (code, reply) = folder.call("echo", r#"{"message":7}"#, &[]);
    assert_eq!((code, reason(&reply)), (1, ("invalid_arguments", "schema_mismatch")), "{reply}");
    let (code, reply) = folder.call("no-such-tool", "{}", &[]);
    assert_eq!((code, reason(&reply)), (5, ("not_found", "unknown_tool")));
    let (code, reply) = folder.call("get-tiny-image", "{}", &["--llm"]);
    assert!(code == 0 && reply["result"]["provenance"]["server_id"] == "s", "{reply}");
}

/// A person who waits sees what the server says of its progress; a program that reads JSON does not.
#[test]
fn everything_reports_its_progress() {
    let folder = Folder::new();
    folder.configure(&[&server("mcp-server-everything")], NO_POLICY);
    let arguments = r#"{"duration":1,"steps":2}"#;
    let ran = folder.run(&["call", "s", "trigger-long-running-operation", arguments]);
    assert!(ran.code == 0 && ran.stderr.contains("progress 1 of 2") && ran.stderr.contains("progress 2 of 2"), "{ran:?}");
    let ran = folder.run(&["--format", "json", "call", "s", "trigger-long-running-operation", arguments]);
    assert!(ran.code == 0 && !ran.stderr.contains("progress"), "{ran:?}");
}

#[test]
fn everything_asks_during_a_call_in_the_legacy_era() {
    let folder = Folder::new();
    folder.configure(&[&server("mcp-server-everything")], NO_POLICY);
    let answers = folder.write("answers.json", r#"{"form":[{"accept":{"name":"Ann"}}]}"#);
    let (code, reply) = folder.call("trigger-elicitation-request", "{}", &["--answers", answers.to_str().unwrap()]);
    assert!(code == 0 && text(&reply).contains("Ann"), "{reply}");
    let declined = folder.write("declined.json", r#"{"form":["decline"]}"#);
    let (code, reply) = folder.call("trigger-elicitation-request", "{}", &["--answers", declined.to_str().unwrap()]);
    assert!(code == 0 && text(&reply).to_lowercase().contains("decline"), "{reply}");
    // Undeclared, the server does not offer the tool at all.
    let (code, reply) = folder.call("trigger-elicitation-request", "{}", &[]);
    assert_eq!((code, reason(&reply)), (5, ("not_found", "unknown_tool")));
}

#[test]
fn filesystem_under_policy_and_plugins() {
    let folder = Folder::new();
    folder.write("docs/a.txt", "hello");
    folder.write("docs/.keys", "secret");
    folder.write("docs/aws.txt", "key AKIAIOSFODNN7EXAMPLE end");
    let docs = folder.path("docs").display().to_string();
    let rest = format!(
        r#"
[plugin.guard]
path = '{}'
settings = {{ roots = ["{docs}"] }}
[plugin.redact]
path = '{}'
[pipeline]
pre_hooks = [{{ plugin = "guard", may = ["deny", {{ rewrite = ["/path"] }}] }}]
post_hooks = [{{ plugin = "redact", may = ["replace"] }}]
[policy]
deny = [{{ name = "no-dotfiles", all = [{{ argument = {{ pointer = "/path", exists = true }} }}, {{ argument = {{ pointer = "/path", regex = "(^|/)[.]" }} }}] }}]
allow = [{{ name = "read", tool = "read_*" }}]
"#,
        plugin("path-guard"),
        plugin("redact-secrets")
    );
    folder.configure(&[&server("mcp-server-filesystem"), &docs], &rest);
    let (code, reply) = folder.call("read_text_file", r#"{"path":"a.txt"}"#, &["--trace"]);
    assert_eq!((code, text(&reply).as_str()), (0, "hello"), "{reply}");
    let steps: Vec<_> =
        reply["steps"].as_array().unwrap().iter().map(|step| (step["step"].as_str().unwrap(), step["verdict"].as_str().unwrap())).collect();
    assert!(steps.contains(&("pre_hook", "rewrite")) && steps.contains(&("policy", "allow")), "{steps:?}");
    let (code, reply) = folder.call("read_text_file", r#"{"path":"../../etc/passwd"}"#, &[]);
    assert_eq!((code, reason(&reply)), (3, ("denied", "hook_denied")), "{reply}");
    let (code, reply) = folder.call("read_text_file", r#"{"path":".keys"}"#, &[]);
    assert_eq!((code, reason(&reply)), (3, ("denied", "deny_rule")), "{reply}");
    let (code, reply) = folder.call("read_text_file", r#"{"path":"aws.txt"}"#, &[]);
    assert!(code == 0 && !reply.to_string().contains("AKIAIOSFODNN7EXAMPLE"), "{reply}");
    let (code, reply) = folder.call("write_file", r#"{"path":"b.txt","content":"x"}"#, &[]);
    assert_eq!((code, reason(&reply), &reply["error"]["sent"]), (3, ("denied", "no_rule"), &json!("no")));
    assert!(!folder.path("docs/b.txt").exists());
    let (code, reply) = folder.call("read_text_file", r#"{"path":"absent.txt"}"#, &[]);
    assert!(code == 0 && reply["result"]["isError"] == true, "a tool's own error is a result: {reply}");
}

#[test]
fn memory_is_written_only_where_policy_allows() {
    let folder = Folder::new();
    let state = folder.path("memory.jsonl");
    let entity = r#"{"entities":[{"name":"Ann","entityType":"person","observations":["likes tea"]}]}"#;
    let with_policy = |policy: &str| {
        let rest = format!("env = {{ MEMORY_FILE_PATH = '{}' }}\n{policy}", state.display());
        folder.write("callgate.toml", format!("[server.s]\ncommand = ['{}']\n{rest}", server("mcp-server-memory")));
    };
    with_policy("[policy]\nallow = [{ name = 'read', tool = 'read_*' }]");
    let (code, reply) = folder.call("create_entities", entity, &[]);
    assert_eq!((code, reason(&reply)), (3, ("denied", "no_rule")));
    assert!(!state.exists());
    with_policy("[policy]\nallow = [{ name = 'all', tool = '*' }]");
    let (code, reply) = folder.call("create_entities", entity, &[]);
    assert!(code == 0, "{reply}");
    assert!(std::fs::read_to_string(&state).unwrap().contains("likes tea"));
    let (code, reply) = folder.call("read_graph", "{}", &[]);
    assert!(code == 0 && reply["result"]["structuredContent"]["entities"][0]["name"] == "Ann", "{reply}");
}

#[test]
fn time_in_the_modern_era() {
    let folder = Folder::new();
    let rest = "[policy]\nallow = [{ name = 'modern', all = [{ era = 'modern' }, { tool = 'get_*' }] }]";
    folder.configure(&[&server("mcp-server-time")], rest);
    let (code, reply) = folder.call("get_current_time", r#"{"timezone":"Europe/Oslo"}"#, &["--llm"]);
    assert!(code == 0 && text(&reply).contains("Europe/Oslo"), "{reply}");
    let convert = r#"{"source_timezone":"Europe/Oslo","time":"12:00","target_timezone":"UTC"}"#;
    let (code, reply) = folder.call("convert_time", convert, &[]);
    assert_eq!((code, reason(&reply)), (3, ("denied", "no_rule")));
    folder.configure(&[&server("mcp-server-time")], NO_POLICY);
    let (code, reply) = folder.call("convert_time", convert, &[]);
    assert!(code == 0, "{reply}");
}

#[test]
fn git_commits_only_where_policy_allows() {
    let folder = Folder::new();
    let repository = folder.path("repository");
    folder.write("repository/a.txt", "a");
    let git = |arguments: &[&str]| {
        let identity = ["-c", "user.name=Ann", "-c", "user.email=ann@example.com"];
        let output = Command::new("git").arg("-C").arg(&repository).args(identity).args(arguments).output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    git(&["init", "-q"]);
    git(&["config", "user.name", "Ann"]);
    git(&["config", "user.email", "ann@example.com"]);
    git(&["add", "."]);
    git(&["commit", "-qm", "first"]);
    folder.write("repository/a.txt", "b");
    git(&["add", "."]);
    let path = repository.display();
    let (status, commit) = (format!(r#"{{"repo_path":"{path}"}}"#), format!(r#"{{"repo_path":"{path}","message":"second"}}"#));
    folder.configure(&[&server("mcp-server-git")], "[policy]\nallow = [{ name = 'look', tool = 'git_status' }]");
    let (code, reply) = folder.call("git_status", &status, &[]);
    assert!(code == 0 && text(&reply).contains("a.txt"), "{reply}");
    let (code, reply) = folder.call("git_commit", &commit, &[]);
    assert_eq!((code, reason(&reply)), (3, ("denied", "no_rule")));
    assert_eq!(git(&["log", "--format=%s"]), "first\n");
    folder.configure(&[&server("mcp-server-git")], NO_POLICY);
    let (code, reply) = folder.call("git_commit", &commit, &[]);
    assert!(code == 0, "{reply}");
    assert_eq!(git(&["log", "--format=%s"]), "second\nfirst\n");
}

#[test]
fn input_rounds_of_a_modern_server() {
    let folder = Folder::new();
    let script = project().join("tests/servers/rounds.py").display().to_string();
    folder.configure(&[&server("python"), &script], "[policy]\nallow = [{ name = 'modern', era = 'modern' }]");
    let answers = folder.write("answers.json", r#"{"form":[{"accept":{"name":"Ann"}}]}"#);
    let (code, reply) = folder.call("greet", "{}", &["--answers", answers.to_str().unwrap()]);
    assert!(code == 0 && text(&reply).contains("Hello Ann"), "{reply}");
    let declined = folder.write("declined.json", r#"{"form":["decline"]}"#);
    let (code, reply) = folder.call("greet", "{}", &["--answers", declined.to_str().unwrap()]);
    assert!(code == 0 && text(&reply).contains("Nobody: decline"), "{reply}");
    let misfit = folder.write("misfit.json", r#"{"form":[{"accept":{"name":7}}]}"#);
    let (code, reply) = folder.call("greet", "{}", &["--answers", misfit.to_str().unwrap()]);
    assert_eq!((code, reason(&reply)), (1, ("upstream", "input_refused")), "{reply}");
    let (code, reply) = folder.call("greet", "{}", &[]);
    assert!(code == 1 && reason(&reply).0 == "upstream", "undeclared: {reply}");
}

#[test]
fn hidden_and_unknown_are_one_answer() {
    let folder = Folder::new();
    let rest =
        format!("[plugin.hide]\npath = '{}'\n[pipeline]\nfilters = ['hide']\n[policy]\ndefault = 'allow'\n", plugin("hide-destructive"));
    let docs = folder.path("docs");
    std::fs::create_dir_all(&docs).unwrap();
    folder.configure(&[&server("mcp-server-filesystem"), &docs.display().to_string()], &rest);
    // Without trust, every tool has the worst hints: all are hidden, and none can be told from one that does not exist.
    let (code, hidden) = folder.call("write_file", "{}", &[]);
    let (_, unknown) = folder.call("wrote_file", "{}", &[]);
    let normal = |reply: &Value| reply["error"].to_string().replace("wrote_file", "write_file");
    assert_eq!(code, 5);
    assert_eq!(normal(&hidden), normal(&unknown));
    assert_eq!(folder.run(&["tools", "s"]).stdout, "");
}
