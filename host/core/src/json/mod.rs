//! Exact JSON: a strict reader, a tree that keeps every number's token, and the canonical form.
//!
//! Ordinary parsers keep the last of two equal keys and round big numbers, so that a plugin, a schema and a server can each see
//! another call. Here a document is read once, strictly, and what is digested is what is sent.

mod diff;
mod number;
mod parse;
mod pointer;
mod value;
mod write;

pub use diff::{Change, ChangeKind, diff, patch};
pub use number::Number;
pub use parse::{MAX_DEPTH, MAX_TREE_BYTES, ParseError, ParseErrorKind};
pub use pointer::{InvalidPointer, Pointer};
pub use value::{Json, Object};
