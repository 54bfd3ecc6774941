//! Plugins: WebAssembly components in sandboxes of their own.
//!
//! A plugin is loaded by [`Engine::load`]: its bytes are scanned, compiled, and its settings taken once. Its kinds come out as the
//! extension points of `callgate-core`. Every invocation gets a new Store and a new instance with limits of its own, and everything
//! that goes wrong in it becomes a [`callgate_core::model::Failure`].
//!
//! A tour: [`kind`](Kind) has the contract's rows, [`limits`] every bound, `scan` looks at bytes before the compiler does, `loader`
//! turns them into a [`Plugin`], `link` gives each kind its functions and nothing more, `imports` answers them, `run` and `review`
//! make one invocation, and `failure` names what went wrong.

mod answers;
mod contract;
mod engine;
mod extensions;
mod failure;
mod imports;
mod inspect;
mod kind;
mod limiter;
pub mod limits;
mod link;
mod loader;
mod log;
mod plugin;
mod queue;
mod review;
mod run;
mod sandbox;
mod scan;
mod state;
mod ticker;
mod tunables;

pub use engine::{Engine, EngineError, EngineOptions};
pub use inspect::{Import, Inspection, inspect};
pub use kind::{CONTRACT_VERSION, Interface, Kind};
pub use limits::{Class, LimitOverrides, Limits};
pub use loader::{Capability, LoadError, LoadOptions};
pub use log::{LogLevel, LogLine, LogSink, TracingSink};
pub use plugin::Plugin;
pub use scan::ScanError;
