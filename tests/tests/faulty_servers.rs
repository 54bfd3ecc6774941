//! Servers that hang, flood, talk instead of answering or die: one error that names the server, and nothing left behind.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on must fail where it stands")]

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use callgate_e2e::{Folder, processes};
use serde_json::Value;

/// Answers the legacy handshake and the listing, writes down what it is asked, and treats a call as its first argument says.
const SERVER: &str = r#"
import json, sys, time
mode, log = sys.argv[1], sys.argv[2]
def send(id, **body):
    print(json.dumps({"jsonrpc": "2.0", "id": id, **body}), flush=True)
for line in sys.stdin:
    message = json.loads(line)
    method, id = message.get("method"), message.get("id")
    with open(log, "a") as file:
        file.write(method + "\n")
    if method == "initialize":
        send(id, result={"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "f", "version": "1"}})
    elif method == "tools/list":
        if mode == "hangs-listing":
            time.sleep(600)
        tool = {"name": "t", "inputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}}}
        send(id, result={"tools": [tool]})
    elif method == "tools/call":
        if mode == "hangs":
            time.sleep(600)
        elif mode == "dies":
            sys.stderr.write("the disk is full\n")
            sys.exit(3)
        elif mode == "floods":
            print("x" * 17_000_000, flush=True)
        elif mode == "twin-keys":
            print('{"jsonrpc":"2.0","id":%d,"result":{"content":[],"isError":true,"isError":false}}' % id, flush=True)
        elif mode == "error":
            send(id, error={"code": -32000, "message": "no\x1b[31m licence"})
        else:
            send(id, result={"content": []})
    elif id is not None:
        send(id, error={"code": -32601, "message": "no such method"})
"#;

/// A folder with such a server, configured as `s`; its command line holds the folder's `heard` file.
fn serving(mode: &str) -> Folder {
    let folder = Folder::new();
    let script = folder.write("server.py", SERVER);
    let heard = folder.path("heard");
    folder
        .configure(&["python3", script.to_str().unwrap(), mode, heard.to_str().unwrap()], "policy = \"none\"\n[send]\ntimeout = \"2s\"\n");
    folder
}

/// How often the server was asked this.
fn heard(folder: &Folder, method: &str) -> usize {
    std::fs::read_to_string(folder.path("heard")).unwrap_or_default().lines().filter(|line| *line == method).count()
}

/// Waits until nothing runs that was started with this folder on its command line.
fn nothing_left(folder: &Folder) {
    let marker = folder.path("").display().to_string();
    for _ in 0..200 {
        if processes(&marker).is_empty() {
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("still running: {:?}", processes(&marker));
}

#[test]
fn a_call_that_comes_to_nothing_has_one_error_and_is_sent_once() {
    for (mode, kind, reason, sent, words) in [
        ("hangs", "transport", "timeout", "unknown", "`s`"),
        ("dies", "transport", "closed", "unknown", "the disk is full"),
        ("floods", "transport", "too_large", "unknown", "`s`"),
        ("twin-keys", "invalid_result", "duplicate_key", "yes", "`s`"),
        ("error", "upstream", "error_reply", "yes", "licence"),
    ] {
        let folder = serving(mode);
        let (code, reply) = folder.call("t", "{}", &[]);
        let error = &reply["error"];
        assert_eq!(code, 1, "{mode}: {reply}");
        assert_eq!(
            (error["kind"].as_str(), error["reason"].as_str(), error["sent"].as_str()),
            (Some(kind), Some(reason), Some(sent)),
            "{mode}: {reply}"
        );
        assert!(error["message"].as_str().unwrap().contains(words), "{mode}: {reply}");
        assert_eq!(heard(&folder, "tools/call"), 1, "{mode}: never sent again");
        nothing_left(&folder);
    }
}

#[test]
fn errors_play_no_tricks_on_the_terminal() {
    let folder = serving("error");
    let ran = folder.run(&["call", "s", "t"]);
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.lines().count()), (1, "", 1), "{ran:?}");
    assert!(!ran.stderr.contains('\u{1b}'), "{ran:?}");
}

#[test]
fn what_is_refused_here_never_reaches_the_server() {
    let folder = serving("well");
    for (arguments, reason) in [(r#"{"n":"x"}"#, "schema_mismatch"), (r#"{"n":1,"n":2}"#, "duplicate_key"), ("[]", "not_an_object")] {
        let (code, reply) = folder.call("t", arguments, &[]);
        assert_eq!((code, &reply["error"]["reason"], &reply["error"]["sent"]), (1, &Value::from(reason), &Value::from("no")), "{reply}");
    }
    assert_eq!(folder.call("unknown", "{}", &[]).0, 5);
    assert_eq!(heard(&folder, "tools/call"), 0);
    let (code, _) = folder.call("t", "{}", &[]);
    assert_eq!((code, heard(&folder, "tools/call")), (0, 1));
    nothing_left(&folder);
}

/// A listing has the same errors as a call, also in JSON.
#[test]
fn a_server_that_cannot_be_listed_is_one_object_too() {
    for mode in ["silent", "hangs-listing"] {
        let folder = serving(mode);
        if mode == "silent" {
            let script = folder.write("server.py", "import time\ntime.sleep(600)\n");
            folder.configure(&["python3", script.to_str().unwrap()], "[send]\ntimeout = \"1s\"\n");
        }
        for command in [&["tools", "s"][..], &["pins", "diff", "s"], &["call", "s", "t"]] {
            let ran = folder.run(&[&["--format", "json"][..], command].concat());
            let reply = ran.json();
            assert_eq!((ran.code, &reply["outcome"]), (1, &Value::from("error")), "{mode}: {ran:?}");
            assert_ne!(reply["error"]["sent"], "yes", "{mode}: {ran:?}");
            assert!(reply["error"]["message"].as_str().unwrap().contains("`s`"), "{mode}: {ran:?}");
        }
        assert_eq!(heard(&folder, "tools/call"), 0, "{mode}");
        nothing_left(&folder);
    }
}

#[test]
fn chatter_is_no_answer() {
    let folder = Folder::new();
    let script = folder.write("server.py", "import sys\nfor line in sys.stdin:\n    print('hello', flush=True)\n");
    folder.configure(&["python3", script.to_str().unwrap()], "[send]\ntimeout = \"1s\"\n");
    let (code, reply) = folder.call("t", "{}", &[]);
    assert_eq!((code, &reply["error"]["reason"]), (1, &Value::from("not_connected")), "{reply}");
    assert!(reply["error"]["message"].as_str().unwrap().contains("standard output"), "{reply}");
    nothing_left(&folder);
}

/// The server is in a process group of its own: whoever stops the command must stop it, too.
#[test]
fn a_stopped_command_takes_its_server_with_it() {
    for (signal, name) in [("-INT", "SIGINT"), ("-TERM", "SIGTERM")] {
        let folder = serving("hangs");
        folder.configure(
            &["python3", folder.path("server.py").to_str().unwrap(), "hangs", folder.path("heard").to_str().unwrap()],
            "policy = \"none\"\n",
        );
        let mut command = folder.command(&["--format", "json", "call", "s", "t"]);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let output = stopped(&folder, child, signal);
        let reply: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!((output.status.code(), &reply["error"]["kind"]), (Some(130), &Value::from("stopped")), "{reply}");
        assert!(reply["error"]["message"].as_str().unwrap().contains(name), "{reply}");
        nothing_left(&folder);
    }
}

/// Sends the signal once the server has the call.
fn stopped(folder: &Folder, child: Child, signal: &str) -> std::process::Output {
    for _ in 0..600 {
        if heard(folder, "tools/call") > 0 {
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
    child.wait_with_output().unwrap()
}
