//! The README says what is so, and the project names no machine and no registry.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail where it stands")]

use std::process::Command;

use callgate_e2e::{callgate, project};

fn read(name: &str) -> String {
    std::fs::read_to_string(project().join(name)).unwrap()
}

/// The SDK's README is a doc test of the SDK, so its plugin compiles; the main README shows the same one.
#[test]
fn the_plugin_is_the_one_that_compiles() {
    let plugin = |text: &str| {
        let blocks: Vec<_> = text.split("```rust\n").skip(1).filter_map(|block| block.split("```").next().map(str::to_owned)).collect();
        blocks.into_iter().find(|block| block.contains("export!(pre_hook = no_recursive_delete)")).unwrap()
    };
    assert_eq!(plugin(&read("README.md")), plugin(&read("sdk/rust/README.md")));
}

#[test]
fn targets_that_are_named_exist() {
    let makefile = read("Makefile");
    let named = read("README.md");
    for target in named.split("make ").skip(1).filter_map(|rest| rest.split(|c: char| !c.is_ascii_lowercase()).next()) {
        assert!(target.is_empty() || makefile.contains(&format!("\n{target}:")), "make {target}");
    }
}

#[test]
fn no_file_names_a_machine_or_a_registry() {
    let listed = Command::new("git").arg("-C").arg(project()).args(["ls-files"]).output().unwrap();
    let hosts = [["crates", ".io"].concat(), ["npmjs", ".org"].concat(), ["files.pythonhosted", ".org"].concat()];
    let paths = [["/wo", "rk/"].concat(), ["/ro", "ot/"].concat()];
    for file in String::from_utf8(listed.stdout).unwrap().lines().filter(|file| *file != "Cargo.lock") {
        let text = String::from_utf8_lossy(&std::fs::read(project().join(file)).unwrap_or_default()).into_owned();
        for forbidden in hosts.iter().chain(&paths) {
            assert!(!text.contains(forbidden.as_str()), "{file} names {forbidden}");
        }
    }
}

/// The example is a program that runs.
#[test]
fn the_agent_loop_runs() {
    let example = callgate().parent().unwrap().join("examples/agent_loop");
    if !example.is_file() {
        let built =
            Command::new(env!("CARGO")).current_dir(project()).args(["build", "--workspace", "--examples", "--quiet"]).status().unwrap();
        assert!(built.success());
    }
    let output = Command::new(example).arg(callgate()).arg("demo-server").output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{said}");
    for line in
        ["read_note was called with", "hidden files stay hidden", "there is no tool `delete_notes`", "stopped: the approver said no"]
    {
        assert!(said.contains(line), "`{line}` in {said}");
    }
}
