//! The words: plain data without behaviour of their own, as the requirement and MCP name them.

mod arguments;
mod call;
mod context;
mod decision;
mod error;
mod failure;
mod grant;
mod principal;
mod result;
mod server;
mod tool;

pub use arguments::{Arguments, ArgumentsError, MAX_ARGUMENT_BYTES};
pub use call::{CallId, CallOptions, Progress, ProgressSink, Shape, ToolCall};
pub use context::{Assigns, Call, Context, PluginBudget, Question};
pub use decision::{Cause, Decision, Effect};
pub use error::{Error, Kind, Reason, Sent};
pub use failure::{Failure, FailureKind, Limit, Metered};
pub use grant::{ArgumentConstraint, Grant, GrantTerms, InvalidTerms, NewGrant};
pub use principal::Principal;
pub use result::{Reply, ResultDefect, ToolResult};
pub use server::{Era, InvalidServerName, ServerIdentity, ServerName};
pub use tool::{Hint, ListingId, MAX_DEFINITION_BYTES, Tool, ToolDefect};
