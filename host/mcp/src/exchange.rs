//! One request and its answer. Whatever ends it, the caller learns whether the request left, and the server that nobody waits.

use std::time::Instant;

use callgate_core::json::Json;
use callgate_core::model::{Error, Kind, Progress, Reason, Sent};
use callgate_core::upstream::InputGate;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio_util::sync::CancellationToken;

use crate::fault::{self, Fault};
use crate::input::Asks;
use crate::link::Link;
use crate::message::Answer;
use crate::pending::{Event, Purpose};
use crate::protocol;
use crate::salvage;
use crate::writer::Ticket;

/// What belongs to a tool call and to no other request.
#[derive(Clone, Copy)]
pub(crate) struct CallHooks<'a> {
    /// The token of its progress notices, where they are wanted.
    pub(crate) token: Option<&'a str>,
    /// Where they go.
    pub(crate) report: &'a (dyn Fn(Progress) + Send + Sync),
    /// Who answers what the server asks.
    pub(crate) input: &'a dyn InputGate,
    /// Whether the call is still wanted.
    pub(crate) cancel: &'a CancellationToken,
}

impl Link {
    /// Calls a tool, once.
    ///
    /// # Errors
    /// As `Connection::call`.
    pub(crate) async fn call(&self, params: &str, deadline: Instant, hooks: CallHooks<'_>) -> Result<Json, Error> {
        // JSON text needs no line ends, and one in it would end the message early.
        if params.contains(['\n', '\r']) {
            return Err(Error::new(Kind::Transport, Reason::Protocol, "the parameters have a line end outside of strings".to_owned()));
        }
        if hooks.cancel.is_cancelled() {
            return Err(self.given_up(Reason::Cancelled));
        }
        let purpose = Purpose::Call(hooks.token.map(str::to_owned));
        let mut exchange = Exchange::begin(self, purpose, "tools/call", params, deadline)?;
        let mut asks = Asks::new(self, hooks.input);
        let until = tokio::time::Instant::from_std(deadline);
        loop {
            tokio::select! {
                biased;
                event = exchange.events.recv() => match event {
                    Some(Event::Progress(progress)) => (hooks.report)(progress),
                    Some(Event::Ask(ask)) => asks.push(ask),
                    Some(Event::AskWithdrawn(id)) => asks.withdraw(&id),
                    Some(Event::Answer(answer)) => return self.result(answer),
                    Some(Event::Failed(fault)) => return Err(exchange.failed(&fault)),
                    None => return Err(exchange.failed(&self.lost())),
                },
                () = hooks.cancel.cancelled() => return Err(exchange.give_up(Reason::Cancelled)),
                () = tokio::time::sleep_until(until) => return Err(exchange.give_up(Reason::Timeout)),
                () = asks.work() => {}
            }
        }
    }

    /// Any other request.
    ///
    /// # Errors
    /// Kind `transport` or `upstream`.
    pub(crate) async fn request(&self, purpose: Purpose, method: &str, params: &Json, deadline: Instant) -> Result<Json, Error> {
        let lists = purpose == Purpose::List;
        let mut exchange = Exchange::begin(self, purpose, method, &params.to_string(), deadline)?;
        let until = tokio::time::Instant::from_std(deadline);
        loop {
            tokio::select! {
                biased;
                event = exchange.events.recv() => match event {
                    Some(Event::Answer(Answer::NotStrict(error, line))) => {
                        let kept = if lists { salvage::listing(&line) } else { None };
                        return kept.ok_or_else(|| {
                            fault::protocol(&self.name, format!("`{method}` with what is not strict JSON: {error}"))
                        });
                    }
                    Some(Event::Answer(answer)) => return self.result(answer),
                    Some(Event::Failed(fault)) => return Err(exchange.failed(&fault)),
                    Some(Event::Progress(_) | Event::Ask(_) | Event::AskWithdrawn(_)) => {}
                    None => return Err(exchange.failed(&self.lost())),
                },
                () = tokio::time::sleep_until(until) => return Err(exchange.give_up(Reason::Timeout)),
            }
        }
    }

    fn result(&self, answer: Answer) -> Result<Json, Error> {
        match answer {
            Answer::Result(result) => Ok(result),
            Answer::Error(code, error) => Err(fault::error_reply(&self.name, code, error)),
            Answer::Malformed(what) => Err(fault::protocol(&self.name, what)),
            Answer::NotStrict(error, _) => Err(fault::not_strict(&self.name, &error)),
        }
    }

    fn given_up(&self, reason: Reason) -> Error {
        let name = &self.name;
        let noise = match self.counts.noise.get() + self.counts.stray_replies.get() {
            0 => "",
            _ => "; it wrote lines that are no answer, so see whether it logs to standard output",
        };
        let message = match reason {
            Reason::Cancelled => format!("the call to `{name}` was cancelled"),
            _ => format!("`{name}` did not answer in time{noise}"),
        };
        Error::new(Kind::Transport, reason, message)
    }

    fn lost(&self) -> Fault {
        Fault::transport(Reason::Closed, format!("the connection to `{}` ended", self.name))
    }
}

/// A request that was made. Dropped before its answer, it is taken back, or the server is told that nobody waits.
struct Exchange<'a> {
    link: &'a Link,
    id: u64,
    ticket: Ticket,
    cancellable: bool,
    events: UnboundedReceiver<Event>,
    settled: bool,
}

impl<'a> Exchange<'a> {
    fn begin(link: &'a Link, purpose: Purpose, method: &str, params: &str, deadline: Instant) -> Result<Self, Error> {
        if deadline <= Instant::now() {
            return Err(link.given_up(Reason::Timeout));
        }
        let cancellable = purpose != Purpose::Handshake;
        let (id, events) = link.pending.enter(purpose).map_err(|fault| fault.error(Sent::No))?;
        let exchange = Self { link, id, ticket: Ticket::default(), cancellable, events, settled: false };
        if !link.write(protocol::request(id, method, params), exchange.ticket.clone()) {
            let message = format!("`{}` does not read what it is sent; restart it", link.name);
            return Err(exchange.failed(&Fault::transport(Reason::Closed, message)));
        }
        Ok(exchange)
    }

    fn failed(mut self, fault: &Fault) -> Error {
        self.settled = true;
        let sent = if self.ticket.take_back() { Sent::No } else { Sent::Unknown };
        self.link.pending.leave(self.id, sent == Sent::Unknown);
        fault.error(sent)
    }

    fn give_up(&self, reason: Reason) -> Error {
        let sent = if self.ticket.take_back() { Sent::No } else { Sent::Unknown };
        self.link.given_up(reason).with_sent(sent)
    }
}

impl Drop for Exchange<'_> {
    fn drop(&mut self) {
        self.events.close();
        while let Ok(event) = self.events.try_recv() {
            if let Event::Ask(ask) = event {
                self.link.refuse(&ask.id, protocol::REFUSED, "the call has ended");
            }
        }
        if self.settled {
            return;
        }
        let left = !self.ticket.take_back();
        // False where the answer came: then there is nothing to tell.
        if self.link.pending.leave(self.id, left) && left && self.cancellable {
            self.link.notify(protocol::cancelled(self.id));
        }
    }
}
