//! What a caller asks for.

use std::collections::BTreeSet;
use std::fmt::{Debug, Display, Formatter};
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::json::{Json, Object};

use super::{Arguments, Assigns, Principal, Tool};

/// One logical call's id: unique, and in the order of time.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CallId(Arc<str>);

impl CallId {
    /// A new one (UUID version 7).
    #[must_use]
    pub fn fresh() -> Self {
        Self(uuid::Uuid::now_v7().to_string().into())
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Display for CallId {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// A tool call as its caller gives it.
#[derive(Clone, Debug)]
pub struct ToolCall {
    /// The tool's name.
    pub name: String,
    /// The arguments, read strictly.
    pub arguments: Arguments,
    /// A tool that the caller has resolved already: replaces step 1 alone. It must belong to this pipeline's server.
    pub tool: Option<Arc<Tool>>,
    /// On whose behalf, in what context, and what the caller wants back.
    pub options: CallOptions,
}

/// What comes with a call besides its arguments.
#[derive(Clone, Debug, Default)]
pub struct CallOptions {
    /// Who calls; none is nobody in particular, and never makes or uses a grant unless that is allowed (T34).
    pub principal: Option<Principal>,
    /// Servers whose output entered the turn that led to this call (HB-3).
    pub taint: BTreeSet<String>,
    /// Values that the host program attaches. Given, they replace the client's; the two are never merged.
    pub assigns: Option<Assigns>,
    /// `_meta` for the server. The protocol's reserved keys are dropped, but for trace context and progress.
    pub meta: Object,
    /// In which form the result is wanted.
    pub shape: Shape,
    /// Gets the server's progress notices.
    pub progress: Option<ProgressSink>,
    /// Cancelled by a caller that no longer wants the call.
    pub cancel: CancellationToken,
    /// Time for sending and all input rounds, without the wait for an approver; the pipeline's default where none is given.
    pub timeout: Option<Duration>,
}

/// In which form a result is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shape {
    /// As the server gave it.
    #[default]
    Raw,
    /// Cleaned, capped and marked for a language model's context (PI-2).
    Llm,
}

/// One progress notice of a running call.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// How far, in the server's own measure; only ever rises.
    pub progress: f64,
    /// Of how much, where the server knows.
    pub total: Option<f64>,
    /// The server's words, cleaned.
    pub message: Option<String>,
}

/// Where progress notices go. Must not block.
#[derive(Clone)]
pub struct ProgressSink(Arc<dyn Fn(Progress) + Send + Sync>);

impl ProgressSink {
    /// Calls a closure for each notice.
    pub fn new(sink: impl Fn(Progress) + Send + Sync + 'static) -> Self {
        Self(Arc::new(sink))
    }

    pub(crate) fn send(&self, progress: Progress) {
        (self.0)(progress);
    }
}

impl Debug for ProgressSink {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str("ProgressSink")
    }
}

impl ToolCall {
    /// A call of a tool by its name.
    #[must_use]
    pub fn new(name: impl Into<String>, arguments: Arguments) -> Self {
        Self { name: name.into(), arguments, tool: None, options: CallOptions::default() }
    }

    /// A call of a tool that was resolved before.
    #[must_use]
    pub fn of(tool: Arc<Tool>, arguments: Arguments) -> Self {
        Self { name: tool.name().to_owned(), arguments, tool: Some(tool), options: CallOptions::default() }
    }

    /// With these options.
    #[must_use]
    pub fn with(self, options: CallOptions) -> Self {
        Self { options, ..self }
    }
}

impl CallOptions {
    /// On behalf of a principal.
    #[must_use]
    pub fn principal(self, principal: Principal) -> Self {
        Self { principal: Some(principal), ..self }
    }

    /// With these servers' output in the turn.
    #[must_use]
    pub fn taint(self, servers: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { taint: servers.into_iter().map(Into::into).collect(), ..self }
    }

    /// With values for hooks, approver and policy.
    #[must_use]
    pub fn assigns(self, assigns: impl IntoIterator<Item = (impl Into<String>, impl Into<Json>)>) -> Self {
        let assigns = assigns.into_iter().map(|(key, value)| (key.into(), value.into())).collect();
        Self { assigns: Some(Arc::new(assigns)), ..self }
    }

    /// Shaped for a language model.
    #[must_use]
    pub fn for_llm(self) -> Self {
        Self { shape: Shape::Llm, ..self }
    }
}
