//! Policy (step 6): deny > pin > ask > allow > default. Total: it always decides, and pure: data in, a decision out.

mod condition;
mod matcher;
mod truth;

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::extension::Predicate;
use crate::model::{Call, Cause, Decision, Effect, Reason};
use crate::revision::AssignScope;

pub use condition::Condition;
pub use matcher::{Glob, InvalidPattern, Pattern, ValueTest};
pub use truth::Truth;

/// Rules for what becomes of a call.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    /// Rules that deny.
    pub deny: Vec<Rule>,
    /// Rules that ask.
    pub ask: Vec<Rule>,
    /// Rules that allow.
    pub allow: Vec<Rule>,
    /// What becomes of a call that no rule matches; none asks where there is an approver, else denies.
    pub default: Option<Effect>,
}

/// A named condition.
#[derive(Clone, Debug)]
pub struct Rule {
    /// The name, as decisions and records give it.
    pub name: String,
    /// When it matches.
    pub condition: Condition,
    /// For ask rules: whether a grant may settle the ask (T8).
    pub grantable: bool,
}

/// A predicate that rules refer to.
#[derive(Clone)]
pub struct PredicateEntry {
    /// Its name in the configuration.
    pub name: String,
    /// The predicate.
    pub predicate: Arc<dyn Predicate>,
    /// Which of the call's assigns it may see.
    pub assigns: AssignScope,
}

impl std::fmt::Debug for PredicateEntry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PredicateEntry({})", self.name)
    }
}

/// What policy looks at besides the call.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    /// Why the tool's definition is not an approved one: `tool_changed` or `tool_new`.
    pub pin: Option<Reason>,
    /// Pre-hooks that want the call asked about.
    pub hook_asks: Vec<String>,
}

/// Answers predicates: the pipeline runs them under their limits, a test answers from a table.
pub trait Oracle {
    /// Whether a predicate holds for the call.
    fn consult(&mut self, entry: &PredicateEntry, call: &Call) -> Truth;
}

impl<F: FnMut(&PredicateEntry, &Call) -> Truth> Oracle for F {
    fn consult(&mut self, entry: &PredicateEntry, call: &Call) -> Truth {
        self(entry, call)
    }
}

impl Rule {
    /// A grantable rule.
    #[must_use]
    pub fn new(name: impl Into<String>, condition: Condition) -> Self {
        Self { name: name.into(), condition, grantable: true }
    }
}

/// A rule that matched, and whether only because it could not be told.
struct Hit<'a> {
    rule: &'a Rule,
    failed: bool,
}

impl Policy {
    /// Decides on the final arguments.
    pub fn evaluate(&self, call: &Call, evidence: &Evidence, oracle: &mut dyn Oracle) -> Decision {
        let denies = hits(&self.deny, call, oracle);
        if let Some((first, rest)) = denies.split_first() {
            return Decision::new(Effect::Deny, Reason::DenyRule, Some(first), rest);
        }
        let asks = hits(&self.ask, call, oracle);
        let (untold, allows): (Vec<_>, Vec<_>) = hits(&self.allow, call, oracle).into_iter().partition(|hit| hit.failed);
        let causes = causes(evidence, &asks, allows.is_empty());
        let unmatched = if call.context.has_approver { Effect::Ask } else { Effect::Deny };
        let default = self.default.unwrap_or(unmatched);
        // A pin makes an ask of what would be allowed. It never makes one of what nothing allows: a changed definition is not better
        // than the one that was denied.
        let denied_anyway = default == Effect::Deny && causes.contains(&Cause::Default);
        if let Some(reason) = evidence.pin.filter(|_| !denied_anyway) {
            return Decision { rule: None, ..Decision::new(Effect::Ask, reason, None, &asks).asking(causes, &asks, &untold) };
        }
        if let Some((first, rest)) = asks.split_first() {
            return Decision::new(Effect::Ask, Reason::AskRule, Some(first), rest).asking(causes, &asks, &untold);
        }
        if !evidence.hook_asks.is_empty() {
            return Decision::new(Effect::Ask, Reason::HookAsk, None, &[]).asking(causes, &asks, &untold);
        }
        if let Some((first, rest)) = allows.split_first() {
            return Decision::new(Effect::Allow, Reason::AllowRule, Some(first), rest);
        }
        Decision::new(default, Reason::NoRule, None, &[]).asking(causes, &asks, &untold)
    }

    /// Whether a deny rule matches: asked again of a newer policy before a call leaves (T6).
    pub fn denies(&self, call: &Call, oracle: &mut dyn Oracle) -> bool {
        self.deny.iter().any(|rule| rule.condition.holds(call, oracle) != Truth::False)
    }

    /// Every predicate that its rules refer to.
    pub fn predicates(&self) -> impl Iterator<Item = &PredicateEntry> {
        [&self.deny, &self.ask, &self.allow].into_iter().flatten().flat_map(|rule| rule.condition.predicates())
    }
}

/// The rules that match. In deny and ask rules a failure counts as a match; who asks for allow rules drops the failed ones (T1).
fn hits<'a>(rules: &'a [Rule], call: &Call, oracle: &mut dyn Oracle) -> Vec<Hit<'a>> {
    let judged = rules.iter().map(|rule| (rule, rule.condition.holds(call, oracle)));
    judged.filter(|(_, truth)| *truth != Truth::False).map(|(rule, truth)| Hit { rule, failed: truth == Truth::Failed }).collect()
}

/// Everything that makes this a call to ask about, whatever else hides it: who approves a changed definition also approves what
/// would have asked without the change.
fn causes(evidence: &Evidence, asks: &[Hit<'_>], nothing_allows: bool) -> BTreeSet<Cause> {
    let rules = asks.iter().map(|hit| Cause::Rule(hit.rule.name.clone()));
    let hooks = evidence.hook_asks.iter().cloned().map(Cause::Hook);
    let default = (asks.is_empty() && evidence.hook_asks.is_empty() && nothing_allows).then_some(Cause::Default);
    rules.chain(hooks).chain(evidence.pin.map(Cause::Pin)).chain(default).collect()
}

impl Decision {
    fn new(effect: Effect, reason: Reason, decided: Option<&Hit<'_>>, others: &[Hit<'_>]) -> Self {
        Self {
            effect,
            reason,
            rule: decided.map(|hit| hit.rule.name.clone()),
            also: others.iter().map(|hit| hit.rule.name.clone()).collect(),
            causes: BTreeSet::new(),
            grantable: false,
        }
    }

    /// An ask that is there because something failed cannot be granted, nor one whose rule says so (T8). Where an allow rule could
    /// not be told, it is the default that is there for that.
    fn asking(self, causes: BTreeSet<Cause>, asks: &[Hit<'_>], untold: &[Hit<'_>]) -> Self {
        let default_failed = !untold.is_empty() && causes.contains(&Cause::Default);
        let grantable = !default_failed && asks.iter().all(|hit| hit.rule.grantable && !hit.failed);
        Self { causes, grantable, ..self }
    }

    /// The decision where there is no policy.
    pub(crate) fn no_policy() -> Self {
        Self::new(Effect::Allow, Reason::NoPolicy, None, &[])
    }

    /// The decision without a policy where a pre-hook asks.
    pub(crate) fn hook_ask(hooks: &[String]) -> Self {
        let causes = hooks.iter().cloned().map(Cause::Hook).collect();
        Self::new(Effect::Ask, Reason::HookAsk, None, &[]).asking(causes, &[], &[])
    }
}
