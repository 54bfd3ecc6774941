//! Bad input gets one clear error: the file or server, the cause, and what to do. Nothing is sent.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on must fail where it stands")]

use callgate_e2e::{Folder, plugin, processes};

/// Runs a call under this configuration and compares the exit code and words of the one error.
fn check(configuration: &str, code: i32, words: &[&str]) {
    let folder = Folder::new();
    folder.write("callgate.toml", configuration);
    let ran = folder.run(&["call", "s", "x", "{}"]);
    assert_eq!(ran.code, code, "{configuration}\n{ran:?}");
    let errors: Vec<_> = ran.stderr.lines().filter(|line| !line.is_empty()).collect();
    assert_eq!(errors.len(), 1, "one error: {ran:?}");
    for word in words {
        assert!(ran.stderr.contains(word), "`{word}` in {}", ran.stderr);
    }
}

const SERVER: &str = "[server.s]\ncommand = ['true']\n";

#[test]
fn configurations() {
    for (configuration, words) in [
        ("[policy]\ndenny = []\n", &["callgate.toml:2", "`denny`", "did you mean `deny`?"][..]),
        ("[server.s]\ncomand = ['x']\n", &["callgate.toml:2", "`comand`", "did you mean `command`?"]),
        ("[server.s]\ncommand = []\n", &["server `s` has no command"]),
        ("", &["no `[server.NAME]`"]),
        ("[server.'a.b']\ncommand = ['x']\n", &["`a.b` cannot name a server"]),
        ("policy = 'all'\n[server.s]\ncommand = ['x']\n", &["`policy` is a table of rules, or \"none\""]),
    ] {
        check(configuration, 8, words);
    }
    for (rest, words) in [
        ("[policy]\nallow = [{ name = 'a', tool = 'x' }, { name = 'a', tool = 'y' }]", &["two rules are named `a`"][..]),
        ("[policy]\nallow = [{ name = 'a' }]", &["rule `a`", "one condition is needed"]),
        ("[policy]\nallow = [{ name = 'a', tool = 'x', server = 'y' }]", &["rule `a`", "`all = [...]`"]),
        ("[policy]\nallow = [{ name = 'a', argument = { pointer = 'x', equals = 1 } }]", &["`x` is no JSON pointer"]),
        ("[policy]\nallow = [{ name = 'a', argument = { pointer = '/x', regex = '(' } }]", &["rule `a`", "`(` cannot be used"]),
        ("[policy]\nallow = [{ name = 'a', predicate = 'office' }]", &["no `[plugin.office]`"]),
        ("[pipeline]\npre_hooks = ['gard']\n[plugin.guard]\npath = 'x'", &["no `[plugin.gard]`", "did you mean `guard`?"]),
        ("[pipeline]\npre_hooks = [{ plugin = 'p', may = ['denny'] }]", &["`denny`", "did you mean `deny`?"]),
        ("[ask]\ntimeout = 'soon'", &["`soon` is no duration"]),
        ("[pins]\napproved = { x = 'abc' }", &["`pins.approved.x`", "no SHA-256 digest"]),
    ] {
        check(&format!("{SERVER}{rest}\n"), 8, words);
    }
}

#[test]
fn variables() {
    check("[server.s]\ncommand = ['${CALLGATE_TEST_UNSET}']\n", 8, &["`CALLGATE_TEST_UNSET` is not set"]);
    // Nothing is expanded where it could decide what is allowed.
    check(&format!("{SERVER}[plugin.p]\npath = 'x'\nsha256 = '${{HOME}}'\n"), 8, &["no SHA-256 digest"]);
}

#[test]
fn plugins() {
    let with = |plugin: &str| format!("{SERVER}[pipeline]\npre_hooks = ['p']\n[plugin.p]\n{plugin}\n");
    let guard = plugin("path-guard");
    check(&with("path = '/nowhere.wasm'"), 8, &["plugin `p`", "/nowhere.wasm", "cannot be read"]);
    check(&with(&format!("path = '{guard}'\nsha256 = '{}'", "0".repeat(64))), 8, &["plugin `p`", "SHA-256", "expected"]);
    check(&with(&format!("path = '{guard}'\nsettings = {{ root = ['/x'] }}")), 8, &["plugin `p`", "root"]);
    check(&with(&format!("path = '{}'", plugin("office-hours"))), 8, &["plugin `p`"]);
    check(&with(&format!("path = '{}'", plugin("hide-destructive"))), 8, &["`p` is used as a pre-hook"]);
    let folder = Folder::new();
    let core = folder.write("core.wasm", b"\0asm\x01\0\0\0");
    check(&with(&format!("path = '{}'", core.display())), 8, &["plugin `p`", "core WebAssembly module"]);
}

#[test]
fn a_plugin_without_a_digest_needs_the_switch() {
    let folder = Folder::new();
    folder.write(
        "callgate.toml",
        format!("{SERVER}[pipeline]\npre_hooks = ['p']\n[plugin.p]\npath = '{}'\nsettings = {{ roots = ['/'] }}\n", plugin("path-guard")),
    );
    let mut command = std::process::Command::new(callgate_e2e::callgate());
    command.arg("--config").arg(folder.path("callgate.toml")).args(["config", "check"]);
    let output = command.output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(8), "{errors}");
    assert!(errors.contains("has no `sha256`") && errors.contains("--dev"), "{errors}");
    assert_eq!(folder.run(&["config", "check"]).code, 0);
}

#[test]
fn servers() {
    let server = |script: &str| format!("[send]\ntimeout = '2s'\n[server.s]\ncommand = ['python3', '-c', '''{script}''']\n");
    check("[server.s]\ncommand = ['/nowhere/server']\n", 1, &["`s`", "/nowhere/server"]);
    check(&server("import sys; sys.stderr.write(\"no licence\\n\"); sys.exit(3)"), 1, &["`s`", "no licence"]);
    let garbage = "import sys\nfor line in sys.stdin:\n    print(\"{garbage\", flush=True)";
    check(&server(garbage), 1, &["`s`"]);
}

#[test]
fn arguments_and_answers() {
    let folder = Folder::new();
    folder.write("callgate.toml", SERVER);
    let answers = folder.write("answers.json", r#"{"forms":[]}"#);
    let ran = folder.run(&["call", "s", "x", "{}", "--answers", answers.to_str().unwrap()]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.stderr.contains("answers.json") && ran.stderr.contains("`forms`"), "{ran:?}");
}

/// Whatever becomes of a call, its server does not outlive it.
#[test]
fn no_orphan_is_left() {
    let folder = Folder::new();
    let marker = folder.path("marker-of-the-child").display().to_string();
    let script = "import sys, time\ntime.sleep(600)";
    folder.write("callgate.toml", format!("[send]\ntimeout = '1s'\n[server.s]\ncommand = ['python3', '-c', '''{script}''', '{marker}']\n"));
    let mut child = folder.command(&["call", "s", "x", "{}"]).stderr(std::process::Stdio::null()).spawn().unwrap();
    let mut waited = 0;
    while processes(&marker).is_empty() && waited < 200 {
        std::thread::sleep(std::time::Duration::from_millis(50));
        waited += 1;
    }
    // As Ctrl-C or a service manager would end it.
    let ended = std::process::Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    assert!(ended.success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let mut left = processes(&marker);
    for _ in 0..100 {
        if left.is_empty() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
        left = processes(&marker);
    }
    panic!("the server outlived its command: {left:?}");
}
