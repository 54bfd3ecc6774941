//! Write [Callgate](https://docs.rs/callgate) plugins in Rust: one plain function and one macro.
//!
//! ```
//! use callgate_sdk::prelude::*;
//!
//! /// Refuses shell commands that delete recursively.
//! fn no_recursive_delete(call: &ToolCall, _context: &Context) -> PreOutcome {
//!     match call.text("/command") {
//!         Some(command) if command.contains("rm -r") => deny("recursive_delete", "deleting whole folders is not allowed"),
//!         _ => proceed(),
//!     }
//! }
//!
//! callgate_sdk::export!(pre_hook = no_recursive_delete);
//!
//! // The same function is tested natively, with no WebAssembly at all:
//! use callgate_sdk::testing;
//! let call = testing::call("run", json!({ "command": "rm -rf /" }));
//! let outcome = no_recursive_delete(&call, &testing::context());
//! assert_eq!(outcome, deny("recursive_delete", "deleting whole folders is not allowed"));
//! ```
//!
//! # What a function gets and gives
//!
//! | kind | function | answers |
//! | --- | --- | --- |
//! | `filter` | `fn(&Tool, &Context)` | [`Visibility`], made with [`show`] and [`hide`], or a `bool` |
//! | `predicate` | `fn(&ToolCall, &Context)` | [`Finding`], or a `bool` |
//! | `pre_hook` | `fn(&ToolCall, &Context)` | [`PreOutcome`]: [`proceed`], [`deny`], [`ask`], [`rewrite`], [`halt`] |
//! | `post_hook` | `fn(&ToolCall, &ToolResult, &Context)` | [`PostOutcome`]: [`keep`], [`replace`], [`withhold`] |
//! | `failure_hook` | `fn(&ToolCall, &Failure, &Context)` | [`FailureOutcome`]: [`keep`], [`reword`] |
//! | `approver` | `fn(&ToolCall, &Question, &Context)` | [`Verdict`]: [`deny`], [`deny_and_halt`], [`allow_once`], [`allow_always`] |
//!
//! Each may also give a `Result` of its answer with an error that can be displayed: an error means "could not answer",
//! and fails closed. So does a panic, whose text reaches the plugin's log.
//!
//! In WebAssembly the arguments of these functions hold nothing: each method asks the host, so that what a plugin does not
//! read is neither copied nor imported, and imports are permissions. Natively they are plain data, made in [`testing`].
//!
//! # Settings
//!
//! With `settings = Settings` in the macro, the settings are parsed into that type when the plugin is loaded; with
//! `configure = f` they are also checked, or turned into something else. [`settings()`] gives what was kept.
//! A plugin with neither takes no settings, and says so.

mod answer;
mod approval;
#[doc(hidden)]
pub mod bindings;
mod call;
mod context;
pub mod edit;
#[doc(hidden)]
pub mod entry;
mod export;
mod failure;
pub mod glob;
pub mod log;
mod panics;
pub mod prompt;
mod question;
mod result;
mod settings;
mod source;
#[cfg(not(target_arch = "wasm32"))]
pub mod testing;
mod tool;
mod verbs;

pub use answer::IntoAnswer;
pub use approval::{Terms, allow_always, allow_once, deny_and_halt};
pub use bindings::imports::callgate::plugin::types::{
    Delivery, FailureOutcome, FailureText, Finding, PostOutcome, PreOutcome, Refusal, Verdict, Visibility,
};
pub use call::{Arguments, ToolCall};
pub use context::Context;
pub use failure::Failure;
pub use log::note;
pub use question::Question;
pub use result::ToolResult;
pub use serde_json::{self, Value, json};
pub use settings::{NotConfigured, settings};
pub use tool::Tool;
pub use verbs::{ask, deny, halt, halt_text, hide, keep, proceed, refusal, replace, replace_text, reword, rewrite, show, withhold};

/// What almost every plugin uses.
pub mod prelude {
    pub use crate::{
        Context, Failure, FailureOutcome, Finding, PostOutcome, PreOutcome, Question, Refusal, Tool, ToolCall, ToolResult, Value, Verdict,
        Visibility, allow_always, allow_once, ask, deny, deny_and_halt, halt, hide, json, keep, log, note, proceed, prompt, refusal,
        replace, reword, rewrite, settings, show, withhold,
    };
}

/// The README's examples are compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
