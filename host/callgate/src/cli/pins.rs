//! `callgate pins`

use std::collections::BTreeSet;

use callgate::core::digest::{Digest, Fingerprint};
use callgate::core::json::{Json, diff, patch};
use callgate::core::shape::show_json;
use callgate::core::store::{Baseline, PinStore, PinnedTool};
use clap::Subcommand;

use super::rows::Rows;
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
    /// Approves what `pins diff` showed: one tool, or all.
    Accept {
        /// The server, as the configuration names it.
        server: String,
        /// The tool.
        #[arg(required_unless_present = "all", conflicts_with = "all")]
        tool: Option<String>,
        /// Every tool that is new, changed or gone.
        #[arg(long)]
        all: bool,
        /// What was looked at, as `pins diff` printed it: the tool's fingerprint, or with `--all` the listing's. Not needed for a tool
        /// that is gone.
        #[arg(long, value_name = "DIGEST")]
        fingerprint: Option<Fingerprint>,
    },
}

/// One difference between what is approved and what is listed.
struct Difference {
    tool: String,
    what: &'static str,
    /// The definition that is listed now; none for a tool that is gone.
    listed: Option<PinnedTool>,
    changes: Option<Json>,
}

impl Pins {
    pub(crate) async fn run(self, global: &Global) -> Result<(), Failed> {
        let host = setup::host(global)?;
        match self {
            Pins::List => list(&*setup::store(&host).await?, global).await,
            Pins::Diff { server } => {
                let (_, standing, now) = setup::pins(&host, &server).await?;
                print(&server, &differences(&standing.unwrap_or_default(), &now), listing_fingerprint(&now), global);
                Ok(())
            }
            Pins::Accept { server, tool, fingerprint, .. } => accept(&host, &server, tool, fingerprint, global).await,
        }
    }
}

/// The listing is read anew, so the server may give another one than a person looked at: only that one is accepted.
async fn accept(
    host: &callgate::Host,
    server: &str,
    tool: Option<String>,
    seen: Option<Fingerprint>,
    global: &Global,
) -> Result<(), Failed> {
    let store = setup::store(host).await?;
    let (key, standing, now) = setup::pins(host, server).await?;
    let is_first = standing.is_none();
    if is_first && tool.is_some() {
        return Err(Failed::Usage(format!(
            "`{server}` has no baseline yet; look at all of it with `callgate pins diff {server}`, and accept all"
        )));
    }
    let wanted: Vec<_> = differences(&standing.unwrap_or_default(), &now)
        .into_iter()
        .filter(|difference| tool.as_ref().is_none_or(|tool| *tool == difference.tool))
        .collect();
    if let Some(tool) = tool.as_ref().filter(|_| wanted.is_empty()) {
        return Err(Failed::NotFound(format!(
            "`{tool}` is as it was approved, or not there; `callgate pins diff {server}` shows what differs"
        )));
    }
    let listed = wanted.iter().find_map(|difference| difference.listed.as_ref()).map(|listed| listed.fingerprint);
    if let Some(listed) = if tool.is_some() { listed } else { listed.map(|_| listing_fingerprint(&now)) } {
        was_seen(server, listed, seen)?;
    }
    if is_first {
        PinStore::record(&*store, &key, now.clone()).await.map_err(setup::store_failed)?;
    }
    let mut accepted = Vec::new();
    for difference in wanted {
        accepted.push(format!("{} ({})", difference.tool, difference.what));
        if !is_first {
            store.accept(&key, &difference.tool, difference.listed).await.map_err(setup::store_failed)?;
        }
    }
    let sentence =
        if accepted.is_empty() { "every tool is as it was approved".to_owned() } else { format!("accepted {}", accepted.join(", ")) };
    output::done(global, &sentence, ("accepted", accepted.into_iter().map(Json::from).collect::<Vec<_>>().into()));
    Ok(())
}

fn was_seen(server: &str, listed: Fingerprint, seen: Option<Fingerprint>) -> Result<(), Failed> {
    match seen {
        Some(seen) if seen == listed => Ok(()),
        Some(_) => Err(Failed::Usage(format!(
            "the server lists something else now ({listed}), so nothing was accepted; look again with `callgate pins diff {server}`"
        ))),
        None => Err(Failed::Usage(format!(
            "say which definition was looked at: `callgate pins diff {server}` shows it, and the `--fingerprint` to accept it by"
        ))),
    }
}

/// What stands for a whole listing: every tool's name and fingerprint.
fn listing_fingerprint(listed: &Baseline) -> Fingerprint {
    let tools: Json = listed.tools.iter().map(|(name, tool)| (name.clone(), Json::from(tool.fingerprint.to_string()))).collect();
    Fingerprint(Digest::of_json(&tools))
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
        let listed = now.tools.get(name).cloned();
        let (what, changes) = match (standing.tools.get(name), &listed) {
            (Some(old), Some(new)) if old.fingerprint != new.fingerprint => {
                ("changed", Some(patch(&diff(&old.definition, &new.definition))))
            }
            (Some(_), None) => ("gone", None),
            (None, Some(new)) if standing.tools.values().any(|old| old.shape == new.shape) => ("renamed", None),
            (None, Some(_)) => ("new", None),
            _ => return None,
        };
        Some(Difference { tool: name.clone(), what, listed, changes })
    };
    names.into_iter().filter_map(difference).collect()
}

/// For a person, each difference with the line that accepts it.
fn print(server: &str, differences: &[Difference], listing: Fingerprint, global: &Global) {
    if global.format == Format::Json {
        let entries: Vec<Json> = differences.iter().map(difference_json).collect();
        let members = [("version", Json::from(1u64)), ("differences", entries.into()), ("fingerprint", listing.to_string().into())];
        output::line(&members.into_iter().collect::<Json>());
        return;
    }
    if differences.is_empty() {
        output::say(&"every tool is as it was approved");
        return;
    }
    for difference in differences {
        let mut rows = Rows::new(output::columns());
        difference.show(&mut rows);
        output::line(&rows.text().trim_end());
        let by = difference.listed.as_ref().map(|listed| format!(" --fingerprint {}", listed.fingerprint)).unwrap_or_default();
        output::say(&format!("to accept it: callgate pins accept {server} {}{by}\n", difference.tool));
    }
    output::say(&format!("to accept all: callgate pins accept {server} --all --fingerprint {listing}"));
}

impl Difference {
    /// What a person accepts, whole, in lines that the host breaks: it is the server's text.
    fn show(&self, rows: &mut Rows) {
        rows.row(self.what, &self.tool, usize::MAX);
        let parts: Vec<Json> = match (&self.changes, &self.listed) {
            (Some(changes), _) => changes.as_array().unwrap_or_default().to_vec(),
            (None, Some(listed)) => vec![listed.definition.clone()],
            (None, None) => Vec::new(),
        };
        for part in parts {
            let label = if self.changes.is_some() { "change" } else { "definition" };
            rows.row(label, &show_json(&part.to_string()), usize::MAX);
        }
    }
}

fn difference_json(difference: &Difference) -> Json {
    let listed = difference.listed.as_ref();
    let optional = [
        ("changes", difference.changes.clone()),
        ("fingerprint", listed.map(|listed| listed.fingerprint.to_string().into())),
        ("definition", listed.map(|listed| listed.definition.clone())),
    ];
    [("tool", Json::from(difference.tool.as_str())), ("what", difference.what.into())]
        .into_iter()
        .chain(optional.into_iter().filter_map(|(key, value)| Some((key, value?))))
        .collect()
}
