//! Callgate governs what AI agents may do through MCP tools.
//!
//! One `tools/call` passes a fixed pipeline of thirteen steps; whatever a user can plug in is a sandboxed WebAssembly component, or
//! in a Rust program a plain closure, and every failure of one fails closed.
//!
//! A program that governs calls by its own closures needs a server and a [`Client`]:
//!
//! ```no_run
//! use std::sync::Arc;
//!
//! use callgate::Client;
//! use callgate::core::extension::PreOutcome;
//! use callgate::core::model::{Call, CallOptions, Effect};
//! use callgate::core::pipeline::PipelineBuilder;
//! use callgate::core::policy::Policy;
//! use callgate::core::revision::{Entry, Revision};
//! use callgate::mcp::{StdioConfig, StdioServer};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let server = StdioServer::new(StdioConfig::new("time".parse()?, ["mcp-server-time"]));
//! let hook = |_call: &Call| Ok(PreOutcome::Proceed);
//! let revision = Revision {
//!     pre_hooks: vec![Entry::trusted("nothing-yet", Arc::new(hook))],
//!     policy: Some(Policy { default: Some(Effect::Allow), ..Policy::default() }),
//!     ..Revision::default()
//! };
//! let client = Client::new(PipelineBuilder::new(Arc::new(server)).revision(revision).build());
//! let reply = client.call_tool("get_current_time", r#"{"timezone":"Europe/Oslo"}"#, CallOptions::default().for_llm()).await?;
//! println!("{}", reply.value());
//! # Ok(())
//! # }
//! ```
//!
//! A program that governs calls by a configuration file makes a [`Host`] of it. The command `callgate` does just that.

mod client;
pub mod config;
mod host;

pub use callgate_core as core;
pub use callgate_mcp as mcp;
pub use callgate_store as store;
pub use callgate_wasm as wasm;

pub use client::{Client, ToArguments};
pub use host::{Host, HostError, HostOptions, read_component};
