//! The extension points, as traits. Closures implement them, so a program may govern calls without any plugin; sandboxed plugins
//! implement them in a crate that this one knows nothing of.
//!
//! All but the approver answer synchronously: they decide, they do not wait. A plugin is bounded by its own limits; a closure is the
//! host program's own code, runs on the caller's task and must not block. Only the approver may wait, for a person.

mod answer;
mod prompt;

use std::future::Future;
use std::sync::Arc;

use async_trait::async_trait;

use crate::model::{Call, Context, Error, Failure, Metered, Question, Tool, ToolResult};

pub use answer::{FailureOutcome, FailureText, Finding, PostOutcome, PreOutcome, Refusal, Verdict, Visibility};
pub(crate) use prompt::PromptOutcome;
pub use prompt::{Prompt, PromptError, PromptRequest, Prompter};

macro_rules! extension_point {
    ($(#[$doc:meta])* $trait:ident, $(#[$method_doc:meta])* $method:ident($($argument:ident: $type:ty),*) -> $answer:ty) => {
        $(#[$doc])*
        pub trait $trait: Send + Sync {
            $(#[$method_doc])*
            fn $method(&self, $($argument: $type),*) -> Metered<$answer>;

            /// Whether to run this on a worker rather than on the caller's task. Plugins do; closures do not.
            fn needs_worker(&self) -> bool {
                false
            }
        }

        impl<F> $trait for F
        where
            F: Fn($($type),*) -> Result<$answer, Failure> + Send + Sync,
        {
            fn $method(&self, $($argument: $type),*) -> Metered<$answer> {
                self($($argument),*).into()
            }
        }
    };
}

extension_point!(
    /// Says whether a tool exists for this caller (step 2). One that fails hides.
    Filter,
    /// Asked once per tool and listing or call.
    visible(tool: &Arc<Tool>, context: &Arc<Context>) -> Visibility
);
extension_point!(
    /// A condition in a policy rule (step 6). One that fails or is undecided counts as a match in deny and ask rules only.
    Predicate,
    /// Asked at most once per rule and call, on the final arguments.
    matches(call: &Call) -> Finding
);
extension_point!(
    /// Sees a call before policy does (step 4): may rewrite, deny, ask or halt, as far as its entry's powers go.
    PreHook,
    /// Called once per logical call, with the arguments that its predecessor left.
    on_call(call: &Call) -> PreOutcome
);
extension_point!(
    /// Sees a result (step 11): may keep, replace or withhold it. One that fails withholds.
    PostHook,
    /// Called once per result, `isError` ones and synthetic ones included; the arguments are those sent.
    on_result(call: &Call, result: &ToolResult) -> PostOutcome
);
extension_point!(
    /// Sees an error of steps 3 to 10 (step 11): may replace its message and data, never its kind, reason or delivery.
    FailureHook,
    /// Called once per error.
    on_failure(call: &Call, error: &Error) -> FailureOutcome
);

/// Decides asks (step 7). Runs in a task of its own under the ask time-out.
#[async_trait]
pub trait Approver: Send + Sync {
    /// Called at most once per logical call, with exactly what will be sent (PO-11). Whatever is not a verdict is a deny.
    async fn review(&self, call: Call, question: Arc<Question>, prompt: Prompt) -> Metered<Verdict>;
}

#[async_trait]
impl<F, Answer> Approver for F
where
    F: Fn(Call, Arc<Question>) -> Answer + Send + Sync,
    Answer: Future<Output = Result<Verdict, Failure>> + Send,
{
    async fn review(&self, call: Call, question: Arc<Question>, _prompt: Prompt) -> Metered<Verdict> {
        self(call, question).await.into()
    }
}
