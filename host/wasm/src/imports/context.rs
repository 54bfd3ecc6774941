//! `context`: when, for whom and after what.

use std::sync::Arc;

use callgate_core::json::Json;
use callgate_core::model::Context;
use wasmtime::Result;

use crate::contract::callgate::plugin::context::Host;
use crate::state::{Halt, State};

impl State {
    fn context(&self) -> Result<&Arc<Context>, Halt> {
        self.part("context", |subject| subject.context.as_ref())
    }
}

impl Host for State {
    fn call_id(&mut self) -> Result<Option<String>> {
        self.enter(0)?;
        let text = self.context()?.call_id.as_ref().map(ToString::to_string);
        self.give_if(text)
    }

    fn now_ms(&mut self) -> Result<u64> {
        self.enter(0)?;
        Ok(self.context()?.now_ms)
    }

    fn era(&mut self) -> Result<String> {
        self.enter(0)?;
        Ok(self.context()?.era.as_str().to_owned())
    }

    fn principal(&mut self) -> Result<Option<String>> {
        self.enter(0)?;
        let text = self.context()?.principal.as_ref().map(ToString::to_string);
        self.give_if(text)
    }

    fn taint(&mut self) -> Result<Vec<String>> {
        self.enter(0)?;
        let texts = self.context()?.taint.iter().cloned().collect();
        self.give_all(texts)
    }

    fn tainted(&mut self, ignore: Vec<String>) -> Result<bool> {
        self.enter(ignore.iter().map(String::len).sum())?;
        Ok(self.context()?.is_tainted(ignore.iter().map(String::as_str)))
    }

    fn assigned(&mut self, key: String) -> Result<Option<String>> {
        self.enter(key.len())?;
        let text = self.context()?.assigns.get(&key).map(Json::canonical);
        self.give_if(text)
    }

    fn has_approver(&mut self) -> Result<bool> {
        self.enter(0)?;
        Ok(self.context()?.has_approver)
    }
}
