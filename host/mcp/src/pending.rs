//! Requests that wait for their answer, and who of them a server's other messages belong to.

mod asks;

use std::collections::{BTreeSet, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use callgate_core::json::Json;
use callgate_core::model::Progress;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};

pub(crate) use asks::{Ask, NotAsked};

use crate::fault::Fault;
use crate::limits::{ABANDONED, WireLimits};
use crate::message::{Answer, ReplyId};

/// What a waiting request is told. Unbounded queues are safe here: each kind of event is counted before it is queued.
#[derive(Debug)]
pub(crate) enum Event {
    /// The answer; nothing comes after it.
    Answer(Answer),
    /// The connection failed, or this exchange with it; nothing comes after it.
    Failed(Fault),
    /// How far it is.
    Progress(Progress),
    /// The server wants input.
    Ask(Ask),
    /// The server no longer wants the input that it asked for under this id.
    AskWithdrawn(Json),
}

/// What a request is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Finding out how the server speaks.
    Handshake,
    /// A listing.
    List,
    /// A tool call, with the token of its progress where that is wanted.
    Call(Option<String>),
}

/// All requests of one connection.
#[derive(Debug, Default)]
pub(crate) struct Pending(Mutex<Table>);

#[derive(Debug, Default)]
struct Table {
    last_id: u64,
    waiting: HashMap<u64, Waiting>,
    /// Calls that were given up after they left. The server may still be at work on them, and what it asks may be about them.
    abandoned: BTreeSet<u64>,
    ended: Option<Fault>,
}

#[derive(Debug)]
struct Waiting {
    events: UnboundedSender<Event>,
    purpose: Purpose,
    reached: f64,
    notices: u32,
    /// How much the server asked while this ran, whatever became of it.
    asks: u32,
    /// What was passed on and not withdrawn since.
    asked: Vec<Json>,
}

impl Pending {
    fn table(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place for a request, with its id; the reason where the connection has ended.
    pub(crate) fn enter(&self, purpose: Purpose) -> Result<(u64, UnboundedReceiver<Event>), Fault> {
        let mut table = self.table();
        if let Some(fault) = &table.ended {
            return Err(fault.clone());
        }
        table.last_id += 1;
        let id = table.last_id;
        let (events, receiver) = mpsc::unbounded_channel();
        table.waiting.insert(id, Waiting { events, purpose, reached: f64::NEG_INFINITY, notices: 0, asks: 0, asked: Vec::new() });
        Ok((id, receiver))
    }

    /// Takes a request out; false where it was out already, answered or failed. One that left may still be worked on.
    pub(crate) fn leave(&self, id: u64, may_be_running: bool) -> bool {
        let mut table = self.table();
        let Some(was) = table.waiting.remove(&id) else { return false };
        let is_call = matches!(was.purpose, Purpose::Call(_));
        // A full set stays full, and so goes on refusing: forgetting one would let its questions reach another call.
        if is_call && may_be_running && table.abandoned.len() < ABANDONED {
            table.abandoned.insert(id);
        }
        true
    }

    /// Hands an answer to whoever waits for it; false where nobody does. A `null` id is the only waiting request's.
    pub(crate) fn answer(&self, id: ReplyId, answer: Answer) -> bool {
        let mut table = self.table();
        let id = match id {
            ReplyId::Of(id) => id,
            ReplyId::Null if table.waiting.len() == 1 => table.waiting.keys().copied().next().unwrap_or_default(),
            ReplyId::Null | ReplyId::Foreign => return false,
        };
        table.abandoned.remove(&id);
        table.waiting.remove(&id).is_some_and(|waiting| waiting.events.send(Event::Answer(answer)).is_ok())
    }

    /// Passes a progress notice on, if it says more than the last and there were not too many; false where it is dropped.
    pub(crate) fn progress(&self, token: &str, progress: Progress, limits: &WireLimits) -> bool {
        let mut table = self.table();
        let wanted = |waiting: &&mut Waiting| matches!(&waiting.purpose, Purpose::Call(Some(known)) if known == token);
        let Some(waiting) = table.waiting.values_mut().find(wanted) else { return false };
        let more = progress.progress.is_finite() && progress.progress > waiting.reached && waiting.notices < limits.progress_notices;
        if more {
            waiting.reached = progress.progress;
            waiting.notices += 1;
        }
        more && waiting.events.send(Event::Progress(progress)).is_ok()
    }

    /// Fails every request that waits; false where none does. The connection goes on, and calls may still be running.
    pub(crate) fn fail_all(&self, fault: &Fault) -> bool {
        let mut table = self.table();
        let waiting = std::mem::take(&mut table.waiting);
        for (id, waiting) in &waiting {
            if matches!(waiting.purpose, Purpose::Call(_)) {
                table.abandoned.insert(*id);
            }
            let _gone = waiting.events.send(Event::Failed(fault.clone()));
        }
        !waiting.is_empty()
    }

    /// Fails every request that waits and all to come. The first reason stands.
    pub(crate) fn end(&self, fault: Fault) {
        self.table().ended.get_or_insert_with(|| fault.clone());
        self.fail_all(&fault);
    }

    /// Whether requests may still be made.
    pub(crate) fn is_open(&self) -> bool {
        self.table().ended.is_none()
    }

    /// Whether anything but a handshake waits.
    pub(crate) fn is_busy(&self) -> bool {
        self.table().waiting.values().any(|waiting| waiting.purpose != Purpose::Handshake)
    }
}
