//! Between the exported functions and the author's: what `export!` calls. No part of the public face.

use serde::de::DeserializeOwned;

use crate::{panics, settings};

/// For a plugin with neither `settings` nor `configure`.
pub fn configure_without(text: &str) -> Result<(), String> {
    panics::report();
    settings::none(text)
}

/// For `settings = T`.
pub fn configure_as<T: DeserializeOwned + 'static>(text: &str) -> Result<(), String> {
    panics::report();
    settings::keep(settings::parse::<T>(text)?);
    Ok(())
}

/// For `configure = f`.
pub fn configure_with<Given, Kept, Error>(text: &str, check: impl FnOnce(Given) -> Result<Kept, Error>) -> Result<(), String>
where
    Given: DeserializeOwned,
    Kept: 'static,
    Error: std::fmt::Display,
{
    panics::report();
    settings::keep(check(settings::parse(text)?).map_err(|error| error.to_string())?);
    Ok(())
}

#[cfg(target_arch = "wasm32")]
pub use current::*;

/// The exported functions: each makes the handles to the current call, which hold nothing, and passes them on.
#[cfg(target_arch = "wasm32")]
mod current {
    use crate::{
        Arguments, Context, Failure, FailureOutcome, Finding, IntoAnswer, PostOutcome, PreOutcome, Question, Tool, ToolCall, ToolResult,
        Verdict, Visibility, panics,
    };

    const CALL: ToolCall = ToolCall { tool: Tool {}, arguments: Arguments {} };

    /// `filter.visible`
    pub fn filter<A: IntoAnswer<Visibility>>(f: impl FnOnce(&Tool, &Context) -> A) -> Result<Visibility, String> {
        panics::report();
        f(&Tool {}, &Context {}).into_answer()
    }

    /// `predicate.matches`
    pub fn predicate<A: IntoAnswer<Finding>>(f: impl FnOnce(&ToolCall, &Context) -> A) -> Result<Finding, String> {
        panics::report();
        f(&CALL, &Context {}).into_answer()
    }

    /// `pre-hook.on-call`
    pub fn pre_hook<A: IntoAnswer<PreOutcome>>(f: impl FnOnce(&ToolCall, &Context) -> A) -> Result<PreOutcome, String> {
        panics::report();
        f(&CALL, &Context {}).into_answer()
    }

    /// `post-hook.on-result`
    pub fn post_hook<A: IntoAnswer<PostOutcome>>(f: impl FnOnce(&ToolCall, &ToolResult, &Context) -> A) -> Result<PostOutcome, String> {
        panics::report();
        f(&CALL, &ToolResult {}, &Context {}).into_answer()
    }

    /// `failure-hook.on-failure`
    pub fn failure_hook<A: IntoAnswer<FailureOutcome>>(
        f: impl FnOnce(&ToolCall, &Failure, &Context) -> A,
    ) -> Result<FailureOutcome, String> {
        panics::report();
        f(&CALL, &Failure {}, &Context {}).into_answer()
    }

    /// `approver.review`
    pub fn approver<A: IntoAnswer<Verdict>>(f: impl FnOnce(&ToolCall, &Question, &Context) -> A) -> Result<Verdict, String> {
        panics::report();
        f(&CALL, &Question {}, &Context {}).into_answer()
    }
}
