//! A plain log of what was decided and how calls ended: one JSON object a line, for `grep`, `jq` and log shippers.

use std::fmt::{Debug, Formatter};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::{SystemTime, UNIX_EPOCH};

use callgate_core::observe::{Event, Observer};
use callgate_core::store::StoreError;

use crate::log_writer::{self, Message};
use crate::{event_line, file};

/// Lines that wait to be written: a second or two of a busy host. With a disk that is slower than that, lines are dropped and
/// counted; calls never wait.
const QUEUE: usize = 4096;

/// Appends one line of JSON for each event to a file with mode 0600.
///
/// A line has `version`, `time` and `event`, and of these what belongs to the event: `call_id`, `server`, `tool`, `principal`,
/// `revision`, `effect`, `reason`, `rule`, `step`, `plugin`, `failure`, `limit`, `fuel`, `outcome`, `kind`, `sent`, `digest`,
/// `micros`. `dropped` says how many lines are missing before this one. It never has arguments, results, or text of a plugin or
/// server. It is written by a thread of its own; dropping the log writes what waits.
///
/// This is a log and no audit: what a crash of the machine leaves of its last seconds is not known.
pub struct DecisionLog {
    path: PathBuf,
    queue: Option<SyncSender<Message>>,
    dropped: Arc<AtomicU64>,
    writer: Option<JoinHandle<()>>,
}

impl DecisionLog {
    /// Opens the file, which is made if it is absent and appended to if not.
    ///
    /// # Errors
    /// It cannot be opened.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        let path = path.as_ref().to_owned();
        let file = file::open_private(&path)?;
        let (queue, waiting) = sync_channel(QUEUE);
        let dropped = Arc::new(AtomicU64::new(0));
        let counter = Arc::clone(&dropped);
        let writer = std::thread::Builder::new()
            .name("decision-log".to_owned())
            .spawn(move || log_writer::write(file, &waiting, &counter))
            .map_err(|error| StoreError(format!("the decision log `{}` has no thread to write it: {error}", path.display())))?;
        Ok(Self { path, queue: Some(queue), dropped, writer: Some(writer) })
    }

    /// Lines that were not written and that no line has reported yet.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    /// Waits until everything observed so far is on the disk. Blocks: in async code, call it where blocking is allowed.
    ///
    /// # Errors
    /// A line since the last flush could not be written.
    pub fn flush(&self) -> Result<(), StoreError> {
        let failed = |cause: String| {
            StoreError(format!("the decision log `{}` is not written: {cause}; check the file and its disk", self.path.display()))
        };
        let (done, wait) = sync_channel(1);
        let queue = self.queue.as_ref().ok_or_else(|| failed("it is closed".to_owned()))?;
        queue.send(Message::Flush(done)).map_err(|_| failed("its writer has ended".to_owned()))?;
        wait.recv().map_err(|_| failed("its writer has ended".to_owned()))?.map_err(failed)
    }
}

impl Observer for DecisionLog {
    fn observe(&self, event: &Event<'_>) {
        let Some(queue) = &self.queue else { return };
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let dropped = self.dropped.swap(0, Ordering::Relaxed);
        let line = event_line::line(event, u64::try_from(now.as_millis()).unwrap_or(u64::MAX), dropped);
        if let Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) = queue.try_send(Message::Line(line, dropped)) {
            self.dropped.fetch_add(dropped + 1, Ordering::Relaxed);
        }
    }
}

impl Debug for DecisionLog {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DecisionLog").field("path", &self.path).finish_non_exhaustive()
    }
}

impl Drop for DecisionLog {
    fn drop(&mut self) {
        self.queue = None;
        if let Some(writer) = self.writer.take() {
            let _panicked = writer.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::mpsc::sync_channel;

    use callgate_core::json::Json;
    use callgate_core::observe::{Event, Observer};

    use super::{DecisionLog, log_writer};

    #[test]
    fn what_is_dropped_is_counted_and_reported() {
        let path = std::env::temp_dir().join(format!("callgate-log-{}", std::process::id()));
        let (queue, waiting) = sync_channel(2);
        let log = DecisionLog { path: path.clone(), queue: Some(queue), dropped: Arc::default(), writer: None };
        let observe = || log.observe(&Event::BaselineRecorded { server: &"files".parse().unwrap(), tools: 1 });
        (0..5).for_each(|_| observe());
        assert_eq!(log.dropped(), 3);
        waiting.recv().unwrap();
        observe();
        assert_eq!(log.dropped(), 0);
        let dropped = Arc::clone(&log.dropped);
        drop(log);
        log_writer::write(std::fs::File::create(&path).unwrap(), &waiting, &dropped);
        let written = std::fs::read_to_string(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        let counts: Vec<_> = written.lines().map(|line| Json::parse(line).unwrap().get("dropped").cloned()).collect();
        assert_eq!(counts, [None, Some(Json::from(3_u64))]);
    }
}
