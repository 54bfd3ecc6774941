//! Step 4: pre-hooks, in the configured order.

use std::sync::Arc;
use std::time::Instant;

use crate::extension::{PreHook, PreOutcome, Refusal};
use crate::json::{Json, diff};
use crate::model::{Arguments, Call, Context, Error, Kind, Metered, Reason, ToolResult};
use crate::revision::{Entry, Revision};
use crate::run::{Ran, Run, guard, work};

use super::{Fault, bad_return, may_rewrite, refusal_data};

/// What pre-hooks that want the call asked about said, by name and message.
pub(crate) type Asks = Vec<(String, String)>;

/// What becomes of a call after the pre-hooks.
pub(crate) enum Before {
    /// It goes on, perhaps with other arguments.
    Proceed(Call, Asks),
    /// It ends with a result that a hook made; nothing is sent.
    Halt(ToolResult),
}

/// What one hook did, held to its powers.
enum Effect {
    Proceed,
    Rewrite(Arguments),
    Ask(Refusal),
    Deny(Refusal),
    Halt(ToolResult),
}

/// Runs the pre-hooks.
pub(crate) async fn before(run: &mut Run<'_>, call: Call) -> Result<Before, Error> {
    let since = Instant::now();
    let revision = run.revision.clone();
    let needs_worker = revision.pre_hooks.iter().any(|entry| entry.extension.needs_worker());
    let wall_clock = revision.send.plugin_wall_clock;
    let stretch = work(needs_worker, wall_clock, move || stretch(&revision, call)).await;
    let (ran, outcome, call) = stretch.map_err(|failure| Error::hook_failed("pre_hooks", &failure))?;
    run.ran("pre_hook", ran);
    run.latest = Some(call);
    if let Ok(Before::Halt(_)) = &outcome {
        run.step("pre_hook", "halt", since);
        run.step("policy", "skipped", since);
    }
    outcome
}

/// One job for all of them: a hop to a worker costs more than a plugin. Gives back the call as the last hook left it, too.
fn stretch(revision: &Revision, mut call: Call) -> (Vec<Ran>, Result<Before, Error>, Call) {
    let (mut ran, mut asks) = (Vec::new(), Asks::new());
    let context = call.context.clone();
    for entry in revision.pre_hooks.iter().filter(|entry| entry.scope.concerns(context.server.as_str(), call.tool.name())) {
        let (report, effect) = one(entry, &call, &context);
        ran.push(report);
        match effect {
            Ok(Effect::Proceed) => {}
            Ok(Effect::Rewrite(arguments)) => call.arguments = arguments,
            Ok(Effect::Ask(refusal)) => asks.push((entry.name.clone(), refusal.message)),
            Ok(Effect::Deny(refusal)) => return (ran, Err(denied(&entry.name, &refusal)), call),
            Ok(Effect::Halt(result)) => return (ran, Ok(Before::Halt(result)), call),
            Err(fault) => return (ran, Err(fault.into_error(&entry.name)), call),
        }
    }
    (ran, Ok(Before::Proceed(call.clone(), asks)), call)
}

fn one(entry: &Entry<dyn PreHook>, call: &Call, context: &Arc<Context>) -> (Ran, Result<Effect, Fault>) {
    let since = Instant::now();
    let seen = Call { context: entry.assigns.narrow(context), ..call.clone() };
    let Metered { answer, fuel, note } = guard(|| entry.extension.on_call(&seen));
    let effect = answer.map_err(Fault::from).and_then(|outcome| hold_to_powers(entry, call, outcome));
    let verdict = effect.as_ref().map(Effect::word).map_err(Fault::as_failure);
    (Ran { plugin: entry.name.clone(), verdict, fuel, note, duration: since.elapsed() }, effect)
}

fn hold_to_powers(entry: &Entry<dyn PreHook>, call: &Call, outcome: PreOutcome) -> Result<Effect, Fault> {
    let powers = &entry.powers;
    match outcome {
        PreOutcome::Proceed => Ok(Effect::Proceed),
        PreOutcome::Deny(refusal) if powers.deny => Ok(Effect::Deny(refusal)),
        PreOutcome::Deny(_) => Err(Fault::Exceeded("deny")),
        PreOutcome::Ask(refusal) if powers.ask => Ok(Effect::Ask(refusal)),
        PreOutcome::Ask(_) => Err(Fault::Exceeded("ask")),
        PreOutcome::Halt(result) if powers.halt => ToolResult::from_extension(result).map(Effect::Halt).map_err(bad_return),
        PreOutcome::Halt(_) => Err(Fault::Exceeded("halt")),
        PreOutcome::Rewrite(value) => rewritten(entry, call, value),
    }
}

/// The host makes the change itself, of its own predecessor: where nothing differs, not a byte does (T20).
fn rewritten(entry: &Entry<dyn PreHook>, call: &Call, value: Json) -> Result<Effect, Fault> {
    let arguments = Arguments::from_json(value).map_err(bad_return)?;
    let changes = diff(call.arguments.value(), arguments.value());
    if changes.is_empty() {
        return Ok(Effect::Proceed);
    }
    if may_rewrite(&entry.powers, &changes) { Ok(Effect::Rewrite(arguments)) } else { Err(Fault::Exceeded("rewrite")) }
}

impl Effect {
    fn word(&self) -> &'static str {
        match self {
            Effect::Proceed => "proceed",
            Effect::Rewrite(_) => "rewrite",
            Effect::Ask(_) => "ask",
            Effect::Deny(_) => "deny",
            Effect::Halt(_) => "halt",
        }
    }
}

fn denied(plugin: &str, refusal: &Refusal) -> Error {
    let message = format!("`{plugin}` denied the call: {}", refusal.message);
    Error::new(Kind::Denied, Reason::HookDenied, message).with_data(refusal_data(plugin, refusal))
}
