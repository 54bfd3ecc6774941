//! The thread that writes the decision log: whoever calls a tool never waits for a disk.

use std::fs::File;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender};

/// What the writer is told.
pub(crate) enum Message {
    /// To write this line, which reports so many dropped ones.
    Line(String, u64),
    /// To say when everything before is on the disk, or why not.
    Flush(SyncSender<Result<(), String>>),
}

/// Writes until every sender is gone. A line that cannot be written is counted in `dropped`, and the next one says so.
pub(crate) fn write(mut file: File, queue: &Receiver<Message>, dropped: &Arc<AtomicU64>) {
    let mut failed = None;
    let mut torn = false;
    while let Ok(message) = queue.recv() {
        match message {
            Message::Line(line, reported) => {
                // One write for a line: other processes may append to the same file. After a line that was cut, a new one begins.
                let line = format!("{}{line}\n", if torn { "\n" } else { "" });
                let written = file.write_all(line.as_bytes());
                torn = written.is_err();
                if let Err(error) = written {
                    dropped.fetch_add(reported + 1, Ordering::Relaxed);
                    failed = Some(error.to_string());
                }
            }
            Message::Flush(done) => {
                let result = failed.take().map_or_else(|| file.sync_data().map_err(|error| error.to_string()), Err);
                // Whoever asked may have given up.
                let _gone = done.send(result);
            }
        }
    }
}
