//! `call-arguments`: what the caller passes to the tool.

use callgate_core::json::Json;
use callgate_core::model::Arguments;
use wasmtime::Result;

use crate::contract::callgate::plugin::call_arguments::Host;
use crate::state::{Halt, State};

impl State {
    fn arguments(&self) -> Result<&Arguments, Halt> {
        self.part("call-arguments", |subject| subject.arguments.as_ref())
    }
}

impl Host for State {
    fn get_arguments(&mut self) -> Result<String> {
        self.enter(0)?;
        let text = self.arguments()?.canonical().to_owned();
        self.give(text)
    }

    fn argument_at(&mut self, pointer: String) -> Result<Option<String>> {
        self.enter(pointer.len())?;
        let arguments = self.arguments()?;
        let text = pointer.parse().ok().and_then(|pointer| arguments.at(&pointer)).map(Json::canonical);
        self.give_if(text)
    }

    fn digest(&mut self) -> Result<String> {
        self.enter(0)?;
        let text = self.arguments()?.digest().to_string();
        self.give(text)
    }
}
