//! What a legacy server asks while a call runs: which call it belongs to, and how much of it there may be.

use callgate_core::json::Json;

use super::{Event, Pending, Purpose, Table, Waiting};
use crate::WireLimits;

/// A legacy server's request for input.
#[derive(Debug)]
pub(crate) struct Ask {
    pub(crate) id: Json,
    pub(crate) method: String,
    pub(crate) params: Json,
}

/// Why a server's request is passed on to no call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotAsked {
    Undeclared,
    TooLarge,
    NoCall,
    SeveralCalls,
    AbandonedCall,
    TooMany,
}

impl Pending {
    /// Hands a request for input to the call that it must belong to. What belongs to none, or is unfit to be passed on, comes back as
    /// its id and why. Each request is counted once, so that none is free: not what is refused, nor what is withdrawn.
    pub(crate) fn ask(&self, ask: Ask, unfit: Option<NotAsked>, limits: &WireLimits) -> Result<(), (Json, NotAsked)> {
        let mut table = self.table();
        let counted = table.only_call().and_then(|call| call.count_ask(limits));
        match (unfit, counted) {
            (Some(why), _) | (None, Err(why)) => Err((ask.id, why)),
            (None, Ok(call)) => {
                call.asked.push(ask.id.clone());
                // A call whose receiver is gone is being taken out, and refuses what it was asked then.
                let _gone = call.events.send(Event::Ask(ask));
                Ok(())
            }
        }
    }

    /// Tells the call that a request for input was withdrawn; once, however often the server says so.
    pub(crate) fn withdraw_ask(&self, id: &Json) {
        for waiting in self.table().waiting.values_mut() {
            if waiting.asked.extract_if(.., |asked| asked == id).count() > 0 {
                let _gone = waiting.events.send(Event::AskWithdrawn(id.clone()));
            }
        }
    }
}

impl Table {
    /// The only call that is, or may be, running on this connection. With two, one person's question could reach another (T14).
    fn only_call(&mut self) -> Result<&mut Waiting, NotAsked> {
        let mut calls = self.waiting.values_mut().filter(|waiting| matches!(waiting.purpose, Purpose::Call(_)));
        match (calls.next(), calls.next()) {
            (None, _) => Err(NotAsked::NoCall),
            (Some(_), Some(_)) => Err(NotAsked::SeveralCalls),
            (Some(_), None) if !self.abandoned.is_empty() => Err(NotAsked::AbandonedCall),
            (Some(call), None) => Ok(call),
        }
    }
}

impl Waiting {
    fn count_ask(&mut self, limits: &WireLimits) -> Result<&mut Self, NotAsked> {
        if self.asks >= limits.input_requests {
            return Err(NotAsked::TooMany);
        }
        self.asks += 1;
        Ok(self)
    }
}
