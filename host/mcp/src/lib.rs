//! The wire: MCP servers over stdio, in both eras, as raw JSON and without loss.
//!
//! Every message is read by [`callgate_core::json::Json::parse`], so what a server sent is what a decision is made on. This crate
//! decides nothing: it sends each authorised round once, and says truthfully whether it left.

mod config;
mod connection;
mod counts;
mod exchange;
mod fault;
mod greet;
mod handshake;
mod input;
mod limits;
mod lines;
mod link;
mod message;
mod pending;
mod process;
mod protocol;
mod reader;
mod salvage;
mod server;
mod stderr;
mod supervisor;
mod writer;

#[cfg(test)]
mod tests;

pub use config::StdioConfig;
pub use counts::WireCounts;
pub use limits::WireLimits;
pub use server::StdioServer;
