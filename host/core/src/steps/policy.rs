//! Step 6: policy, on the final arguments. Total: it always decides.

use std::sync::Arc;
use std::time::Instant;

use crate::extension::Finding;
use crate::model::{Call, Decision, Effect, Error, Failure, Kind, Metered, Reason};
use crate::policy::{Evidence, Policy, PredicateEntry, Truth};
use crate::revision::Revision;
use crate::run::{Ran, Run, guard, work};

use super::fingerprint::Pin;
use super::hooks::Asks;

/// What policy decided, with what the approver should hear about it.
pub(crate) struct Decided {
    pub(crate) decision: Decision,
    pub(crate) pin: Pin,
    pub(crate) asks: Asks,
}

/// Decides. Without a policy the verdict is `no_policy`, but a pre-hook's ask is still one.
pub(crate) async fn decide(run: &mut Run<'_>, call: &Call, pin: Pin, asks: Asks) -> Decided {
    let since = Instant::now();
    let hook_asks: Vec<String> = asks.iter().map(|(name, _)| name.clone()).collect();
    let decision = match &run.revision.policy {
        None if hook_asks.is_empty() => Decision::no_policy(),
        None => Decision::hook_ask(&hook_asks),
        Some(policy) => {
            let evidence = Evidence { pin: pin.reason, hook_asks };
            let needs_worker = policy.predicates().any(|entry| entry.predicate.needs_worker());
            let (revision, call) = (run.revision.clone(), call.clone());
            let wall_clock = revision.send.plugin_wall_clock;
            let evaluated = work(needs_worker, wall_clock, move || evaluate(&revision, &call, &evidence)).await;
            let (decision, ran) = evaluated.unwrap_or_else(|_| fallback());
            run.ran("policy", ran);
            decision
        }
    };
    let note = decision.rule.as_ref().map(|rule| format!("rule `{rule}`"));
    let verdict = if decision.reason == Reason::NoPolicy { "no_policy" } else { decision.effect.as_str() };
    run.step_with("policy", verdict, since, note);
    run.decided(&decision);
    Decided { decision, pin, asks }
}

fn evaluate(revision: &Arc<Revision>, call: &Call, evidence: &Evidence) -> (Decision, Vec<Ran>) {
    let mut ran = Vec::new();
    let Some(policy) = &revision.policy else { return fallback() };
    let decision = policy.evaluate(call, evidence, &mut |entry: &PredicateEntry, call: &Call| consult(entry, call, &mut ran));
    (decision, ran)
}

/// The decision where even deciding broke.
fn fallback() -> (Decision, Vec<Ran>) {
    let decision = Decision {
        effect: Effect::Deny,
        reason: Reason::NoRule,
        rule: None,
        also: Vec::new(),
        causes: std::collections::BTreeSet::new(),
        grantable: false,
    };
    (decision, Vec::new())
}

fn consult(entry: &PredicateEntry, call: &Call, ran: &mut Vec<Ran>) -> Truth {
    let since = Instant::now();
    let seen = Call { context: entry.assigns.narrow(&call.context), ..call.clone() };
    let Metered { answer, fuel, note } = guard(|| entry.predicate.matches(&seen));
    let (truth, verdict) = match answer {
        Ok(Finding::Match) => (Truth::True, Ok("match")),
        Ok(Finding::NoMatch) => (Truth::False, Ok("no_match")),
        Ok(Finding::Undecided) => (Truth::Failed, Ok("undecided")),
        Err(failure) => (Truth::Failed, Err(failure)),
    };
    ran.push(Ran { plugin: entry.name.clone(), verdict, fuel, note, duration: since.elapsed() });
    truth
}

/// Whether the revision of now still lets a call go that an earlier one allowed: its deny rules must pass too (T6).
pub(crate) async fn still_allows(run: &mut Run<'_>, call: &Call) -> Result<(), Error> {
    let current = run.pipeline.revision();
    if Arc::ptr_eq(&current, &run.revision) {
        return Ok(());
    }
    let Some(policy) = &current.policy else { return Ok(()) };
    let needs_worker = policy.predicates().any(|entry| entry.predicate.needs_worker());
    let (revision, call) = (current.clone(), call.clone());
    let denies = move || -> Result<(bool, Vec<Ran>), Failure> {
        let mut ran = Vec::new();
        let denied = |policy: &Policy| policy.denies(&call, &mut |entry: &PredicateEntry, call: &Call| consult(entry, call, &mut ran));
        let denied = revision.policy.as_ref().is_some_and(denied);
        Ok((denied, ran))
    };
    let wall_clock = current.send.plugin_wall_clock;
    let (denied, ran) = work(needs_worker, wall_clock, denies).await.flatten().unwrap_or((true, Vec::new()));
    run.ran("policy", ran);
    if denied {
        let message = format!("policy changed while the call waited, and revision `{}` denies it", current.id);
        return Err(Error::new(Kind::Denied, Reason::PolicyChanged, message));
    }
    Ok(())
}
