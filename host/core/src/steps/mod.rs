//! The steps, a file each, in the requirement's words.

pub(crate) mod arguments;
pub(crate) mod ask;
pub(crate) mod encode;
pub(crate) mod fingerprint;
pub(crate) mod hooks;
mod input;
mod meta;
pub(crate) mod plain;
pub(crate) mod policy;
pub(crate) mod resolve;
pub(crate) mod result;
mod seal;
pub(crate) mod select;
pub(crate) mod send;
pub(crate) mod shaping;
