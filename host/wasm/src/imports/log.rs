//! `log`: words for the operator, into the Store's own buffer. Also answers while settings are taken.

use wasmtime::Result;

use crate::contract::callgate::plugin::log::{Host, Level};
use crate::log::LogLevel;
use crate::state::State;

impl Host for State {
    fn write(&mut self, level: Level, message: String) -> Result<()> {
        self.enter(message.len())?;
        let level = match level {
            Level::Trace => LogLevel::Trace,
            Level::Debug => LogLevel::Debug,
            Level::Info => LogLevel::Info,
            Level::Warn => LogLevel::Warn,
            Level::Error => LogLevel::Error,
        };
        self.log.write(level, &message);
        Ok(())
    }

    fn note(&mut self, text: String) -> Result<()> {
        self.enter(text.len())?;
        self.log.note(&text);
        Ok(())
    }
}
