//! How a child ends, and that nothing of it is left.

use std::path::Path;
use std::time::{Duration, Instant};

use callgate_core::model::{Kind, Reason, Sent};
use callgate_core::upstream::{Connection, Upstream};
use tokio::io::AsyncReadExt;

use super::{config, talk};
use crate::{StdioConfig, process};

/// Whether a process of that number runs; one that only waits to be collected does not.
pub(super) fn runs(pid: &str) -> bool {
    let stat = std::fs::read_to_string(Path::new("/proc").join(pid).join("stat")).unwrap_or_default();
    stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().next().map(|state| state != "Z" && state != "X")).unwrap_or(false)
}

pub(super) async fn ends(pid: &str) -> bool {
    let begun = Instant::now();
    while runs(pid) && begun.elapsed() < Duration::from_secs(60) {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    !runs(pid)
}

#[tokio::test]
async fn a_death_in_a_call_is_told_with_the_last_words() {
    let talk = talk(config(&["stderr=100000"])).await;
    let error = talk.call("die").await.unwrap_err();
    assert_eq!((error.kind, error.reason, error.sent), (Kind::Transport, Reason::Closed, Sent::Unknown));
    assert!(error.message.contains("exit status: 7") && error.message.contains("out of luck"), "{error}");
    assert!(!talk.connection.is_open());
    let error = talk.call("echo").await.unwrap_err();
    assert_eq!((error.reason, error.sent), (Reason::Closed, Sent::No));
    let again = talk.server.connect().await.unwrap();
    assert_eq!((again.id(), again.is_open()), (2, true));
    assert_eq!(talk.server.connections(), 2);
}

#[tokio::test]
async fn what_was_answered_before_death_counts() {
    let talk = talk(config(&[])).await;
    assert_eq!(talk.call("die-answered").await.unwrap(), "last");
}

#[tokio::test]
async fn a_closed_output_is_an_end() {
    let talk = talk(config(&[])).await;
    let begun = Instant::now();
    let error = talk.call("close").await.unwrap_err();
    assert_eq!((error.reason, error.sent), (Reason::Closed, Sent::Unknown));
    assert!(begun.elapsed() < Duration::from_secs(60));
}

#[tokio::test]
async fn nothing_is_left_when_dropped() {
    let talk = talk(config(&["stays"])).await;
    let child = talk.connection.running.pid().unwrap();
    let grandchild = talk.call("child").await.unwrap();
    assert!(runs(&child) && runs(&grandchild));
    drop(talk);
    assert!(ends(&child).await && ends(&grandchild).await);
}

#[tokio::test]
async fn nothing_is_left_after_shutdown_or_death() {
    let mut config = config(&["stays"]);
    config.limits.end = Duration::from_millis(200);
    let talk = talk(config).await;
    let child = talk.connection.running.pid().unwrap();
    let grandchild = talk.call("child").await.unwrap();
    talk.server.shutdown().await;
    assert!(!runs(&child) && ends(&grandchild).await);
    assert!(!talk.connection.is_open());
    let Err(error) = talk.server.connect().await else { panic!("connected after shutdown") };
    assert_eq!((error.kind, error.reason), (Kind::Transport, Reason::NotConnected));

    let talk = super::talk(super::config(&[])).await;
    let grandchild = talk.call("child").await.unwrap();
    talk.call("die").await.unwrap_err();
    assert!(ends(&grandchild).await);
}

#[test]
fn nothing_is_left_when_the_runtime_goes() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let talk = runtime.block_on(talk(config(&["stays"])));
    let child = talk.connection.running.pid().unwrap();
    let grandchild = runtime.block_on(talk.call("child")).unwrap();
    drop(runtime);
    drop(talk);
    let waiting = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    assert!(waiting.block_on(async { ends(&child).await && ends(&grandchild).await }));
}

#[tokio::test]
async fn a_call_in_flight_holds_the_child() {
    let talk = talk(config(&[])).await;
    let (server, connection) = (talk.server.clone(), talk.connection.clone());
    let calling = tokio::spawn(async move { talk.call("sleep:0.4").await });
    tokio::time::sleep(Duration::from_millis(100)).await;
    drop((server, connection));
    assert_eq!(calling.await.unwrap().unwrap(), "slept");
}

#[tokio::test]
async fn the_environment_is_what_is_configured() {
    // Not the script: interpreters and their launchers add variables of their own.
    let mut config = StdioConfig::new("env".parse().unwrap(), ["/usr/bin/env"]);
    config.env.insert("GIVEN".to_owned(), "1".to_owned());
    config.env.insert("HOME".to_owned(), "/elsewhere".to_owned());
    let mut seen = String::new();
    process::start(&config).unwrap().stdout.read_to_string(&mut seen).await.unwrap();
    let mut seen: Vec<&str> = seen.lines().collect();
    seen.sort_unstable();
    let path = format!("PATH={}", std::env::var("PATH").unwrap());
    assert_eq!(seen, ["GIVEN=1", "HOME=/elsewhere", path.as_str()]);
}

#[tokio::test]
async fn a_child_has_a_session_of_its_own_and_no_terminal() {
    let script = "read -r stat </proc/self/stat; echo $stat; if (: </dev/tty) 2>/dev/null; then echo opened; else echo refused; fi";
    let config = StdioConfig::new("session".parse().unwrap(), ["/bin/sh", "-c", script]);
    let mut seen = String::new();
    process::start(&config).unwrap().stdout.read_to_string(&mut seen).await.unwrap();
    let (stat, terminal) = seen.trim().split_once('\n').unwrap();
    let (pid, rest) = (stat.split(' ').next().unwrap(), stat.rsplit(')').next().unwrap());
    // After the name: state, parent, group, session, terminal (proc_pid_stat(5)).
    let fields: Vec<&str> = rest.split_whitespace().collect();
    assert_eq!(fields[2..5], [pid, pid, "0"], "{stat}");
    assert_eq!(terminal, "refused");
}
