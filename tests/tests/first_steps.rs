//! What a new user does with a server that nobody here wrote: `init`, `config check`, `tools`, `call`, and plugins by their digest.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test that cannot go on must fail where it stands")]

use std::process::Command;

use callgate_e2e::{Folder, Ran, callgate, plugin, project, server};
use serde_json::{Value, json};

/// Runs the command as a user does: without `--dev`, from the user's own configuration folder.
fn user(folder: &Folder, arguments: &[&str]) -> Ran {
    let mut command = Command::new("setsid");
    command.arg("--wait").arg(callgate()).args(arguments).current_dir(folder.path("")).env_remove("CALLGATE_LOG");
    command.env("XDG_STATE_HOME", folder.path("state")).env("XDG_CONFIG_HOME", folder.path("config"));
    command.env("CALLGATE_PLUGINS", std::path::Path::new(&plugin("ask-person")).parent().unwrap());
    let output = command.stdin(std::process::Stdio::null()).output().unwrap();
    Ran {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

#[test]
fn init_on_a_real_server_writes_what_governs_it() {
    let folder = Folder::new();
    folder.write("docs/a.txt", "hello");
    let docs = folder.path("docs").display().to_string();
    let ran = user(&folder, &["--format", "json", "init", "--", &server("mcp-server-filesystem"), &docs]);
    let file = folder.path("config/callgate/callgate.toml");
    assert_eq!((ran.code, ran.json()), (0, json!({"version": 1, "wrote": file.display().to_string()})), "{ran:?}");
    let ran = user(&folder, &["--format", "json", "config", "check"]);
    assert_eq!((ran.code, &ran.json()["ok"]), (0, &json!(true)), "{ran:?}");
    let tools = user(&folder, &["--format", "json", "tools", "filesystem"]).json();
    let names: Vec<&str> = tools["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"read_text_file") && names.contains(&"write_file"), "{names:?}");
    let read = json!({"path": format!("{docs}/a.txt")}).to_string();
    let ran = user(&folder, &["--format", "json", "call", "filesystem", "read_text_file", &read]);
    assert_eq!((ran.code, &ran.json()["result"]["content"][0]["text"]), (0, &json!("hello")), "{ran:?}");
    // What the server does not call read-only is asked about; here nobody is there to ask.
    let write = json!({"path": format!("{docs}/b.txt"), "content": "x"}).to_string();
    let ran = user(&folder, &["--format", "json", "call", "filesystem", "write_file", &write, "--principal", "ann"]);
    let reply = ran.json();
    assert_eq!((ran.code, &reply["error"]["reason"], &reply["error"]["sent"]), (4, &json!("ask_failed"), &json!("no")), "{reply}");
    assert!(!folder.path("docs/b.txt").exists());
    assert_eq!(user(&folder, &["init", "--", "true"]).code, 2, "a configuration is not replaced by accident");
}

/// A configuration in the working folder is somebody else's.
#[test]
fn the_working_folder_configures_nothing() {
    let folder = Folder::new();
    folder.write("callgate.toml", "policy = \"none\"\n[server.s]\ncommand = ['true']\n");
    let ran = user(&folder, &["--format", "json", "tools", "s"]);
    assert_eq!((ran.code, &ran.json()["error"]["kind"]), (8, &json!("config")), "{ran:?}");
    assert!(ran.stderr.contains("config/callgate/callgate.toml") && ran.stderr.contains("callgate init"), "{ran:?}");
}

#[test]
fn an_ask_without_an_approver_is_4_and_nothing_is_written() {
    let folder = Folder::new();
    let state = folder.path("memory.jsonl");
    let text = format!(
        "[server.s]\ncommand = ['{}']\nenv = {{ MEMORY_FILE_PATH = '{}' }}\n[policy]\nask = [{{ name = 'writes', tool = 'create_*' }}]\nallow = [{{ name = 'reads', tool = 'read_*' }}]\n",
        server("mcp-server-memory"),
        state.display()
    );
    folder.write("callgate.toml", text);
    let entity = r#"{"entities":[{"name":"Ann","entityType":"person","observations":[]}]}"#;
    let (code, reply) = folder.call("create_entities", entity, &["--trace"]);
    assert_eq!((code, &reply["error"]["reason"], &reply["error"]["data"]["rule"]), (4, &json!("ask_rule"), &json!("writes")), "{reply}");
    let steps: Vec<&Value> = reply["steps"].as_array().unwrap().iter().map(|step| &step["step"]).collect();
    assert_eq!(steps, ["resolve", "select", "fingerprint", "arguments", "policy", "ask"], "nothing after it");
    assert!(!state.exists());
}

#[test]
fn a_vetted_plugin_loads_by_its_digest_and_a_changed_one_does_not() {
    let folder = Folder::new();
    let bytes = std::fs::read(plugin("hide-destructive")).unwrap();
    let copy = folder.write("plugins/hide.wasm", &bytes).display().to_string();
    let digest = user(&folder, &["--format", "json", "plugin", "inspect", &copy]).json()["sha256"].as_str().unwrap().to_owned();
    let text = format!(
        "[server.s]\ncommand = ['true']\n[plugin.hide]\npath = 'plugins/hide.wasm'\nsha256 = '{digest}'\n[pipeline]\nfilters = ['hide']\n"
    );
    let config = folder.write("c.toml", text).display().to_string();
    let check = || user(&folder, &["--config", &config, "config", "check"]);
    assert_eq!(check().code, 0, "{:?}", check());
    // One more custom section, `x`, is enough.
    folder.write("plugins/hide.wasm", [&bytes[..], &[0, 2, 1, b'x']].concat());
    let ran = check();
    assert_eq!(ran.code, 8, "{ran:?}");
    assert!(ran.stderr.contains("plugin `hide`") && ran.stderr.contains(&digest) && ran.stderr.contains("vet the new file"), "{ran:?}");
}

#[test]
fn a_plugin_of_another_contract_is_told_so() {
    let folder = Folder::new();
    let mut bytes = std::fs::read(plugin("hide-destructive")).unwrap();
    let (old, new) = (b"@0.1.0", b"@9.1.0");
    let places: Vec<usize> = (0..bytes.len() - old.len()).filter(|at| bytes[*at..].starts_with(old)).collect();
    places.iter().for_each(|at| bytes[*at..*at + old.len()].copy_from_slice(new));
    assert!(!places.is_empty());
    let path = folder.write("newer.wasm", bytes).display().to_string();
    let ran = user(&folder, &["--format", "json", "plugin", "inspect", &path]);
    assert_eq!(ran.code, 8, "{ran:?}");
    assert!(ran.stderr.contains("newer.wasm") && ran.stderr.contains("9.1.0") && ran.stderr.contains("0.1.0"), "{ran:?}");
    assert!(ran.json()["problems"][0].as_str().unwrap().contains("9.1.0"), "{ran:?}");
}

#[test]
fn inspect_refuses_nothing_of_a_good_plugin() {
    let folder = Folder::new();
    for name in ["path-guard", "redact-secrets", "hide-destructive", "office-hours", "canned-answer", "ask-person"] {
        let ran = user(&folder, &["plugin", "inspect", &plugin(name)]);
        assert!(ran.code == 0 && !ran.stdout.contains("refused"), "{name}: {ran:?}");
    }
}

/// What a command did is one object, where JSON is asked for; so is a command line that cannot be read.
#[test]
fn json_is_one_object_whatever_the_command() {
    let folder = Folder::new();
    folder.configure(&[callgate().to_str().unwrap(), "demo-server"], "");
    let listing = folder.run(&["--format", "json", "pins", "diff", "s"]).json()["fingerprint"].as_str().unwrap().to_owned();
    for (arguments, code, member) in [
        (&["pins", "accept", "s", "--all"][..], 2, "error"),
        (&["pins", "accept", "s", "read_note", "--fingerprint", &listing], 2, "error"),
        (&["pins", "accept", "s", "--all", "--fingerprint", &listing], 0, "accepted"),
        (&["pins", "accept", "s", "--all"], 0, "accepted"),
        (&["pins", "diff", "s"], 0, "differences"),
        (&["pins", "list"], 0, "pins"),
        (&["grants", "list"], 0, "grants"),
        (&["grants", "revoke", "none"], 5, "error"),
        (&["config", "check"], 0, "warnings"),
        (&["tools", "s"], 0, "tools"),
        (&["tools", "t"], 5, "error"),
        (&["call", "s"], 2, "error"),
        (&["call", "s", "read_note", "--assign", "x"], 2, "error"),
        (&["no-such-command"], 2, "error"),
    ] {
        let ran = folder.run(&[&["--format", "json"][..], arguments].concat());
        let reply = ran.json();
        assert_eq!((ran.code, &reply["version"]), (code, &json!(1)), "{arguments:?}: {ran:?}");
        assert!(reply[member].is_array() || reply[member]["message"].is_string(), "{arguments:?}: {reply}");
    }
    let ran = folder.run(&["--help"]);
    assert!(ran.code == 0 && ran.stderr.is_empty() && !ran.stdout.contains("demo-server"), "{ran:?}");
}

/// The long way of the README's promise that the example configuration is valid: it is read as a file, too.
#[test]
fn the_readme_configuration_is_read_up_to_its_missing_plugin() {
    let folder = Folder::new();
    let readme = std::fs::read_to_string(project().join("README.md")).unwrap();
    let example = readme.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    folder.write("callgate.toml", example.replace("sha256 = \"...\"", &format!("sha256 = '{}'", "0".repeat(64))));
    let ran = folder.run(&["config", "check"]);
    assert_eq!(ran.code, 8, "{ran:?}");
    assert!(ran.stderr.contains("plugins/path-guard.wasm cannot be read"), "{ran:?}");
}
