//! What happened, for those who watch: the requirement's events, as `tracing` events and for an [`Observer`].
//!
//! Events carry codes, names, digests and durations: never arguments, results, or a plugin's, approver's or server's text (T22).
//! Arguments and results come with the stop event only where payload capture asks for them.

use std::time::Duration;

use crate::digest::ArgsDigest;
use crate::json::Json;
use crate::model::{CallId, Decision, Failure, Kind, Principal, Reason, Sent, ServerName};

/// Something that watches calls. Must not block: what takes time belongs on a queue of its own.
pub trait Observer: Send + Sync {
    /// Called as things happen, in the order of one call.
    fn observe(&self, event: &Event<'_>);
}

impl<F: Fn(&Event<'_>) + Send + Sync> Observer for F {
    fn observe(&self, event: &Event<'_>) {
        self(event);
    }
}

/// One thing that happened.
#[derive(Clone, Debug)]
pub enum Event<'a> {
    /// A policy evaluation (`policy` decision).
    Policy {
        /// The call.
        call: &'a Subject,
        /// What was decided.
        decision: &'a Decision,
    },
    /// An extension point answered (`hook` stop).
    HookStop {
        /// The call.
        call: &'a Subject,
        /// Which step: `select`, `pre_hook`, `policy`, `ask`, `post_hook`, `failure_hook`.
        step: &'static str,
        /// The plugin's or closure's name in the configuration.
        plugin: &'a str,
        /// What it answered, in one word.
        verdict: &'static str,
        /// Fuel it burned.
        fuel: Option<u64>,
        /// How long it took.
        duration: Duration,
    },
    /// An extension point gave no answer, or went beyond its powers (`hook` exception).
    HookException {
        /// The call.
        call: &'a Subject,
        /// Which step.
        step: &'static str,
        /// The plugin's or closure's name in the configuration.
        plugin: &'a str,
        /// How it failed.
        failure: &'a Failure,
        /// How long it took.
        duration: Duration,
    },
    /// A baseline of definitions was recorded.
    BaselineRecorded {
        /// The server.
        server: &'a ServerName,
        /// How many tools it has.
        tools: usize,
    },
    /// A listed tool is not offered.
    ToolDropped {
        /// The server.
        server: &'a ServerName,
        /// Which entry of the listing, from 0.
        index: usize,
        /// Why, in the host's words.
        defect: String,
    },
    /// A listed tool has the definition of an approved one, under another name.
    ToolRenamed {
        /// The server.
        server: &'a ServerName,
        /// The approved name.
        from: &'a str,
        /// The new name.
        to: &'a str,
    },
    /// A call ended (`tool_call` stop).
    ToolCallStop {
        /// The call.
        call: &'a Subject,
        /// The final arguments' digest, where a call got so far as to have them.
        digest: Option<ArgsDigest>,
        /// How it ended.
        outcome: Outcome,
        /// How long all of it took.
        duration: Duration,
        /// Arguments as given, where captured.
        arguments: Option<Json>,
        /// The result as returned, where captured.
        result: Option<Json>,
    },
}

/// Which call an event is about.
#[derive(Clone, Debug)]
pub struct Subject {
    /// The call.
    pub call_id: Option<CallId>,
    /// Who called.
    pub principal: Option<Principal>,
    /// The server.
    pub server: ServerName,
    /// The tool's name, as the caller gave it, escaped and cut to 128 characters.
    pub tool: String,
    /// The configuration it ran on.
    pub revision: String,
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// With a result.
    Result {
        /// Whether the tool itself failed.
        is_error: bool,
        /// Whether a hook made it.
        synthetic: bool,
    },
    /// Without one.
    Error {
        /// Which part said no.
        kind: Kind,
        /// Why.
        reason: Reason,
        /// Whether it may have had its effect.
        sent: Sent,
    },
}

/// What is captured with the stop event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Capture {
    /// The arguments as the caller gave them: the span opens before the pre-hooks.
    pub arguments: bool,
    /// What the call returns, after post-hooks and shaping.
    pub result: bool,
}

/// Writes an event to `tracing`, under the requirement's names.
pub(crate) fn trace(event: &Event<'_>) {
    match event {
        Event::Policy { call, decision } => tracing::info!(
            name: "policy.decision", target: "callgate::policy",
            call_id = call.id(), server = call.server.as_str(), tool = call.tool,
            effect = decision.effect.as_str(), reason = decision.reason.as_str(), rule = decision.rule,
            "decision"
        ),
        Event::HookStop { call, step, plugin, verdict, fuel, duration } => tracing::debug!(
            name: "hook.stop", target: "callgate::hook",
            call_id = call.id(), server = call.server.as_str(), tool = call.tool,
            step, plugin, verdict, fuel, micros = micros(*duration), "stop"
        ),
        Event::HookException { call, step, plugin, failure, duration } => tracing::warn!(
            name: "hook.exception", target: "callgate::hook",
            call_id = call.id(), server = call.server.as_str(), tool = call.tool,
            step, plugin, failure = failure.kind.as_str(), limit = failure.limit.map(|limit| limit.as_str()),
            micros = micros(*duration), "exception"
        ),
        Event::BaselineRecorded { server, tools } => tracing::info!(
            name: "pins.baseline", target: "callgate::pins", server = server.as_str(), tools, "baseline recorded"
        ),
        Event::ToolDropped { server, index, defect } => tracing::warn!(
            name: "tools.dropped", target: "callgate::tools", server = server.as_str(), index, defect, "tool dropped"
        ),
        Event::ToolRenamed { server, from, to } => tracing::warn!(
            name: "pins.renamed", target: "callgate::pins", server = server.as_str(), from, to, "tool renamed"
        ),
        Event::ToolCallStop { call, digest, outcome, duration, arguments, result } => {
            let digest = digest.map(|digest| digest.to_string());
            let (arguments, result) = (arguments.as_ref().map(ToString::to_string), result.as_ref().map(ToString::to_string));
            let error = outcome.error();
            tracing::info!(
                name: "tool_call.stop", target: "callgate::tool_call",
                call_id = call.id(), server = call.server.as_str(), tool = call.tool, revision = call.revision,
                args_digest = digest, outcome = if error.is_some() { "error" } else { "result" },
                kind = error.map(|(kind, ..)| kind.as_str()), reason = error.map(|(_, reason, _)| reason.as_str()),
                sent = error.map(|(.., sent)| sent.as_str()), micros = micros(*duration), arguments, result, "stop"
            );
        }
    }
}

impl Subject {
    fn id(&self) -> Option<&str> {
        self.call_id.as_ref().map(CallId::as_str)
    }
}

impl Outcome {
    fn error(self) -> Option<(Kind, Reason, Sent)> {
        match self {
            Outcome::Result { .. } => None,
            Outcome::Error { kind, reason, sent } => Some((kind, reason, sent)),
        }
    }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}
