//! `failure`: the error with which the call ended.

use callgate_core::json::Json;
use callgate_core::model::{Error, Sent};
use wasmtime::Result;

use crate::contract::callgate::plugin::failure::Host;
use crate::contract::callgate::plugin::types::Delivery;
use crate::state::{Halt, State};

impl State {
    fn failure(&self) -> Result<&Error, Halt> {
        self.part("failure", |subject| subject.error.as_ref())
    }
}

impl Host for State {
    fn kind(&mut self) -> Result<String> {
        self.enter(0)?;
        Ok(self.failure()?.kind.as_str().to_owned())
    }

    fn reason(&mut self) -> Result<String> {
        self.enter(0)?;
        Ok(self.failure()?.reason.as_str().to_owned())
    }

    fn message(&mut self) -> Result<String> {
        self.enter(0)?;
        let text = self.failure()?.message.clone();
        self.give(text)
    }

    fn data(&mut self) -> Result<Option<String>> {
        self.enter(0)?;
        let text = Some(&self.failure()?.data).filter(|data| **data != Json::Null).map(Json::to_string);
        self.give_if(text)
    }

    fn sent(&mut self) -> Result<Delivery> {
        self.enter(0)?;
        Ok(match self.failure()?.sent {
            Sent::No => Delivery::NotSent,
            Sent::Yes => Delivery::Sent,
            Sent::Unknown => Delivery::Unknown,
        })
    }
}
