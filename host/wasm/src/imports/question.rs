//! `question`: why the call is asked about.

use std::sync::Arc;

use callgate_core::json::Json;
use callgate_core::model::Question;
use wasmtime::Result;

use crate::contract::callgate::plugin::question::Host;
use crate::state::{Halt, State};

impl State {
    fn question(&self) -> Result<&Arc<Question>, Halt> {
        self.part("question", |subject| subject.question.as_ref())
    }
}

impl Host for State {
    fn reason(&mut self) -> Result<String> {
        self.enter(0)?;
        Ok(self.question()?.reason.as_str().to_owned())
    }

    fn rule(&mut self) -> Result<Option<String>> {
        self.enter(0)?;
        let text = self.question()?.rule.clone();
        self.give_if(text)
    }

    fn earlier_arguments(&mut self) -> Result<Option<String>> {
        self.enter(0)?;
        let text = self.question()?.earlier_arguments.as_ref().map(|arguments| arguments.canonical().to_owned());
        self.give_if(text)
    }

    fn definition_changes(&mut self) -> Result<Option<String>> {
        self.enter(0)?;
        let text = self.question()?.definition_changes.as_ref().map(Json::to_string);
        self.give_if(text)
    }
}
