//! A plugin as the extension points of core: each kind shows the sandbox just what its row allows.

use std::sync::Arc;

use async_trait::async_trait;
use callgate_core::extension::{
    Approver, FailureHook, FailureOutcome, Filter, Finding, PostHook, PostOutcome, PreHook, PreOutcome, Predicate, Prompt, Verdict,
    Visibility,
};
use callgate_core::model::{Call, Context, Error, Metered, Question, Tool, ToolResult};

use crate::answers;
use crate::kind::{Interface, Kind};
use crate::plugin::{Bound, Loaded, Plugin};
use crate::state::Subject;

/// A plugin as one of its kinds.
struct Extension {
    loaded: Arc<Loaded>,
    /// Which of the bound kinds; always there, since [`Plugin::extension`] found it.
    at: usize,
    /// A result is copied into the Store only for a plugin that can read it.
    reads_result: bool,
}

impl Plugin {
    fn extension(&self, kind: Kind) -> Option<Arc<Extension>> {
        let loaded = self.loaded().clone();
        let at = loaded.bound.iter().position(|bound| bound.kind == kind)?;
        let reads_result = loaded.inspection.imports.iter().any(|import| import.interface == Some(Interface::ToolResult));
        Some(Arc::new(Extension { loaded, at, reads_result }))
    }

    /// As a filter, if it is one.
    #[must_use]
    pub fn filter(&self) -> Option<Arc<dyn Filter>> {
        self.extension(Kind::Filter).map(|extension| extension as Arc<dyn Filter>)
    }

    /// As a predicate, if it is one.
    #[must_use]
    pub fn predicate(&self) -> Option<Arc<dyn Predicate>> {
        self.extension(Kind::Predicate).map(|extension| extension as Arc<dyn Predicate>)
    }

    /// As a pre-hook, if it is one.
    #[must_use]
    pub fn pre_hook(&self) -> Option<Arc<dyn PreHook>> {
        self.extension(Kind::PreHook).map(|extension| extension as Arc<dyn PreHook>)
    }

    /// As a post-hook, if it is one.
    #[must_use]
    pub fn post_hook(&self) -> Option<Arc<dyn PostHook>> {
        self.extension(Kind::PostHook).map(|extension| extension as Arc<dyn PostHook>)
    }

    /// As a failure hook, if it is one.
    #[must_use]
    pub fn failure_hook(&self) -> Option<Arc<dyn FailureHook>> {
        self.extension(Kind::FailureHook).map(|extension| extension as Arc<dyn FailureHook>)
    }

    /// As an approver, if it is one.
    #[must_use]
    pub fn approver(&self) -> Option<Arc<dyn Approver>> {
        self.extension(Kind::Approver).map(|extension| extension as Arc<dyn Approver>)
    }
}

impl Extension {
    #[expect(clippy::indexing_slicing, reason = "`at` was found in the same list, which never changes")]
    fn bound(&self) -> &Bound {
        &self.loaded.bound[self.at]
    }
}

fn of_call(call: &Call) -> Subject {
    Subject {
        tool: Some(call.tool.clone()),
        context: Some(call.context.clone()),
        arguments: Some(call.arguments.clone()),
        ..Subject::default()
    }
}

impl Filter for Extension {
    fn visible(&self, tool: &Arc<Tool>, context: &Arc<Context>) -> Metered<Visibility> {
        let subject = Subject { tool: Some(tool.clone()), context: Some(context.clone()), ..Subject::default() };
        self.loaded.run(self.bound(), subject).map(|answer| Ok(answers::visibility(answer)))
    }

    fn needs_worker(&self) -> bool {
        true
    }
}

impl Predicate for Extension {
    fn matches(&self, call: &Call) -> Metered<Finding> {
        self.loaded.run(self.bound(), of_call(call)).map(|answer| Ok(answers::finding(answer)))
    }

    fn needs_worker(&self) -> bool {
        true
    }
}

impl PreHook for Extension {
    fn on_call(&self, call: &Call) -> Metered<PreOutcome> {
        self.loaded.run(self.bound(), of_call(call)).map(answers::pre_outcome)
    }

    fn needs_worker(&self) -> bool {
        true
    }
}

impl PostHook for Extension {
    fn on_result(&self, call: &Call, result: &ToolResult) -> Metered<PostOutcome> {
        let subject = Subject { result: self.reads_result.then(|| result.clone()), ..of_call(call) };
        self.loaded.run(self.bound(), subject).map(answers::post_outcome)
    }

    fn needs_worker(&self) -> bool {
        true
    }
}

impl FailureHook for Extension {
    fn on_failure(&self, call: &Call, error: &Error) -> Metered<FailureOutcome> {
        let subject = Subject { error: Some(error.clone()), ..of_call(call) };
        self.loaded.run(self.bound(), subject).map(answers::failure_outcome)
    }

    fn needs_worker(&self) -> bool {
        true
    }
}

#[async_trait]
impl Approver for Extension {
    async fn review(&self, call: Call, question: Arc<Question>, prompt: Prompt) -> Metered<Verdict> {
        let subject = Subject { question: Some(question), prompt: Some(prompt), ..of_call(&call) };
        self.loaded.review(self.bound(), subject).await.map(answers::verdict)
    }
}
