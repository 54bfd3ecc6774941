//! The heart: one tool call through thirteen steps.

use std::sync::Arc;

use arc_swap::ArcSwap;

use crate::catalog::Catalog;
use crate::extension::Prompter;
use crate::handler::Handler;
use crate::model::{Assigns, Error, Reply, ToolCall};
use crate::observe::Observer;
use crate::revision::Revision;
use crate::run::{Run, Traced};
use crate::schema::SchemaCache;
use crate::steps::{arguments, ask, encode, fingerprint, hooks, plain, policy, resolve, result, select, send, shaping};
use crate::store::{GrantStore, PinStore};
use crate::upstream::Upstream;

pub use crate::builder::PipelineBuilder;

/// Governs the tool calls of one server.
pub struct Pipeline {
    pub(crate) upstream: Arc<dyn Upstream>,
    pub(crate) revision: ArcSwap<Revision>,
    pub(crate) catalog: Catalog,
    pub(crate) grants: Arc<dyn GrantStore>,
    pub(crate) pins: Arc<dyn PinStore>,
    pub(crate) handler: Option<Arc<dyn Handler>>,
    pub(crate) prompter: Option<Arc<dyn Prompter>>,
    pub(crate) observers: Vec<Arc<dyn Observer>>,
    pub(crate) assigns: Assigns,
    pub(crate) schemas: SchemaCache,
    pub(crate) earlier: ask::Earlier,
}

impl Pipeline {
    /// Runs one call: selection, hooks, validation, policy and approval around one `tools/call`.
    ///
    /// # Errors
    /// Whatever keeps the call from a result: see [`crate::model::Kind`] and [`crate::model::Reason`].
    pub async fn run(&self, call: ToolCall) -> Result<Reply, Error> {
        self.run_traced(call).await.outcome
    }

    /// As [`Pipeline::run`], with what each step said: for the operator, never for a caller who may not know of hidden tools (T30).
    pub async fn run_traced(&self, call: ToolCall) -> Traced {
        let mut run = Run::open(self, &call);
        let outcome = if run.is_governed() { govern(&mut run, call).await } else { plain::send(&mut run, call).await };
        run.close(outcome) //                                                 13 telemetry
    }

    /// Replaces what later calls depend on. Calls in flight stay on the revision they started with, but a deny rule of the new one
    /// holds them back until they are sent (T6).
    pub fn swap(&self, revision: Revision) {
        self.revision.store(Arc::new(revision));
    }

    /// What calls depend on now.
    #[must_use]
    pub fn revision(&self) -> Arc<Revision> {
        self.revision.load_full()
    }
}

async fn govern(run: &mut Run<'_>, given: ToolCall) -> Result<Reply, Error> {
    let tool = resolve::resolve(run, &given).await?; //                        1 resolve
    select::select(run, &given.name, &tool).await?; //                         2 select: hidden looks unknown
    let call = run.begin(tool, given);
    let attempt = async {
        let (call, pin) = fingerprint::gather(run, call).await?; //            3 fingerprint
        let (call, asks) = match hooks::before(run, call).await? {
            hooks::Before::Proceed(call, asks) => (call, asks), //             4 pre-hooks
            hooks::Before::Halt(result) => return Ok(result),
        };
        arguments::check(run, &call).await?; //                                5 input schema
        let decision = policy::decide(run, &call, pin, asks).await; //         6 policy, on the final arguments
        let authorized = ask::settle(run, &call, decision).await?; //          7 ask
        let encoded = encode::encode(run, &call, authorized).await?; //        8 encode: the seal must still hold
        let result = send::send(run, encoded).await?; //                       9 send, all input rounds
        result::check(run, &call, &result).await?; //                         10 output schema
        Ok(result)
    }
    .await;
    let result = hooks::after(run, attempt).await?; //                        11 post-hooks, or failure hooks
    Ok(shaping::shape(run, result)) //                                        12 shape for a model
}
