//! `callgate pins`

use std::collections::BTreeSet;

use callgate::core::json::{Json, diff, patch};
use callgate::core::shape::show_json;
use callgate::core::store::{Baseline, PinStore};
use clap::Subcommand;

use super::{Failed, Format, Global, output, setup};

/// Approved definitions of tools.
#[derive(Debug, Subcommand)]
pub(crate) enum Pins {
    /// Lists the approved definitions of every server.
    List,
    /// Shows how a server's tools differ from the approved ones.
    Diff {
        /// The server, as the configuration names it.
        server: String,
    },
    /// Approves what a server lists now: one tool, or all.
    Accept {
        /// The server, as the configuration names it.
        server: String,
        /// The tool.
        #[arg(required_unless_present = "all", conflicts_with = "all")]
        tool: Option<String>,
        /// Every tool that is new, changed or gone.
        #[arg(long)]
        all: bool,
    },
}

/// One difference between what is approved and what is listed.
struct Difference {
    tool: String,
    what: &'static str,
    changes: Option<Json>,
}

impl Pins {
    pub(crate) async fn run(self, global: &Global) -> Result<(), Failed> {
        let host = setup::host(global)?;
        match self {
            Pins::List => list(&*setup::store(&host).await?, global).await,
            Pins::Diff { server } => {
                let (_, standing, now) = setup::pins(&host, &server).await?;
                print(&differences(&standing.unwrap_or_default(), &now), global);
                Ok(())
            }
            Pins::Accept { server, tool, .. } => accept(&host, &server, tool, global).await,
        }
    }
}

async fn accept(host: &callgate::Host, server: &str, tool: Option<String>, global: &Global) -> Result<(), Failed> {
    let store = setup::store(host).await?;
    let (key, standing, now) = setup::pins(host, server).await?;
    let Some(standing) = standing else {
        let tools: Vec<Json> = now.tools.keys().map(|tool| tool.as_str().into()).collect();
        PinStore::record(&*store, &key, now).await.map_err(setup::store_failed)?;
        output::done(global, &format!("recorded the first baseline of `{server}`"), ("accepted", tools.into()));
        return Ok(());
    };
    let wanted: Vec<_> =
        differences(&standing, &now).into_iter().filter(|difference| tool.as_ref().is_none_or(|tool| *tool == difference.tool)).collect();
    if let Some(tool) = tool.filter(|_| wanted.is_empty()) {
        return Err(Failed::NotFound(format!(
            "`{tool}` is as it was approved, or not there; `callgate pins diff {server}` shows what differs"
        )));
    }
    let mut accepted = Vec::new();
    for difference in wanted {
        let pinned = now.tools.get(&difference.tool).cloned();
        store.accept(&key, &difference.tool, pinned).await.map_err(setup::store_failed)?;
        accepted.push(format!("{} ({})", difference.tool, difference.what));
    }
    let sentence =
        if accepted.is_empty() { "every tool is as it was approved".to_owned() } else { format!("accepted {}", accepted.join(", ")) };
    output::done(global, &sentence, ("accepted", accepted.into_iter().map(Json::from).collect::<Vec<_>>().into()));
    Ok(())
}

async fn list(store: &dyn PinStore, global: &Global) -> Result<(), Failed> {
    let baselines = PinStore::list(store).await.map_err(setup::store_failed)?;
    let mut entries = Vec::new();
    for (key, baseline) in &baselines {
        for (name, pinned) in &baseline.tools {
            if global.format == Format::Text {
                output::line(&format!("{}  {}  {name}  {}", key.server, key.era, pinned.fingerprint));
            }
            let entry = [("server", Json::from(key.server.as_str())), ("era", key.era.as_str().into()), ("tool", name.as_str().into())];
            entries.push(entry.into_iter().chain([("fingerprint", pinned.fingerprint.to_string().into())]).collect());
        }
    }
    if global.format == Format::Json {
        let body: Json = [("version", Json::from(1u64)), ("pins", Json::Array(entries))].into_iter().collect();
        output::line(&body);
    }
    Ok(())
}

fn differences(standing: &Baseline, now: &Baseline) -> Vec<Difference> {
    let names: BTreeSet<&String> = standing.tools.keys().chain(now.tools.keys()).collect();
    let difference = |name: &String| {
        let (what, changes) = match (standing.tools.get(name), now.tools.get(name)) {
            (Some(old), Some(new)) if old.fingerprint != new.fingerprint => {
                ("changed", Some(patch(&diff(&old.definition, &new.definition))))
            }
            (Some(_), None) => ("gone", None),
            (None, Some(new)) if standing.tools.values().any(|old| old.shape == new.shape) => ("renamed", None),
            (None, Some(_)) => ("new", None),
            _ => return None,
        };
        Some(Difference { tool: name.clone(), what, changes })
    };
    names.into_iter().filter_map(difference).collect()
}

fn print(differences: &[Difference], global: &Global) {
    if global.format == Format::Json {
        let entry = |difference: &Difference| -> Json {
            let changes = difference.changes.clone().map(|changes| ("changes", changes));
            [("tool", Json::from(difference.tool.as_str())), ("what", difference.what.into())].into_iter().chain(changes).collect()
        };
        let entries: Vec<Json> = differences.iter().map(entry).collect();
        let body: Json = [("version", Json::from(1u64)), ("differences", entries.into())].into_iter().collect();
        output::line(&body);
        return;
    }
    if differences.is_empty() {
        output::say(&"every tool is as it was approved");
    }
    for difference in differences {
        output::line(&format!("{}  {}", difference.what, difference.tool));
        for operation in difference.changes.as_ref().and_then(Json::as_array).unwrap_or_default() {
            output::line(&format!("    {}", show_json(&operation.to_string())));
        }
    }
}
