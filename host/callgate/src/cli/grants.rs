//! `callgate grants`

use std::time::{SystemTime, UNIX_EPOCH};

use callgate::core::json::Json;
use callgate::core::model::Grant;
use callgate::core::shape::show_text;
use callgate::core::store::GrantStore;
use clap::Subcommand;

use super::{Failed, Format, Global, output, setup};

/// Standing approvals.
#[derive(Debug, Subcommand)]
pub(crate) enum Grants {
    /// Lists those that are live.
    List,
    /// Takes one back. It counts from its next use on, also for a call that waits to be sent.
    Revoke {
        /// Its id, as `grants list` shows it.
        id: String,
    },
    /// Takes all of them back and forgets the latest time that was seen: for a clock that was once far ahead, so that no grant can be
    /// given now.
    ResetClock,
}

impl Grants {
    pub(crate) async fn run(self, global: &Global) -> Result<(), Failed> {
        let store = setup::store(&setup::host(global)?).await?;
        match self {
            Grants::List => {
                let grants = GrantStore::list(&*store, now_ms()).await.map_err(setup::store_failed)?;
                print(&grants, global);
                Ok(())
            }
            Grants::Revoke { id } => match store.revoke(&id).await.map_err(setup::store_failed)? {
                true => {
                    output::done(global, &format!("revoked {id}"), ("revoked", id.as_str().into()));
                    Ok(())
                }
                false => Err(Failed::NotFound(format!("there is no grant `{id}`; `callgate grants list` shows them"))),
            },
            Grants::ResetClock => {
                let taken = store.reset_clock(now_ms()).await.map_err(setup::store_failed)?;
                output::done(global, &format!("the clock starts anew, and {taken} grants were taken back"), ("revoked", taken.into()));
                Ok(())
            }
        }
    }
}

fn print(grants: &[Grant], global: &Global) {
    if global.format == Format::Json {
        let grants: Vec<Json> = grants.iter().map(to_json).collect();
        let body: Json = [("version", Json::from(1u64)), ("grants", grants.into())].into_iter().collect();
        output::line(&body);
        return;
    }
    for grant in grants {
        let given = &grant.given;
        let who = given.principal.as_deref().unwrap_or("anybody");
        let left = given.expires_ms.saturating_sub(now_ms()) / 60_000;
        let causes = given.causes.iter().cloned().collect::<Vec<_>>().join(", ");
        output::line(&show_text(&format!("{}  {who}  {}/{}  {left} min left  for {causes}", grant.id, given.server, given.tool)));
    }
}

fn to_json(grant: &Grant) -> Json {
    let list =
        |texts: &std::collections::BTreeSet<String>| Json::from(texts.iter().map(|text| Json::from(text.as_str())).collect::<Vec<_>>());
    let given = &grant.given;
    [
        ("id", Json::from(grant.id.as_str())),
        ("principal", given.principal.clone().into()),
        ("server", given.server.as_str().into()),
        ("tool", given.tool.as_str().into()),
        ("fingerprint", given.fingerprint.to_string().into()),
        ("causes", list(&given.causes)),
        ("taint", list(&given.taint)),
        ("created_ms", grant.created_ms.into()),
        ("expires_ms", given.expires_ms.into()),
        ("uses_left", grant.uses_left.map(u64::from).into()),
        ("terms", given.terms.to_json()),
    ]
    .into_iter()
    .collect()
}

fn now_ms() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
}
