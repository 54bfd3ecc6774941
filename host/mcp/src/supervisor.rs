//! The life of a child: its streams are served, its end is noticed and told, and nothing of it is left.

use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use callgate_core::model::{Error, Reason};
use process_wrap::tokio::ChildWrapper;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::StdioConfig;
use crate::fault::Fault;
use crate::limits::{EXIT_STATUS, STDERR_DRAIN};
use crate::link::Link;
use crate::process::{self, Group};
use crate::reader::{self, Stopped};
use crate::stderr::StderrTail;
use crate::writer;

/// A running child and the conversation with it. Dropped, it kills the child and all that the child started; ended by
/// [`Running::end`], it lets them end by themselves first.
pub(crate) struct Running {
    pub(crate) link: Arc<Link>,
    group: Arc<Group>,
    supervisor: tokio::sync::Mutex<Option<JoinHandle<()>>>,
}

impl Running {
    /// Starts a child and what serves it.
    ///
    /// # Errors
    /// `not_connected` where it cannot be started.
    pub(crate) fn start(config: &StdioConfig) -> Result<Self, Error> {
        let process = process::start(config)?;
        let (link, outgoing) = Link::new(config.name.clone(), config.declared, config.limits);
        let (link, group) = (Arc::new(link), Arc::new(process.group));
        let tail = StderrTail::default();
        let writer = tokio::spawn(writer::write(process.stdin, outgoing, link.close.clone()));
        let supervisor = Supervisor {
            child: process.child,
            group: Arc::clone(&group),
            reader: tokio::spawn(reader::read(Arc::clone(&link), process.stdout)),
            stderr: tokio::spawn(tail.clone().drain(process.stderr)),
            tail,
            link: Arc::clone(&link),
        };
        let supervisor = tokio::spawn(supervisor.run(writer));
        Ok(Self { link, group, supervisor: tokio::sync::Mutex::new(Some(supervisor)) })
    }

    /// Closes the child's input, waits, asks its group to end, waits, and kills it. Returns when it is gone.
    pub(crate) async fn end(&self) {
        self.link.close.cancel();
        // A second caller waits here for the first.
        let mut supervisor = self.supervisor.lock().await;
        if let Some(supervisor) = supervisor.as_mut() {
            let _panicked = supervisor.await;
        }
        *supervisor = None;
    }

    #[cfg(test)]
    pub(crate) fn pid(&self) -> Option<String> {
        self.group.leader()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.link.close.cancel();
        self.group.kill();
    }
}

struct Supervisor {
    child: Box<dyn ChildWrapper>,
    group: Arc<Group>,
    link: Arc<Link>,
    reader: JoinHandle<Stopped>,
    stderr: JoinHandle<()>,
    tail: StderrTail,
}

impl Supervisor {
    async fn run(mut self, mut writer: JoinHandle<()>) {
        let close = self.link.close.clone();
        let stopped = tokio::select! {
            biased;
            () = close.cancelled() => None,
            stopped = &mut self.reader => stopped.ok(),
            // It may have answered before it died: what it wrote is read to the end, which a grandchild can keep open.
            _ = self.child.wait() => timeout(EXIT_STATUS, &mut self.reader).await.ok().and_then(Result::ok),
            _ = &mut writer => timeout(EXIT_STATUS, &mut self.reader).await.ok().and_then(Result::ok),
        };
        if close.is_cancelled() {
            self.link.pending.end(self.closed_by_us());
            self.wind_down().await;
        } else if let Some(fault) = stopped.and_then(|stopped| stopped.fault(&self.link)) {
            self.link.pending.end(fault);
            close.cancel();
            self.wind_down().await;
        } else {
            let status = timeout(EXIT_STATUS, self.child.wait()).await.ok().and_then(Result::ok);
            let _still_open = timeout(STDERR_DRAIN, &mut self.stderr).await;
            self.link.pending.end(self.died(status));
            close.cancel();
            self.wind_down().await;
        }
        self.reader.abort();
        self.stderr.abort();
    }

    /// Lets the child end, and makes it. The order is MCP's (basic/transports/stdio): close, wait, TERM, KILL.
    async fn wind_down(&mut self) {
        let patience: Duration = self.link.limits.end;
        if timeout(patience, self.child.wait()).await.is_err() {
            self.group.terminate();
            if timeout(patience, self.child.wait()).await.is_err() {
                self.group.kill();
                let _status = self.child.wait().await;
            }
        }
        self.group.kill_last();
    }

    fn closed_by_us(&self) -> Fault {
        Fault::transport(Reason::Closed, format!("the connection to `{}` was closed by this host", self.link.name))
    }

    fn died(&self, status: Option<ExitStatus>) -> Fault {
        let how = status.map_or_else(|| "closed its standard output".to_owned(), |status| format!("ended ({status})"));
        let words = self.tail.last_words().map(|words| format!(", and its last words are: `{words}`")).unwrap_or_default();
        Fault::transport(Reason::Closed, format!("`{}` {how}{words}", self.link.name))
    }
}
