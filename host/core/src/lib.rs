//! One governed MCP tool call: selection, hooks, schema validation, policy and approval around one `tools/call`.
//!
//! This crate is pure: it knows no WebAssembly engine, socket or file. Servers, plugins and stores reach it through traits, and
//! plain closures are extension points too, so that a program may govern calls with no plugin at all.
//!
//! The heart is [`pipeline::Pipeline::run`]. A tour: [`json`] reads exactly and writes canonically, [`digest`] makes fingerprints
//! and argument digests, [`model`] has the words, [`extension`] the points where others plug in, [`policy`] decides, [`schema`]
//! checks, [`shape`] cleans, [`upstream`] and [`store`] are the seams to the wire and to what outlives a call, and [`observe`]
//! tells what happened.

mod builder;
mod catalog;
pub mod digest;
pub mod extension;
pub mod handler;
pub mod json;
mod listing;
pub mod model;
pub mod observe;
pub mod pipeline;
pub mod policy;
pub mod revision;
mod run;
pub mod schema;
pub mod shape;
mod steps;
pub mod store;
pub mod upstream;

pub use catalog::ListingLimits;
pub use run::{Step, Traced};
pub use steps::ask::Authorized;
pub use steps::encode::Encoded;
pub use steps::plain::Ungoverned;
