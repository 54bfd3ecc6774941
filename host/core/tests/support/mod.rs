//! The harness: a scripted server, and a world around it in which one call runs and everything is written down.

#![allow(dead_code, unused_imports, reason = "each test file uses its own part of the harness")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on must fail where it stands"
)]

mod make;
mod server;
mod world;

pub(crate) use make::*;
pub(crate) use server::{Kinds, Server, Turn};
pub(crate) use world::{BrokenStore, Setup, World, said};
