//! One conversation with one server, as its tasks and requests share it: who waits, what is written, how often the tools changed.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use callgate_core::json::Json;
use callgate_core::model::{Era, Progress, Reason, ServerName};
use callgate_core::upstream::InputKinds;
use tokio::sync::mpsc::{self, Receiver, Sender};
use tokio_util::sync::CancellationToken;

use crate::WireLimits;
use crate::counts::Counts;
use crate::fault::Fault;
use crate::limits::{PROGRESS_MESSAGE, QUEUED_MESSAGES};
use crate::message::{self, Answer, Incoming, ReplyId};
use crate::pending::Pending;
use crate::protocol;
use crate::writer::{Outgoing, Ticket};

/// What a conversation's tasks and requests share.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) name: ServerName,
    pub(crate) declared: InputKinds,
    pub(crate) limits: WireLimits,
    pub(crate) pending: Pending,
    pub(crate) counts: Counts,
    /// Ends the conversation and the child.
    pub(crate) close: CancellationToken,
    queue: Sender<Outgoing>,
    era: OnceLock<Era>,
    generation: AtomicU64,
    /// The request whose answer is a stream of change notices; 0 is none.
    listener: AtomicU64,
}

/// What the reader must know of a line that was dealt with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Received {
    Message,
    Noise,
}

impl Link {
    pub(crate) fn new(name: ServerName, declared: InputKinds, limits: WireLimits) -> (Self, Receiver<Outgoing>) {
        let (queue, outgoing) = mpsc::channel(QUEUED_MESSAGES);
        let link = Self {
            name,
            declared,
            limits,
            pending: Pending::default(),
            counts: Counts::default(),
            close: CancellationToken::new(),
            queue,
            era: OnceLock::new(),
            generation: AtomicU64::new(0),
            listener: AtomicU64::new(0),
        };
        (link, outgoing)
    }

    /// How the server speaks; none while that is being found out.
    pub(crate) fn era(&self) -> Option<Era> {
        self.era.get().copied()
    }

    /// The handshake is done.
    pub(crate) fn established(&self, era: Era) {
        let _once = self.era.set(era);
    }

    pub(crate) fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// Puts a message into the queue; false where the queue is full or closed.
    pub(crate) fn write(&self, line: String, ticket: Ticket) -> bool {
        self.queue.try_send(Outgoing { line, ticket }).is_ok()
    }

    /// Puts a message into the queue that nobody waits for.
    pub(crate) fn notify(&self, line: String) {
        if !self.write(line, Ticket::default()) {
            self.counts.unsent.up();
        }
    }

    /// Refuses a server's request.
    pub(crate) fn refuse(&self, id: &Json, code: i64, message: &str) {
        self.counts.refused_requests.up();
        self.notify(protocol::refusal(id, code, message));
    }

    /// From now on a reply to this request says that no more change notices come.
    pub(crate) fn listen(&self, request: u64) {
        self.listener.store(request, Ordering::Release);
    }

    /// Deals with one line. Never waits: a server that is slow to be answered must not keep other answers from being read.
    pub(crate) fn receive(&self, line: &[u8]) -> Received {
        match message::read(line) {
            Incoming::Reply { id, answer } => self.reply(id, answer),
            Incoming::Request { id, method, params } => self.requested(id, method, params, line.len()),
            Incoming::Notice { method, params } => self.noticed(&method, &params),
            Incoming::Malformed => self.counts.malformed.up(),
            Incoming::Noise => {
                self.counts.noise.up();
                return Received::Noise;
            }
            Incoming::Garbled(error) => {
                self.counts.malformed.up();
                let message =
                    format!("`{}` sent what is not JSON ({error}) and may be anybody's answer; report it to its authors", self.name);
                self.pending.fail_all(&Fault::transport(Reason::NotJson, message));
            }
            Incoming::Batch => {
                self.counts.malformed.up();
                let message = format!("`{}` sent a batch, which is not allowed; update it", self.name);
                let fault = Fault { kind: callgate_core::model::Kind::Upstream, reason: Reason::Protocol, message };
                self.pending.fail_all(&fault);
            }
        }
        Received::Message
    }

    fn reply(&self, id: ReplyId, answer: Answer) {
        if let ReplyId::Of(id) = id
            && id != 0
            && self.listener.compare_exchange(id, 0, Ordering::AcqRel, Ordering::Acquire).is_ok()
        {
            // No notices come any more: what is known of the tools may be old from now on.
            self.generation.fetch_add(1, Ordering::AcqRel);
        } else if !self.pending.answer(id, answer) {
            self.counts.stray_replies.up();
        }
    }

    fn noticed(&self, method: &str, params: &Json) {
        match method {
            "notifications/tools/list_changed" => {
                self.generation.fetch_add(1, Ordering::AcqRel);
            }
            "notifications/progress" => self.progressed(params),
            "notifications/cancelled" => {
                if let Some(id) = params.get("requestId") {
                    self.pending.withdraw_ask(id);
                }
            }
            _ => {}
        }
    }

    fn progressed(&self, params: &Json) {
        let number = |key| params.get(key).and_then(Json::as_number).map(callgate_core::json::Number::as_f64);
        let passed = params.get("progressToken").and_then(Json::as_str).zip(number("progress")).is_some_and(|(token, progress)| {
            let message = params.get("message").and_then(Json::as_str).map(|text| cut(text, PROGRESS_MESSAGE).to_owned());
            let total = number("total").filter(|total| total.is_finite());
            self.pending.progress(token, Progress { progress, total, message }, &self.limits)
        });
        if !passed {
            self.counts.stray_progress.up();
        }
    }
}

/// At most so many bytes of a text, whole characters only.
pub(crate) fn cut(text: &str, bytes: usize) -> &str {
    text.get(..text.floor_char_boundary(bytes)).unwrap_or(text)
}
