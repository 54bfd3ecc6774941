//! What was dropped, for those who look for the reason of a silence.

use std::sync::atomic::{AtomicU64, Ordering};

/// What one connection has dropped so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WireCounts {
    /// Lines on standard output that were no messages.
    pub noise: u64,
    /// Replies that nobody waits for: unknown, repeated, or late.
    pub stray_replies: u64,
    /// Progress notices with an unknown token, without progress, or over the limit.
    pub stray_progress: u64,
    /// Messages that broke the protocol and could not be attributed.
    pub malformed: u64,
    /// Server requests that were refused.
    pub refused_requests: u64,
    /// Answers and notices that were not sent because the server does not read its input.
    pub unsent: u64,
}

/// The same, while counting.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) noise: Count,
    pub(crate) stray_replies: Count,
    pub(crate) stray_progress: Count,
    pub(crate) malformed: Count,
    pub(crate) refused_requests: Count,
    pub(crate) unsent: Count,
}

/// One counter.
#[derive(Debug, Default)]
pub(crate) struct Count(AtomicU64);

impl Count {
    pub(crate) fn up(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Counts {
    pub(crate) fn read(&self) -> WireCounts {
        WireCounts {
            noise: self.noise.get(),
            stray_replies: self.stray_replies.get(),
            stray_progress: self.stray_progress.get(),
            malformed: self.malformed.get(),
            refused_requests: self.refused_requests.get(),
            unsent: self.unsent.get(),
        }
    }
}
