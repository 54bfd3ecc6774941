//! Writing to a server: whole lines, one after the other, and the truth about whether a request has begun to leave.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc::Receiver;
use tokio_util::sync::CancellationToken;

/// A message in the queue.
#[derive(Debug)]
pub(crate) struct Outgoing {
    pub(crate) line: String,
    pub(crate) ticket: Ticket,
}

/// How far a message is. Whoever gives a request up takes it back, if no byte of it has left; exactly one of writing and taking
/// back succeeds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ticket(Arc<AtomicU8>);

const QUEUED: u8 = 0;
const BEGUN: u8 = 1;
const TAKEN_BACK: u8 = 2;

impl Ticket {
    fn begin(&self) -> bool {
        self.0.compare_exchange(QUEUED, BEGUN, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// Whether the message is kept from leaving: no byte of it has left, and none will.
    pub(crate) fn take_back(&self) -> bool {
        self.0.compare_exchange(QUEUED, TAKEN_BACK, Ordering::AcqRel, Ordering::Acquire) != Err(BEGUN)
    }
}

/// Writes until told to close or until the server does not take more. The stream is closed on return.
pub(crate) async fn write(mut stream: impl AsyncWrite + Unpin, mut queue: Receiver<Outgoing>, close: CancellationToken) {
    loop {
        let next = tokio::select! {
            biased;
            () = close.cancelled() => return,
            next = queue.recv() => next,
        };
        let Some(Outgoing { mut line, ticket }) = next else { return };
        if !ticket.begin() {
            continue;
        }
        line.push('\n');
        // Only closing interrupts a write: half a line would spoil every message behind it.
        let written = tokio::select! {
            biased;
            () = close.cancelled() => return,
            written = async { stream.write_all(line.as_bytes()).await.and(stream.flush().await) } => written,
        };
        if written.is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Ticket;

    #[test]
    fn either_written_or_taken_back() {
        let ticket = Ticket::default();
        assert!(ticket.begin());
        assert!(!ticket.take_back());
        let ticket = Ticket::default();
        assert!(ticket.take_back() && ticket.take_back());
        assert!(!ticket.begin());
    }
}
