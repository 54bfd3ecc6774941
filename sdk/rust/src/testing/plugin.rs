//! A whole plugin, natively.

use crate::{
    Context, Failure, FailureOutcome, Finding, PostOutcome, PreOutcome, Question, Tool, ToolCall, ToolResult, Verdict, Visibility,
};

/// `filter.visible`, natively.
pub type Filter = fn(&Tool, &Context) -> Result<Visibility, String>;
/// `predicate.matches`, natively.
pub type Predicate = fn(&ToolCall, &Context) -> Result<Finding, String>;
/// `pre-hook.on-call`, natively.
pub type PreHook = fn(&ToolCall, &Context) -> Result<PreOutcome, String>;
/// `post-hook.on-result`, natively.
pub type PostHook = fn(&ToolCall, &ToolResult, &Context) -> Result<PostOutcome, String>;
/// `failure-hook.on-failure`, natively.
pub type FailureHook = fn(&ToolCall, &Failure, &Context) -> Result<FailureOutcome, String>;
/// `approver.review`, natively.
pub type Approver = fn(&ToolCall, &Question, &Context) -> Result<Verdict, String>;

/// What `export!` makes natively: the plugin's functions, with every answer converted.
#[derive(Debug, Clone, Copy)]
pub struct Plugin {
    /// `setup.configure`
    pub configure: fn(&str) -> Result<(), String>,
    /// `filter.visible`
    pub filter: Option<Filter>,
    /// `predicate.matches`
    pub predicate: Option<Predicate>,
    /// `pre-hook.on-call`
    pub pre_hook: Option<PreHook>,
    /// `post-hook.on-result`
    pub post_hook: Option<PostHook>,
    /// `failure-hook.on-failure`
    pub failure_hook: Option<FailureHook>,
    /// `approver.review`
    pub approver: Option<Approver>,
}

impl Plugin {
    /// A plugin of no kind yet.
    pub fn configured_by(configure: fn(&str) -> Result<(), String>) -> Self {
        Self { configure, filter: None, predicate: None, pre_hook: None, post_hook: None, failure_hook: None, approver: None }
    }
}
