//! The child process: how it is started, and that nothing of it stays behind.

use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};

use callgate_core::model::Error;
use process_wrap::tokio::{ChildWrapper, CommandWrap, ProcessSession};
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout, Command};

use crate::StdioConfig;
use crate::fault::not_connected;

/// Variables that pass from this process: package runners find their programs and caches by them.
const INHERITED: [&str; 2] = ["PATH", "HOME"];

/// A child with its three streams.
pub(crate) struct Process {
    pub(crate) child: Box<dyn ChildWrapper>,
    pub(crate) stdin: ChildStdin,
    pub(crate) stdout: ChildStdout,
    pub(crate) stderr: ChildStderr,
    pub(crate) group: Group,
}

/// The child's process group: the child and whatever it started, except what left the group on purpose (`setsid`). Killed when
/// dropped.
#[derive(Debug)]
pub(crate) struct Group {
    leader: Option<Pid>,
    gone: AtomicBool,
}

/// Starts a server: without a shell, with only the configured environment, and in a session of its own, which has no terminal. In
/// this process's session it could open `/dev/tty`, where a person is asked for approval, and read or type the answer.
///
/// # Errors
/// `not_connected` where it cannot be started.
pub(crate) fn start(config: &StdioConfig) -> Result<Process, Error> {
    let failed = |cause: String| not_connected(&config.name, cause);
    let (program, arguments) = config.command.split_first().ok_or_else(|| failed("its `command` is empty".to_owned()))?;
    let mut command = Command::new(program);
    command.args(arguments).env_clear().kill_on_drop(true);
    command.envs(INHERITED.into_iter().filter_map(|name| Some((name, std::env::var_os(name)?)))).envs(&config.env);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    if let Some(cwd) = &config.cwd {
        command.current_dir(cwd);
    }
    let started = CommandWrap::from(command).wrap(ProcessSession).spawn().map_err(|error| {
        let place = config.cwd.as_ref().map(|cwd| format!(" in `{}`", cwd.display())).unwrap_or_default();
        failed(format!("`{program}` does not start{place}: {error}; check its `command` and `cwd`"))
    })?;
    // The child alone, as Tokio has it: what belongs to the whole group is done by `Group`.
    let mut child = started.into_inner();
    // Whoever leads a session leads a group, too.
    let group = Group::of(&*child);
    match (child.stdin().take(), child.stdout().take(), child.stderr().take()) {
        (Some(stdin), Some(stdout), Some(stderr)) => Ok(Process { child, stdin, stdout, stderr, group }),
        _ => Err(failed(format!("`{program}` has no standard streams"))),
    }
}

impl Group {
    fn of(child: &dyn ChildWrapper) -> Self {
        let leader = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        Self { leader, gone: AtomicBool::new(false) }
    }

    #[cfg(test)]
    pub(crate) fn leader(&self) -> Option<String> {
        self.leader.map(|pid| pid.as_raw_nonzero().to_string())
    }

    /// Asks the group to end.
    pub(crate) fn terminate(&self) {
        self.signal(Signal::TERM);
    }

    /// Ends the group.
    pub(crate) fn kill(&self) {
        self.signal(Signal::KILL);
    }

    /// Ends what is left after the leader was waited for. Its number may then be given to others, so nothing is signalled later.
    pub(crate) fn kill_last(&self) {
        self.kill();
        self.gone.store(true, Ordering::Release);
    }

    fn signal(&self, signal: Signal) {
        if let Some(leader) = self.leader
            && !self.gone.load(Ordering::Acquire)
        {
            // An error says that there is no such group any more.
            let _gone = kill_process_group(leader, signal);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}
