//! What a Store holds while a plugin runs: the current call, if there is one, and what the plugin has used.

use std::sync::Arc;
use std::time::{Duration, Instant};

use callgate_core::extension::Prompt;
use callgate_core::model::{Arguments, Context, Error, Question, Tool, ToolResult};

use crate::limiter::Limiter;
use crate::limits::Limits;
use crate::log::LogBuffer;

/// The data of one Store.
pub(crate) struct State {
    /// Absent while a component starts and takes its settings (T17).
    subject: Option<Subject>,
    pub(crate) limiter: Limiter,
    pub(crate) log: LogBuffer,
    pub(crate) clock: Clock,
    host_calls_left: u32,
    host_bytes_left: usize,
}

/// What an invocation is about. A kind's row decides which parts are there.
#[derive(Default)]
pub(crate) struct Subject {
    pub(crate) tool: Option<Arc<Tool>>,
    pub(crate) context: Option<Arc<Context>>,
    pub(crate) arguments: Option<Arguments>,
    pub(crate) result: Option<ToolResult>,
    pub(crate) error: Option<Error>,
    pub(crate) question: Option<Arc<Question>>,
    /// Taken by the one prompt that a review may make.
    pub(crate) prompt: Option<Prompt>,
}

/// Why the host ends a plugin from within a host function.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Halt {
    /// The stage or the grant lacks it.
    #[error("`{0}` is not available to this plugin here")]
    Refused(String),
    /// A second prompt in one review.
    #[error("a person was asked already in this review")]
    SecondPrompt,
    /// Too many host calls, or bytes through them.
    #[error("the plugin calls the host more than it may")]
    Traffic,
    /// The running time is over (approvers; for all others the engine says so itself).
    #[error("the running time is over")]
    Deadline,
}

impl State {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            subject: None,
            limiter: Limiter::new(limits),
            log: LogBuffer::new(limits),
            clock: Clock::new(),
            host_calls_left: limits.host_calls,
            host_bytes_left: limits.host_bytes,
        }
    }

    /// From now on there is a current call.
    pub(crate) fn begin(&mut self, subject: Subject) {
        self.log.forget_note();
        self.subject = Some(subject);
    }

    /// Counts a host call and the bytes that the guest handed over.
    pub(crate) fn enter(&mut self, bytes: usize) -> Result<(), Halt> {
        self.host_calls_left = self.host_calls_left.checked_sub(1).ok_or(Halt::Traffic)?;
        self.carry(bytes)
    }

    /// Counts bytes that pass between host and guest.
    pub(crate) fn carry(&mut self, bytes: usize) -> Result<(), Halt> {
        self.host_bytes_left = self.host_bytes_left.checked_sub(bytes).ok_or(Halt::Traffic)?;
        Ok(())
    }

    /// A part of the current call, or the refusal of `interface`.
    pub(crate) fn part<'a, T>(&'a self, interface: &str, part: impl FnOnce(&'a Subject) -> Option<&'a T>) -> Result<&'a T, Halt> {
        self.subject.as_ref().and_then(part).ok_or_else(|| Halt::Refused(interface.to_owned()))
    }

    /// The current call, for what uses a part up.
    pub(crate) fn subject_mut(&mut self) -> Option<&mut Subject> {
        self.subject.as_mut()
    }
}

/// How long a plugin has been running, without the time it waited for a person.
#[derive(Debug)]
pub(crate) struct Clock {
    ran: Duration,
    since: Option<Instant>,
}

impl Clock {
    pub(crate) fn new() -> Self {
        Self { ran: Duration::ZERO, since: Some(Instant::now()) }
    }

    pub(crate) fn running(&self) -> Duration {
        self.ran + self.since.map(|since| since.elapsed()).unwrap_or_default()
    }

    pub(crate) fn pause(&mut self) {
        self.ran = self.running();
        self.since = None;
    }

    pub(crate) fn resume(&mut self) {
        self.since = Some(Instant::now());
    }
}
