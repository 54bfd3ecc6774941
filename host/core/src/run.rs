//! One call on its way: what every step needs to know, and what each of them said.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::catalog::Listing;
use crate::digest::ArgsDigest;
use crate::json::Json;
use crate::model::{
    Call, CallId, CallOptions, Context, Error, Failure, FailureKind, Limit, Metered, PluginBudget, Reply, Shape, Tool, ToolCall,
};
use crate::observe::{self, Event, Outcome, Subject};
use crate::pipeline::Pipeline;
use crate::revision::Revision;
use crate::shape::Flags;

/// The longest time for sending: a week. A caller's "for ever" would be no instant at all.
const LONGEST_TIMEOUT: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// The state of one logical call.
pub(crate) struct Run<'a> {
    pub(crate) pipeline: &'a Pipeline,
    pub(crate) revision: Arc<Revision>,
    pub(crate) call_id: CallId,
    pub(crate) options: CallOptions,
    pub(crate) now_ms: u64,
    pub(crate) started: Instant,
    /// When sending must be over; the wait for an approver is added to it.
    pub(crate) deadline: Instant,
    pub(crate) budget: PluginBudget,
    /// The call as the last step left it: what failure hooks see.
    pub(crate) latest: Option<Call>,
    /// The listing that the tool was resolved from.
    pub(crate) listing: Option<Arc<Listing>>,
    /// Whether a grant alone approves the tool's definition.
    pub(crate) pin_lifted: bool,
    /// What cleaning before the post-hooks changed.
    pub(crate) cleaned: Flags,
    subject: Subject,
    steps: Vec<Step>,
    captured_arguments: Option<Json>,
}

/// A call's outcome and what each step said.
#[derive(Debug)]
pub struct Traced {
    /// The call's id, as records and errors name it.
    pub call_id: CallId,
    /// The revision it ran on.
    pub revision: String,
    /// What it gave.
    pub outcome: Result<Reply, Error>,
    /// The steps in order.
    pub steps: Vec<Step>,
}

/// What one step, or one extension point in it, said.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The step's name.
    pub step: &'static str,
    /// What it said, in one word.
    pub verdict: &'static str,
    /// Which extension point.
    pub plugin: Option<String>,
    /// Fuel it burned.
    pub fuel: Option<u64>,
    /// How long it took.
    pub duration: Duration,
    /// Why, for the operator: a rule's name, or an extension point's own words, shown as text.
    pub note: Option<String>,
}

/// What one extension point did, brought back from where it ran.
pub(crate) struct Ran {
    pub(crate) plugin: String,
    pub(crate) verdict: Result<&'static str, Failure>,
    pub(crate) fuel: Option<u64>,
    pub(crate) note: Option<String>,
    pub(crate) duration: Duration,
}

impl<'a> Run<'a> {
    pub(crate) fn open(pipeline: &'a Pipeline, call: &ToolCall) -> Self {
        let revision = pipeline.revision.load_full();
        let started = Instant::now();
        let call_id = CallId::fresh();
        let timeout = call.options.timeout.unwrap_or(revision.send.timeout).min(LONGEST_TIMEOUT);
        // What follows sending needs some of the time, too.
        let reserve = (timeout / 20).min(Duration::from_secs(2));
        let subject = Subject {
            call_id: Some(call_id.clone()),
            principal: call.options.principal.clone(),
            server: pipeline.upstream.identity().name.clone(),
            tool: call.name.chars().take(128).flat_map(char::escape_default).collect(),
            revision: revision.id.clone(),
        };
        Self {
            pipeline,
            call_id,
            options: call.options.clone(),
            now_ms: now_ms(),
            started,
            deadline: started + timeout.saturating_sub(reserve),
            budget: PluginBudget::new(revision.send.plugin_budget),
            latest: None,
            listing: None,
            pin_lifted: false,
            cleaned: Flags::default(),
            subject,
            steps: Vec::new(),
            captured_arguments: revision.capture.arguments.then(|| call.arguments.value().clone()),
            revision,
        }
    }

    /// Whether this call goes through the pipeline, or is sent as given (R6).
    pub(crate) fn is_governed(&self) -> bool {
        self.revision.governs() || self.options.shape == Shape::Llm
    }

    /// The context before step 3 has gathered the approved fingerprints.
    pub(crate) fn context(&self, era: crate::model::Era) -> Context {
        Context {
            call_id: Some(self.call_id.clone()),
            now_ms: self.now_ms,
            server: self.subject.server.clone(),
            era,
            principal: self.options.principal.clone(),
            taint: self.options.taint.clone(),
            assigns: self.options.assigns.clone().unwrap_or_else(|| self.pipeline.assigns.clone()),
            has_approver: self.revision.approver.is_some(),
            approved_fingerprints: Vec::new(),
            budget: self.budget.clone(),
        }
    }

    /// From here on there is a call, and errors reach the failure hooks.
    pub(crate) fn begin(&mut self, resolved: (Arc<Tool>, Context), given: ToolCall) -> Call {
        let (tool, context) = resolved;
        let call = Call { tool, arguments: given.arguments, context: Arc::new(context) };
        self.latest = Some(call.clone());
        call
    }

    /// Notes what a step said.
    pub(crate) fn step(&mut self, step: &'static str, verdict: &'static str, since: Instant) {
        self.step_with(step, verdict, since, None);
    }

    /// Notes what a step said, and why.
    pub(crate) fn step_with(&mut self, step: &'static str, verdict: &'static str, since: Instant, note: Option<String>) {
        self.steps.push(Step { step, verdict, plugin: None, fuel: None, duration: since.elapsed(), note });
    }

    /// Notes a step's verdict by its outcome: `passed`, or the error's reason.
    pub(crate) fn judged<T>(&mut self, step: &'static str, since: Instant, outcome: Result<T, Error>) -> Result<T, Error> {
        self.step(step, outcome.as_ref().map_or_else(|error| error.reason.as_str(), |_| "passed"), since);
        outcome
    }

    /// Notes and reports what extension points did.
    pub(crate) fn ran(&mut self, step: &'static str, ran: Vec<Ran>) {
        for Ran { plugin, verdict, fuel, note, duration } in ran {
            let call = &self.subject;
            match &verdict {
                Ok(verdict) => {
                    self.emit(&Event::HookStop { call, step, plugin: &plugin, verdict, fuel, duration });
                }
                Err(failure) => self.emit(&Event::HookException { call, step, plugin: &plugin, failure, duration }),
            }
            let words = verdict.as_ref().err().and_then(|failure| failure.text.clone()).or(note);
            self.steps.push(Step {
                step,
                verdict: verdict.unwrap_or_else(|failure| failure.kind.as_str()),
                plugin: Some(plugin),
                fuel,
                duration,
                note: words.map(|text| crate::shape::show_text(&text)),
            });
        }
    }

    /// Reports an event.
    pub(crate) fn emit(&self, event: &Event<'_>) {
        self.pipeline.emit(event);
    }

    /// Reports a policy decision.
    pub(crate) fn decided(&self, decision: &crate::model::Decision) {
        self.emit(&Event::Policy { call: &self.subject, decision });
    }

    /// Step 13: the stop event, whatever happened before.
    pub(crate) fn close(self, outcome: Result<Reply, Error>) -> Traced {
        // An error's text reaches a model on the same path as a result's.
        let shape_error = |error| if self.options.shape == Shape::Llm { crate::shape::shape_error(error) } else { error };
        let outcome = outcome.map_err(shape_error);
        let ended = match &outcome {
            Ok(reply) => Outcome::Result { is_error: reply.is_error(), synthetic: reply.is_synthetic() },
            Err(error) => Outcome::Error { kind: error.kind, reason: error.reason, sent: error.sent },
        };
        let result = outcome.as_ref().ok().filter(|_| self.revision.capture.result).map(|reply| reply.value().clone());
        self.emit(&Event::ToolCallStop {
            call: &self.subject,
            digest: self.digest(),
            outcome: ended,
            duration: self.started.elapsed(),
            arguments: self.captured_arguments.clone(),
            result,
        });
        Traced { call_id: self.call_id, revision: self.revision.id.clone(), outcome, steps: self.steps }
    }

    fn digest(&self) -> Option<ArgsDigest> {
        self.latest.as_ref().map(|call| call.arguments.digest())
    }
}

impl Pipeline {
    /// Reports an event to `tracing` and to every observer. One that panics is the host program's fault, not the call's.
    pub(crate) fn emit(&self, event: &Event<'_>) {
        observe::trace(event);
        for observer in &self.observers {
            let watched = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| observer.observe(event)));
            if watched.is_err() {
                tracing::error!(target: "callgate::observer", "an observer panicked");
            }
        }
    }
}

/// Runs an extension point. A panic is a trap: it ends this call, not the host.
pub(crate) fn guard<T>(run: impl FnOnce() -> Metered<T>) -> Metered<T> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).unwrap_or_else(|_| Err(Failure::new(FailureKind::Trap)).into())
}

/// Runs a stretch of extension points: as one job on a worker where any of them needs one, else right here.
///
/// A plugin has limits of its own; the wall clock is the backstop behind them. When it ends the wait, the call fails closed, and
/// whatever the worker still does comes too late to count.
pub(crate) async fn work<T: Send + 'static>(
    needs_worker: bool,
    wall_clock: Duration,
    job: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Failure> {
    if !needs_worker {
        return Ok(job());
    }
    match tokio::time::timeout(wall_clock, tokio::task::spawn_blocking(job)).await {
        Ok(ended) => ended.map_err(|_| Failure::new(FailureKind::Trap)),
        Err(_) => Err(Failure::timeout(Limit::WallClock)),
    }
}

pub(crate) fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
