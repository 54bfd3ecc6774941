//! Where values come from: the host in WebAssembly, plain data elsewhere.

use serde::de::DeserializeOwned;

/// Evaluates its first part in WebAssembly and its second elsewhere.
///
/// A choice at compile time and not at run time: what is not compiled in is not imported.
macro_rules! from {
    ($host:expr, $data:expr) => {{
        #[cfg(target_arch = "wasm32")]
        let value = $host;
        #[cfg(not(target_arch = "wasm32"))]
        let value = $data;
        value
    }};
}
pub(crate) use from;

/// Reads JSON text that the host gave.
///
/// INVARIANT: what cannot be read never looks like something that is not there. A hook that takes a missing argument for a
/// harmless one would let the call pass, so this ends the invocation, and fails closed.
#[expect(clippy::panic, reason = "the only ending that no plugin can take for an answer")]
pub(crate) fn read<T: DeserializeOwned>(what: &str, text: &str) -> T {
    match serde_json::from_str(text) {
        Ok(value) => value,
        Err(error) => panic!("cannot read {what}: {error}"),
    }
}
