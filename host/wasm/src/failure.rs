//! What ended a plugin, in the words that every stage understands.

use callgate_core::model::{Failure, FailureKind, Limit};
use wasmtime::{PoolConcurrencyLimitError, Trap, WasmBacktrace};

use crate::limiter::Limiter;
use crate::limits::MAX_TEXT_CHARS;
use crate::log::one_line;
use crate::state::Halt;

/// How far an invocation had come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Making the instance: start functions, data and tables.
    Start,
    /// In an exported function.
    Call,
}

/// Names an engine's error. `deadline` is what a deadline that is over is called here: the plugin's own, or the call's budget.
///
/// What is no trap and no refusal of the host during a call is the engine's complaint about what it was handed: a pointer, a text, a
/// case, or too many bytes. That is a malformed answer, whether it was handed back or to a host function.
pub(crate) fn name(error: &wasmtime::Error, phase: Phase, limiter: &Limiter, deadline: Limit) -> Failure {
    if let Some(halt) = error.downcast_ref::<Halt>() {
        return match halt {
            Halt::Refused(_) | Halt::SecondPrompt => Failure::new(FailureKind::Refused),
            Halt::Traffic => Failure::new(FailureKind::Trap),
            Halt::Deadline => Failure::timeout(deadline),
        }
        .with_text(halt.to_string());
    }
    if error.is::<PoolConcurrencyLimitError>() {
        return Failure::timeout(Limit::Queue);
    }
    let failure = match error.downcast_ref::<Trap>() {
        Some(Trap::OutOfFuel) => return Failure::timeout(Limit::Fuel),
        Some(Trap::Interrupt) => return Failure::timeout(deadline),
        Some(Trap::StringOutOfBounds | Trap::ListOutOfBounds | Trap::InvalidDiscriminant | Trap::InvalidChar | Trap::UnalignedPointer) => {
            Failure::new(FailureKind::BadReturn)
        }
        // A guest that was refused memory and then trapped ran out of it: allocators end in a trap.
        Some(_) if limiter.refused() => Failure::new(FailureKind::Memory),
        None if phase == Phase::Start && limiter.refused() => Failure::new(FailureKind::Memory),
        Some(_) => Failure::new(FailureKind::Trap),
        None if phase == Phase::Start => Failure::new(FailureKind::Trap),
        None => Failure::new(FailureKind::BadReturn),
    };
    failure.with_text(describe(error))
}

/// A plugin's own `err`: it could not answer.
pub(crate) fn no_answer(text: &str) -> Failure {
    Failure::new(FailureKind::NoAnswer).with_text(one_line(text, MAX_TEXT_CHARS))
}

/// An answer that is not what the contract says, though it could be read.
pub(crate) fn bad_return(text: impl std::fmt::Display) -> Failure {
    Failure::new(FailureKind::BadReturn).with_text(one_line(&text.to_string(), MAX_TEXT_CHARS))
}

/// A panic of the engine or of the host, caught: this invocation is over and nothing else.
pub(crate) fn panicked() -> Failure {
    Failure::new(FailureKind::Trap).with_text("the host panicked while the plugin ran")
}

/// The engine's own words, and where the guest was. Function names are the guest's, so all of it is payload.
fn describe(error: &wasmtime::Error) -> String {
    let cause = error.root_cause().to_string();
    let frames = error.downcast_ref::<WasmBacktrace>().map(WasmBacktrace::frames).unwrap_or_default();
    let at: Vec<_> = frames.iter().filter_map(wasmtime::FrameInfo::func_name).take(3).collect();
    let text = if at.is_empty() { cause } else { format!("{cause} in {}", at.join(" < ")) };
    one_line(&text, MAX_TEXT_CHARS)
}
