//! Step 11: post-hooks on a result, or failure hooks on an error.

use std::time::Instant;

use crate::extension::{FailureHook, FailureOutcome, PostHook, PostOutcome, Refusal};
use crate::json::{Json, Object};
use crate::model::{Call, Error, Kind, Metered, Reason, Sent, Shape, ToolResult};
use crate::revision::{Entry, Revision};
use crate::run::{Ran, Run, guard, work};
use crate::shape::{Flags, clean_result};
use crate::steps::result::check_replaced;

use super::{Fault, bad_return, refusal_data};

/// Runs post-hooks on a result, `isError` and synthetic ones included, or failure hooks on an error.
pub(crate) async fn after(run: &mut Run<'_>, attempt: Result<ToolResult, Error>) -> Result<ToolResult, Error> {
    let Some(call) = run.latest.clone() else { return attempt };
    match attempt {
        Ok(result) => post_hooks(run, call, result).await,
        Err(error) => Err(failure_hooks(run, call, error).await),
    }
}

async fn post_hooks(run: &mut Run<'_>, call: Call, result: ToolResult) -> Result<ToolResult, Error> {
    let sent = if result.is_synthetic() { Sent::No } else { Sent::Yes };
    // With shaping on, hooks read cleaned text: a secret must not hide from them behind an invisible character (T18).
    let (result, cleaned) = if run.options.shape == Shape::Llm { clean_result(result) } else { (result, Flags::default()) };
    run.cleaned = cleaned;
    let revision = run.revision.clone();
    let needs_worker = revision.post_hooks.iter().any(|entry| entry.extension.needs_worker());
    let before = result.clone();
    let seen = call.clone();
    let wall_clock = revision.send.plugin_wall_clock;
    let stretch = work(needs_worker, wall_clock, move || post_stretch(&revision, &seen, result)).await;
    let (ran, outcome) = stretch.map_err(|failure| Error::hook_failed("post_hooks", &failure).with_sent(sent))?;
    run.ran("post_hook", ran);
    let result = outcome.map_err(|error| error.with_sent(sent))?;
    if result.is_synthetic() || !result.is_same(&before) {
        check_replaced(run, &call, &result).await.map_err(|error| error.with_sent(sent))?;
    }
    Ok(result)
}

fn post_stretch(revision: &Revision, call: &Call, mut result: ToolResult) -> (Vec<Ran>, Result<ToolResult, Error>) {
    let mut ran = Vec::new();
    let server = call.context.server.as_str();
    for entry in revision.post_hooks.iter().filter(|entry| entry.scope.concerns(server, call.tool.name())) {
        let since = Instant::now();
        let seen = Call { context: entry.assigns.narrow(&call.context), ..call.clone() };
        let Metered { answer, fuel, note } = guard(|| entry.extension.on_result(&seen, &result));
        let effect = answer.map_err(Fault::from).and_then(|outcome| hold_to_powers(entry, &result, outcome));
        let verdict = effect.as_ref().map(Kept::word).map_err(Fault::as_failure);
        ran.push(Ran { plugin: entry.name.clone(), verdict, fuel, note, duration: since.elapsed() });
        match effect {
            Ok(Kept::AsItIs) => {}
            Ok(Kept::Replaced(replacement)) => result = replacement,
            Ok(Kept::Back(refusal)) => return (ran, Err(withheld(&entry.name, &refusal))),
            Err(fault) => return (ran, Err(fault.into_error(&entry.name))),
        }
    }
    (ran, Ok(result))
}

/// What became of a result at one hook.
enum Kept {
    AsItIs,
    Replaced(ToolResult),
    Back(Refusal),
}

impl Kept {
    fn word(&self) -> &'static str {
        match self {
            Kept::AsItIs => "keep",
            Kept::Replaced(_) => "replace",
            Kept::Back(_) => "withhold",
        }
    }
}

fn hold_to_powers(entry: &Entry<dyn PostHook>, result: &ToolResult, outcome: PostOutcome) -> Result<Kept, Fault> {
    match outcome {
        PostOutcome::Keep => Ok(Kept::AsItIs),
        PostOutcome::Withhold(refusal) if entry.powers.withhold => Ok(Kept::Back(refusal)),
        PostOutcome::Withhold(_) => Err(Fault::Exceeded("withhold")),
        PostOutcome::Replace(value) if is_same_but_meta(&value, result.value()) => Ok(Kept::AsItIs),
        PostOutcome::Replace(value) => {
            let replacement = ToolResult::from_extension(value).map_err(bad_return)?;
            if entry.powers.replace { Ok(Kept::Replaced(result.replaced(replacement))) } else { Err(Fault::Exceeded("replace")) }
        }
    }
}

/// Whether a hook gives a result back as it can: `_meta` is the host's to keep.
fn is_same_but_meta(given_back: &Json, result: &Json) -> bool {
    let (Some(given_back), Some(result)) = (given_back.as_object(), result.as_object()) else { return false };
    let members = |object: &Object| object.len() - usize::from(object.contains_key("_meta"));
    let mut kept = result.iter().filter(|(key, _)| *key != "_meta");
    members(given_back) == members(result) && kept.all(|(key, value)| given_back.get(key) == Some(value))
}

fn withheld(plugin: &str, refusal: &Refusal) -> Error {
    let message = format!("`{plugin}` keeps the result back: {}", refusal.message);
    Error::new(Kind::Denied, Reason::ResultWithheld, message).with_data(refusal_data(plugin, refusal))
}

/// Message and data may be replaced; kind, reason and delivery stay. A hook that fails leaves the error as it was, unless it was
/// there to replace: then what it would have replaced must not get out, and the host's own words stand alone (T18).
async fn failure_hooks(run: &mut Run<'_>, call: Call, error: Error) -> Error {
    let error = if run.options.shape == Shape::Llm { crate::shape::shape_error(error) } else { error };
    let revision = run.revision.clone();
    let needs_worker = revision.failure_hooks.iter().any(|entry| entry.extension.needs_worker());
    let bare = bare(&error);
    let wall_clock = revision.send.plugin_wall_clock;
    let stretch = work(needs_worker, wall_clock, move || failure_stretch(&revision, &call, error)).await;
    let Ok((ran, error)) = stretch else { return bare };
    run.ran("failure_hook", ran);
    error
}

fn failure_stretch(revision: &Revision, call: &Call, mut error: Error) -> (Vec<Ran>, Error) {
    let mut ran = Vec::new();
    let server = call.context.server.as_str();
    for entry in revision.failure_hooks.iter().filter(|entry| entry.scope.concerns(server, call.tool.name())) {
        let since = Instant::now();
        let seen = Call { context: entry.assigns.narrow(&call.context), ..call.clone() };
        let Metered { answer, fuel, note } = guard(|| entry.extension.on_failure(&seen, &error));
        let replaced = answer.map_err(Fault::from).and_then(|outcome| replaced(entry, &error, outcome));
        let verdict = replaced.as_ref().map(|new| if new.is_some() { "replace" } else { "keep" }).map_err(Fault::as_failure);
        ran.push(Ran { plugin: entry.name.clone(), verdict, fuel, note, duration: since.elapsed() });
        match replaced {
            Ok(new) => error = new.unwrap_or(error),
            Err(_) if entry.powers.replace => error = bare(&error),
            Err(_) => {}
        }
    }
    (ran, error)
}

fn replaced(entry: &Entry<dyn FailureHook>, error: &Error, outcome: FailureOutcome) -> Result<Option<Error>, Fault> {
    match outcome {
        FailureOutcome::Keep => Ok(None),
        FailureOutcome::Replace(_) if !entry.powers.replace => Err(Fault::Exceeded("replace")),
        FailureOutcome::Replace(text) => Ok(Some(Error { message: text.message, data: text.data.unwrap_or(Json::Null), ..error.clone() })),
    }
}

/// The host's own words only.
fn bare(error: &Error) -> Error {
    let message = format!("the call failed: {}", error.reason.as_str());
    Error { message, data: Json::Null, ..error.clone() }
}
