//! `tool-result`: the result of the call.

use callgate_core::model::ToolResult;
use wasmtime::Result;

use crate::contract::callgate::plugin::tool_result::Host;
use crate::state::{Halt, State};

impl State {
    fn result(&self) -> Result<&ToolResult, Halt> {
        self.part("tool-result", |subject| subject.result.as_ref())
    }
}

impl Host for State {
    fn get_result(&mut self) -> Result<String> {
        self.enter(0)?;
        let text = self.result()?.value().to_string();
        self.give(text)
    }

    fn result_at(&mut self, pointer: String) -> Result<Option<String>> {
        self.enter(pointer.len())?;
        let result = self.result()?;
        let text = pointer.parse().ok().and_then(|pointer| result.value().at(&pointer)).map(ToString::to_string);
        self.give_if(text)
    }

    fn is_error(&mut self) -> Result<bool> {
        self.enter(0)?;
        Ok(self.result()?.is_error())
    }

    fn synthetic(&mut self) -> Result<bool> {
        self.enter(0)?;
        Ok(self.result()?.is_synthetic())
    }
}
