//! Words for the operator: lines in the plugin's log, and notes on a decision.
//!
//! What is written may be shown to operators, so do not write secrets. Lines are cut and counted by the host.

#[cfg(target_arch = "wasm32")]
use crate::bindings::imports::callgate::plugin::log as host;
pub use crate::bindings::imports::callgate::plugin::log::Level;
use crate::source::from;

/// For following a decision step by step.
pub fn trace(message: impl AsRef<str>) {
    write(Level::Trace, message.as_ref());
}

/// For finding a mistake.
pub fn debug(message: impl AsRef<str>) {
    write(Level::Debug, message.as_ref());
}

/// For knowing what happened.
pub fn info(message: impl AsRef<str>) {
    write(Level::Info, message.as_ref());
}

/// For what should not have happened, and was dealt with.
pub fn warn(message: impl AsRef<str>) {
    write(Level::Warn, message.as_ref());
}

/// For what could not be dealt with.
pub fn error(message: impl AsRef<str>) {
    write(Level::Error, message.as_ref());
}

/// Says why this plugin answers as it does: kept with the call's step for the operator and the approver, never for the
/// caller.
pub fn note(text: impl AsRef<str>) {
    from!(host::note(text.as_ref()), crate::testing::noted(text.as_ref()));
}

pub(crate) fn write(level: Level, message: &str) {
    from!(host::write(level, message), crate::testing::logged_line(level, message));
}
