//! What a configuration may say and probably should not.

use callgate_core::model::{Effect, Hint};
use callgate_core::policy::{Condition, ValueTest};

use super::{ConditionTemplate, Config, RuleTemplate};

/// Warnings, one clause each. None of them stops a start.
#[must_use]
pub fn warnings(config: &Config) -> Vec<String> {
    let mut warnings = Vec::new();
    unsigned(config, &mut warnings);
    powers(config, &mut warnings);
    rules(config, &mut warnings);
    unused(config, &mut warnings);
    for (name, server) in &config.servers {
        if server.command.iter().any(|word| word == "-y" || word == "--yes") && !server.command.iter().any(|word| names_version(word)) {
            warnings.push(format!("server `{name}` may fetch a new version at each start; name an exact version in its command"));
        }
        warnings
            .push(format!("server `{name}` runs as this user and could change this configuration; only a sandbox would keep it from that"));
    }
    warnings
}

/// `package@1.2.3`, and not the `@` of a scope.
fn names_version(word: &str) -> bool {
    word.rsplit_once('@').is_some_and(|(package, version)| !package.is_empty() && version.starts_with(|first: char| first.is_ascii_digit()))
}

fn unsigned(config: &Config, warnings: &mut Vec<String>) {
    for (name, plugin) in &config.plugins {
        if plugin.sha256.is_none() {
            warnings.push(format!("plugin `{name}` has no `sha256`: it loads with `--dev` only"));
        }
    }
}

fn powers(config: &Config, warnings: &mut Vec<String>) {
    for stage in &config.pre_hooks {
        let denies_by_default = config.policy.as_ref().is_some_and(|policy| policy.default == Some(Effect::Deny));
        if stage.may.ask && denies_by_default {
            warnings.push(format!("`{}` may ask: what no rule allows is then asked about, though `default` is \"deny\"", stage.plugin));
        }
        if stage.may.halt {
            warnings.push(format!("`{}` may halt: it can answer in the server's place, and policy is skipped then", stage.plugin));
        }
        if stage.may.rewrite.iter().any(|pointer| pointer.tokens().is_empty()) {
            warnings.push(format!("`{}` may rewrite every argument; name the pointers that it needs", stage.plugin));
        }
    }
    if let Some(stage) = config.approver.as_ref().filter(|stage| stage.may.decide) {
        warnings.push(format!("`{}` may decide: it can approve without any person", stage.plugin));
    }
}

fn rules(config: &Config, warnings: &mut Vec<String>) {
    let Some(policy) = &config.policy else {
        warnings.push("there is no policy: whatever hooks and schemas let pass is sent".to_owned());
        return;
    };
    let trusts_any = config.servers.values().any(|server| server.trust_annotations);
    for rule in &policy.allow {
        if !trusts_any && rule.condition.leaves().into_iter().any(needs_trust) {
            warnings
                .push(format!("allow rule `{}` needs annotations, but no server has `trust_annotations`: it will not match", rule.name));
        }
    }
    for rule in policy.deny.iter().chain(&policy.ask) {
        if let Some(pointer) = untested_argument(rule) {
            warnings.push(format!(
                "rule `{}` also matches calls that have no `{pointer}`; if that is not meant, put `{{ argument = {{ pointer = \"{pointer}\", exists = true }} }}` before it in an `all`",
                rule.name
            ));
        }
    }
}

/// A hint whose wanted value is better than the protocol's worst.
fn needs_trust(leaf: &ConditionTemplate) -> bool {
    let ConditionTemplate::Ready(Condition::Annotation(hint, wanted)) = leaf else { return false };
    let worst = matches!(hint, Hint::Destructive | Hint::OpenWorld);
    *wanted != worst
}

/// An argument that the rule tests without first asking whether it is there (T1: a missing value counts as a match).
fn untested_argument(rule: &RuleTemplate) -> Option<String> {
    let leaves = rule.condition.leaves();
    let arguments = |wanted_exists: bool| {
        leaves.iter().filter_map(move |leaf| match leaf {
            ConditionTemplate::Ready(Condition::Argument(pointer, test)) if matches!(test, ValueTest::Exists(_)) == wanted_exists => {
                Some(pointer)
            }
            _ => None,
        })
    };
    let is_scoped = leaves.iter().any(|leaf| matches!(leaf, ConditionTemplate::Ready(Condition::Tool(_))));
    let untested = arguments(false).find(|pointer| !arguments(true).any(|tested| tested == *pointer));
    untested.filter(|_| !is_scoped).map(ToString::to_string)
}

fn unused(config: &Config, warnings: &mut Vec<String>) {
    let used = config.used_plugins();
    for name in config.plugins.keys().filter(|name| !used.contains(name.as_str())) {
        warnings.push(format!("plugin `{name}` is not used anywhere"));
    }
}
