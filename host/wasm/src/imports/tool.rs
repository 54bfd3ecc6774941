//! `tool`: the tool that is called or listed.

use std::sync::Arc;

use callgate_core::model::{Hint, Tool};
use wasmtime::Result;

use crate::contract::callgate::plugin::tool::Host;
use crate::state::{Halt, State};

impl State {
    fn tool(&self) -> Result<&Arc<Tool>, Halt> {
        self.part("tool", |subject| subject.tool.as_ref())
    }
}

impl Host for State {
    fn server(&mut self) -> Result<String> {
        self.enter(0)?;
        let text = self.tool()?.server().name.to_string();
        self.give(text)
    }

    fn name(&mut self) -> Result<String> {
        self.enter(0)?;
        let text = self.tool()?.name().to_owned();
        self.give(text)
    }

    fn definition(&mut self) -> Result<String> {
        self.enter(0)?;
        let text = self.tool()?.definition().to_string();
        self.give(text)
    }

    fn annotation(&mut self, name: String) -> Result<Option<bool>> {
        self.enter(name.len())?;
        let tool = self.tool()?;
        Ok(Hint::named(&name).map(|hint| tool.hint(hint)))
    }

    fn annotation_declared(&mut self, name: String) -> Result<bool> {
        self.enter(name.len())?;
        let tool = self.tool()?;
        Ok(Hint::named(&name).and_then(|hint| tool.declared(hint)).is_some())
    }

    fn fingerprint(&mut self) -> Result<String> {
        self.enter(0)?;
        let text = self.tool()?.fingerprint().to_string();
        self.give(text)
    }

    fn approved_fingerprints(&mut self) -> Result<Vec<String>> {
        self.enter(0)?;
        self.tool()?;
        let context = self.part("tool", |subject| subject.context.as_ref())?;
        let texts = context.approved_fingerprints.iter().map(ToString::to_string).collect();
        self.give_all(texts)
    }
}
