//! Reading what a server says, until it says no more or what cannot be read on.

use std::sync::Arc;

use callgate_core::model::Reason;
use tokio::io::{AsyncRead, BufReader};
use tokio::time::{Instant, timeout_at};

use crate::fault::Fault;
use crate::limits::WireLimits;
use crate::lines::{Line, Lines};
use crate::link::{Link, Received};

/// Why nothing more is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stopped {
    /// The stream ended.
    End,
    /// A line was longer than allowed.
    TooLong,
    /// Too many lines in a row were no messages.
    Noise,
}

/// Reads and deals with lines. Ends with the stream, or with what cannot be read on.
pub(crate) async fn read(link: Arc<Link>, stream: impl AsyncRead + Unpin) -> Stopped {
    let limits = link.limits;
    let mut lines = Lines::new(BufReader::with_capacity(64 << 10, stream), limits.line_bytes);
    let mut noise_in_a_row = 0;
    // A line that is no message came while somebody waited: it may have been their answer, if nothing else comes.
    let mut doubtful_until: Option<Instant> = None;
    loop {
        let next = match doubtful_until {
            None => lines.next().await,
            Some(until) => match timeout_at(until, lines.next()).await {
                Ok(next) => next,
                Err(_elapsed) => {
                    doubtful_until = None;
                    link.pending.fail_all(&not_json(&link, &limits));
                    continue;
                }
            },
        };
        let line = match next {
            Ok(Line::Text(line)) if line.trim_ascii().is_empty() => continue,
            Ok(Line::Text(line)) => line,
            Ok(Line::TooLong) => return Stopped::TooLong,
            Ok(Line::End) | Err(_) => return Stopped::End,
        };
        match link.receive(&line) {
            Received::Message => {
                noise_in_a_row = 0;
                doubtful_until = None;
            }
            Received::Noise => {
                noise_in_a_row += 1;
                if noise_in_a_row > limits.noise_lines {
                    return Stopped::Noise;
                }
                if link.era().is_some() && link.pending.is_busy() {
                    doubtful_until.get_or_insert_with(|| Instant::now() + limits.not_json_grace);
                }
            }
        }
    }
}

fn not_json(link: &Link, limits: &WireLimits) -> Fault {
    let message = format!(
        "`{}` wrote a line to its standard output that is not JSON, and no answer within {} s; make it log to standard error",
        link.name,
        limits.not_json_grace.as_secs_f64()
    );
    Fault::transport(Reason::NotJson, message)
}

impl Stopped {
    /// What whoever waits is told, where this is more than that the server is gone.
    pub(crate) fn fault(self, link: &Link) -> Option<Fault> {
        let (name, limits) = (&link.name, &link.limits);
        match self {
            Stopped::End => None,
            Stopped::TooLong => Some(Fault::transport(
                Reason::TooLarge,
                format!("`{name}` sent a line of more than {} bytes; ask it for less at a time", limits.line_bytes),
            )),
            Stopped::Noise => Some(Fault::transport(
                Reason::NotJson,
                format!(
                    "`{name}` wrote more than {} lines to its standard output that are no messages; make it log to standard error",
                    limits.noise_lines
                ),
            )),
        }
    }
}
