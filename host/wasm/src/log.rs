//! What plugins say. It is payload, as secret as the arguments it may repeat (T22): capped, on one escaped line, in a sink of its own.
//!
//! While a plugin runs its lines go to a buffer in its Store; the sink sees them when the sandbox is gone, so that a sink that blocks
//! cannot keep a guest, and a guest cannot wait on a sink (T28).

use callgate_core::shape::show_text;

use crate::limits::{Limits, MAX_LOG_LINE_CHARS, MAX_TEXT_CHARS};

/// How important a plugin finds a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LogLevel {
    /// For following a decision step by step.
    Trace,
    /// For finding a mistake.
    Debug,
    /// For knowing what happened.
    Info,
    /// For what should not have happened, and was dealt with.
    Warn,
    /// For what could not be dealt with.
    Error,
}

impl LogLevel {
    /// The stable word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            LogLevel::Trace => "trace",
            LogLevel::Debug => "debug",
            LogLevel::Info => "info",
            LogLevel::Warn => "warn",
            LogLevel::Error => "error",
        }
    }
}

/// One line of a plugin's log.
#[derive(Clone, Copy, Debug)]
pub struct LogLine<'a> {
    /// The plugin's name in the configuration.
    pub plugin: &'a str,
    /// The call it was about; none while tools are listed and settings are taken.
    pub call_id: Option<&'a str>,
    /// How important.
    pub level: LogLevel,
    /// The words, escaped, without a newline. Payload.
    pub text: &'a str,
}

/// Takes what plugins say.
pub trait LogSink: Send + Sync {
    /// One line. Called after the plugin has ended, on the thread that ran it.
    fn write(&self, line: LogLine<'_>);
}

/// The sink where nothing else is set: `tracing` at level debug, target `callgate::plugin`, so off unless asked for.
#[derive(Clone, Copy, Debug, Default)]
pub struct TracingSink;

impl LogSink for TracingSink {
    fn write(&self, line: LogLine<'_>) {
        tracing::debug!(target: "callgate::plugin", plugin = line.plugin, call_id = line.call_id, level = line.level.as_str(), "{}", line.text);
    }
}

/// What a plugin has said so far in one invocation.
#[derive(Debug)]
pub(crate) struct LogBuffer {
    lines: Vec<(LogLevel, String)>,
    lines_left: usize,
    bytes_left: usize,
    dropped: usize,
    note: Option<String>,
}

impl LogBuffer {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self { lines: Vec::new(), lines_left: limits.log_lines, bytes_left: limits.log_bytes, dropped: 0, note: None }
    }

    /// Keeps a line, as far as there is room.
    pub(crate) fn write(&mut self, level: LogLevel, text: &str) {
        let line = one_line(text, MAX_LOG_LINE_CHARS);
        match self.bytes_left.checked_sub(line.len()) {
            Some(left) if self.lines_left > 0 => {
                self.lines_left -= 1;
                self.bytes_left = left;
                self.lines.push((level, line));
            }
            _ => self.dropped += 1,
        }
    }

    /// Keeps why the plugin answers so; the last note counts.
    pub(crate) fn note(&mut self, text: &str) {
        self.note = Some(one_line(text, MAX_TEXT_CHARS));
    }

    /// Drops a note that no call has asked for.
    pub(crate) fn forget_note(&mut self) {
        self.note = None;
    }

    /// Passes the lines on and gives the note.
    pub(crate) fn deliver(self, sink: &dyn LogSink, plugin: &str, call_id: Option<&str>) -> Option<String> {
        for (level, text) in &self.lines {
            sink.write(LogLine { plugin, call_id, level: *level, text });
        }
        if self.dropped > 0 {
            let text = format!("{} lines were dropped: the plugin logs more than it may", self.dropped);
            sink.write(LogLine { plugin, call_id, level: LogLevel::Warn, text: &text });
        }
        self.note
    }
}

/// A plugin's text as one escaped line of at most so many characters. Cut first: a guest must not choose how much is escaped.
pub(crate) fn one_line(text: &str, max_chars: usize) -> String {
    let kept: String = text.chars().take(max_chars).collect();
    let cut = if kept.len() < text.len() { "…" } else { "" };
    show_text(&kept) + cut
}
