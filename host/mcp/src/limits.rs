//! Every bound on what a server may do to this host, with the reason for its number.

use std::time::Duration;

/// Bytes of standard error that are kept for the message when a server dies: enough for a stack trace's end.
pub(crate) const STDERR_TAIL: usize = 8 << 10;

/// Bytes of `instructions` that are kept. They go into a model's context, where 64 KiB is already more than anyone wants.
pub(crate) const INSTRUCTIONS: usize = 64 << 10;

/// Messages that wait to be written. A server that does not read its input fills its pipe, then this; further requests fail unsent.
pub(crate) const QUEUED_MESSAGES: usize = 1024;

/// Bytes of one progress notice's message; the rest is cut. A thousand notices of full lines would be gigabytes.
pub(crate) const PROGRESS_MESSAGE: usize = 4 << 10;

/// Bytes that one request for input may have. Forms are small, and a person must be able to read them.
pub(crate) const INPUT_REQUEST: usize = 256 << 10;

/// Calls that were given up and whose late replies are awaited. Past it nothing is forgotten that matters: see `pending`.
pub(crate) const ABANDONED: usize = 1024;

/// How long a server that closed its output is given to say its exit status, before whoever waits is told.
pub(crate) const EXIT_STATUS: Duration = Duration::from_millis(500);

/// How long after a server's exit its last standard error is read, where a grandchild still holds the pipe.
pub(crate) const STDERR_DRAIN: Duration = Duration::from_millis(200);

/// Bounds of one server's connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WireLimits {
    /// Bytes that one line of standard output may have; a longer one ends the connection (`too_large`). Default 16 MiB: results
    /// with images come near 10 MiB, and a line is held in memory whole.
    pub line_bytes: usize,
    /// How long `server/discover` may go unanswered before the server is taken for one of the legacy era. Default 20 s: an
    /// interpreter's start on a busy machine. Nearly every legacy server answers with an error at once, so only silent ones wait.
    pub probe: Duration,
    /// How long a server may take to complete a legacy handshake. Default 60 s: package runners download on first use.
    pub start: Duration,
    /// How long a server may take to end by itself after its input is closed, and again after SIGTERM. Default 2 s each.
    pub end: Duration,
    /// Lines in a row on standard output that are no messages; one more ends the connection. Default 100: banners are shorter.
    pub noise_lines: u32,
    /// How long after a line that is not JSON a pending call may still be answered, if the server sends nothing else. Default
    /// 10 s: a tool that prints while it works is common, and the line may also have been the reply.
    pub not_json_grace: Duration,
    /// Progress notices that are passed on for one call; further ones are dropped. Default 1000.
    pub progress_notices: u32,
    /// Requests that a legacy server may make in one call, besides pings; further ones are refused. All count, whether they are
    /// answered, refused or withdrawn. Default 32.
    pub input_requests: u32,
}

impl Default for WireLimits {
    fn default() -> Self {
        Self {
            line_bytes: 16 << 20,
            probe: Duration::from_secs(20),
            start: Duration::from_secs(60),
            end: Duration::from_secs(2),
            noise_lines: 100,
            not_json_grace: Duration::from_secs(10),
            progress_notices: 1000,
            input_requests: 32,
        }
    }
}
