//! The approver: asked in a task of its own under the ask time-out, with exactly what will be sent (PO-11).

use std::sync::Arc;
use std::time::Instant;

use crate::extension::{Approver, Prompt, PromptOutcome, Refusal, Verdict};
use crate::json::{Json, diff, patch};
use crate::model::{Call, Error, Failure, FailureKind, GrantTerms, Kind, Limit, Metered, Question, Reason};
use crate::revision::{Entry, Powers};
use crate::run::{Ran, Run, now_ms};
use crate::steps::meta;
use crate::steps::policy::Decided;

/// A yes.
pub(super) enum Approval {
    Once,
    Always(GrantTerms),
}

/// Asks the approver. Without one, the call is denied with the ask's own reason.
pub(super) async fn review(run: &mut Run<'_>, call: &Call, decided: &Decided) -> Result<Approval, Error> {
    let Some(entry) = run.revision.approver.clone() else { return Err(Error::denied(&decided.decision)) };
    let since = Instant::now();
    let question = Arc::new(question(run, call, decided));
    let prompt = Prompt::new(run.pipeline.prompter.clone(), call.clone(), question.clone());
    let (answered, cancelled) = ask(run, &entry, call, question, prompt.clone()).await;
    let Metered { answer, fuel, note } = answered;
    let verdict = answer.and_then(|verdict| hold_to_powers(&entry.powers, verdict, prompt.outcome()));
    let word = verdict.as_ref().map(Verdict::as_str).map_err(Clone::clone);
    run.ran("ask", vec![Ran { plugin: entry.name, verdict: word, fuel, note, duration: since.elapsed() }]);
    if cancelled {
        return Err(Error::new(Kind::Denied, Reason::Cancelled, "the caller cancelled the call while it waited for approval"));
    }
    match verdict {
        Ok(Verdict::AllowOnce) => Ok(Approval::Once),
        // An ask that cannot be granted is still a yes for this call.
        Ok(Verdict::AllowAlways(_)) if !decided.decision.grantable => Ok(Approval::Once),
        Ok(Verdict::AllowAlways(terms)) => Ok(Approval::Always(terms)),
        Ok(Verdict::Deny(refusal)) => Err(denied(Reason::AskDenied, &refusal)),
        Ok(Verdict::DenyAndHalt(refusal)) => Err(denied(Reason::AskHalt, &refusal)),
        Err(failure) => {
            let message = format!("nobody approved the call: the approver failed ({failure})");
            Err(Error::new(Kind::Denied, Reason::AskFailed, message).with_data(failure.to_json(None)))
        }
    }
}

/// Runs the review. Ends with the time-out, or when the caller cancels; either ends the approver too.
async fn ask(run: &Run<'_>, entry: &Entry<dyn Approver>, call: &Call, question: Arc<Question>, prompt: Prompt) -> (Metered<Verdict>, bool) {
    let approver = entry.extension.clone();
    let seen = Call { context: entry.assigns.narrow(&call.context), ..call.clone() };
    let mut task = tokio::spawn(async move { approver.review(seen, question, prompt).await });
    let _ended_with_us = AbortOnDrop(task.abort_handle());
    tokio::select! {
        biased;
        () = run.options.cancel.cancelled() => (Err(Failure::new(FailureKind::Exit)).into(), true),
        () = tokio::time::sleep(run.revision.ask.timeout) => (Err(Failure::timeout(Limit::WallClock)).into(), false),
        ended = &mut task => match ended {
            Ok(answered) => (answered, false),
            Err(error) if error.is_cancelled() => (Err(Failure::new(FailureKind::Exit)).into(), false),
            Err(_) => (Err(Failure::new(FailureKind::Trap)).into(), false),
        },
    }
}

struct AbortOnDrop(tokio::task::AbortHandle);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// After a prompt, an approver may say at most what the person said; without one, it may say yes only with `decide`; and for good
/// only with `always` (T7).
fn hold_to_powers(powers: &Powers, verdict: Verdict, prompted: PromptOutcome) -> Result<Verdict, Failure> {
    let allows = matches!(verdict, Verdict::AllowOnce | Verdict::AllowAlways(_));
    let refused = |what: &str| Err(Failure::new(FailureKind::Refused).with_text(what));
    let verdict = match prompted {
        PromptOutcome::Answered(person) => person.stricter(verdict),
        PromptOutcome::NoAnswer if allows => return refused("it allowed the call though no person answered"),
        PromptOutcome::NotAsked if allows && !powers.decide => {
            return refused("it allowed the call without asking a person, and lacks `decide`");
        }
        PromptOutcome::NoAnswer | PromptOutcome::NotAsked => verdict,
    };
    match verdict {
        Verdict::AllowAlways(_) if !powers.always => Ok(Verdict::AllowOnce),
        verdict => Ok(verdict),
    }
}

fn question(run: &Run<'_>, call: &Call, decided: &Decided) -> Question {
    let timeout = u64::try_from(run.revision.ask.timeout.as_millis()).unwrap_or(u64::MAX);
    let approved = decided.pin.approved.as_ref().map(|pinned| &pinned.definition).filter(|definition| !matches!(definition, Json::Null));
    Question {
        reason: decided.decision.reason,
        rule: decided.decision.rule.clone(),
        causes: decided.decision.causes.iter().map(ToString::to_string).collect(),
        hook_messages: decided.asks.clone(),
        earlier_arguments: run.pipeline.earlier.recall(run, call),
        definition_changes: approved.map(|approved| patch(&diff(approved, call.tool.definition()))),
        expires_ms: now_ms().saturating_add(timeout),
        meta: meta::kept(&run.options.meta).into(),
    }
}

fn denied(reason: Reason, refusal: &Refusal) -> Error {
    let stop = if reason == Reason::AskHalt { " and to stop" } else { "" };
    let data = [("reason", Json::from(refusal.reason.as_str())), ("message", refusal.message.as_str().into())];
    let data = data.into_iter().chain(refusal.data.clone().map(|data| ("data", data))).collect();
    Error::new(Kind::Denied, reason, format!("the approver said no{stop}: {}", refusal.message)).with_data(data)
}
