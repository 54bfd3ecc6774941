//! What the host answers when a plugin asks: ambient functions about the one current call. Nothing here does I/O, locks or waits
//! (T28), but for the one function that asks a person; nothing is copied unless it is read.

mod arguments;
mod context;
mod failure;
mod log;
mod prompt;
mod question;
mod result;
mod tool;

use wasmtime::Result;

use crate::contract::callgate::plugin::types;
use crate::state::State;

impl types::Host for State {}

impl State {
    /// Counts a text on its way to the guest.
    fn give(&mut self, text: String) -> Result<String> {
        self.carry(text.len())?;
        Ok(text)
    }

    fn give_if(&mut self, text: Option<String>) -> Result<Option<String>> {
        self.carry(text.as_ref().map_or(0, String::len))?;
        Ok(text)
    }

    fn give_all(&mut self, texts: Vec<String>) -> Result<Vec<String>> {
        self.carry(texts.iter().map(String::len).sum())?;
        Ok(texts)
    }
}
