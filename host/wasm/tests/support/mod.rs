//! The harness: components from a few lines of text format, calls to run them on, and an engine whose log is written down.

#![allow(dead_code, unused_imports, reason = "each test file uses its own part of the harness")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on must fail where it stands"
)]

mod call;
mod guest;
mod invoke;
mod review;
mod server;

pub(crate) use call::{call, call_with, context, error, result, tool};
pub(crate) use guest::{ANSWER, Guest, answer, data, err, text_answer, yes, zero};
pub(crate) use invoke::{Lines, Outcome, about, engine, invoke, load, plugin};
pub(crate) use review::{Person, reviewed, reviewed_within};
pub(crate) use server::Counting;
