//! Plain data for native tests: no WebAssembly, no host.
//!
//! ```
//! use callgate_sdk::{json, testing};
//!
//! let call = testing::call("read_file", json!({ "path": "a.txt" }))
//!     .with_tool(testing::tool("files", "read_file").with_hint("readOnlyHint", true).trusted());
//! assert!(call.tool().read_only());
//! assert_eq!(call.text("/path").as_deref(), Some("a.txt"));
//!
//! let context = testing::context().with_principal("ann").with_taint(["web"]);
//! assert!(context.tainted(&[]));
//! ```
//!
//! Whole cases can be kept as JSON files, which the host's own tests run against the built component too: see
//! [`fixtures!`](crate::fixtures).

mod build;
mod data;
mod fixture;
mod outcome;
mod plugin;
mod record;

pub use build::{call, context, failure, question, result, result_text, tool};
pub use fixture::{Fixture, check};
pub use plugin::{Approver, FailureHook, Filter, Plugin, PostHook, PreHook, Predicate};
pub use record::{answer_prompts, configured, lines, notes, prompts};

pub(crate) use data::{ArgumentsData, ContextData, FailureData, QuestionData, ResultData, ToolData};
pub(crate) use record::{logged_line, noted, prompted};
