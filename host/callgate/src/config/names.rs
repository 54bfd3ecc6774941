//! Names that are used must be there: one that is not is a slip, and in a rule or a hook's `match` it would silently switch that off.

use callgate_core::model::ServerName;
use callgate_core::policy::{Condition, Glob};

use super::error::nearest;
use super::{ConditionTemplate, Config};

/// Refuses plugins and servers that are named and not there.
pub(super) fn check(config: &Config) -> Result<(), String> {
    let plugins: Vec<&str> = config.plugins.keys().map(String::as_str).collect();
    if let Some(name) = config.used_plugins().into_iter().find(|name| !plugins.contains(name)) {
        return Err(format!("there is no `[plugin.{name}]`{}", nearest(name, &plugins)));
    }
    if config.servers.is_empty() {
        return Err("there is no `[server.NAME]`; add one with its `command`".to_owned());
    }
    let servers: Vec<&str> = config.servers.keys().map(ServerName::as_str).collect();
    let matches_none = |glob: &Glob| !servers.iter().any(|server| glob.matches(server));
    match server_globs(config).into_iter().find(|(_, glob)| matches_none(glob)) {
        Some((place, glob)) => Err(format!("{place}: there is no server `{}`{}", glob.as_str(), nearest(glob.as_str(), &servers))),
        None => Ok(()),
    }
}

/// Every pattern for servers, with its place.
fn server_globs(config: &Config) -> Vec<(String, &Glob)> {
    let stages = [&config.filters, &config.pre_hooks, &config.post_hooks, &config.failure_hooks].into_iter().flatten();
    let scoped = stages.filter_map(|stage| Some((format!("`match` of `{}`", stage.plugin), stage.scope.server.as_ref()?)));
    let rules = config.policy.iter().flat_map(|policy| policy.deny.iter().chain(&policy.ask).chain(&policy.allow));
    let named = rules.flat_map(|rule| {
        let globs = rule.condition.leaves().into_iter().filter_map(|leaf| match leaf {
            ConditionTemplate::Ready(Condition::Server(glob)) => Some(glob),
            _ => None,
        });
        globs.map(|glob| (format!("rule `{}`", rule.name), glob))
    });
    scoped.chain(named).collect()
}
