//! The command starts. That it has a test of its own makes Cargo build it wherever the whole workspace is tested: the end-to-end tests
//! run it from there.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail where it stands")]

use std::process::Command;

#[test]
fn it_says_its_version() {
    let said = Command::new(env!("CARGO_BIN_EXE_callgate")).arg("--version").output().unwrap();
    assert_eq!(String::from_utf8_lossy(&said.stdout).trim(), format!("callgate {}", env!("CARGO_PKG_VERSION")));
}
