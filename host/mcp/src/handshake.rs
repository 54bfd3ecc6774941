//! Finding out how a server speaks (MCP 2026-07-28, basic/versioning): `server/discover` first, then `initialize`.

use std::time::{Duration, Instant};

use callgate_core::json::{Json, Number};
use callgate_core::model::{Era, Error, Reason};

use crate::fault::not_connected;
use crate::limits::INSTRUCTIONS;
use crate::link::{Link, cut};
use crate::pending::Purpose;
use crate::protocol::{self, LEGACY, MODERN, MODERN_ERRORS, UNSUPPORTED_VERSION};

/// What a handshake gave.
#[derive(Debug)]
pub(crate) struct Hello {
    pub(crate) era: Era,
    pub(crate) instructions: Option<String>,
}

/// What a probe gave.
#[derive(Debug)]
pub(crate) enum Probed {
    /// A server of the modern era.
    Modern(Hello),
    /// One that is not known to be; whether it said anything at all.
    Legacy { silent: bool },
}

/// Asks a server for the modern era. Anything but a discovery or an error that only modern servers know, silence included, means
/// legacy; no single code decides, because old servers answer the unknown method in many ways.
///
/// # Errors
/// A modern server that speaks no version that this host does.
pub(crate) async fn discover(link: &Link, patience: Duration) -> Result<Probed, Error> {
    let params = [("_meta", Json::from(protocol::host_meta(link.declared)))].into_iter().collect();
    let answer = link.request(Purpose::Handshake, "server/discover", &params, Instant::now() + patience).await;
    match answer {
        Ok(result) => match strings(result.get("supportedVersions")) {
            Some(versions) => by_version(link, &versions, Some(&result)),
            None => Ok(Probed::Legacy { silent: false }),
        },
        Err(error) => {
            let code = error.data.get("code").and_then(Json::as_number).and_then(Number::as_i64);
            match code.filter(|code| error.reason == Reason::ErrorReply && MODERN_ERRORS.contains(code)) {
                Some(UNSUPPORTED_VERSION) => {
                    let supported = error.data.get("data").and_then(|data| strings(data.get("supported")));
                    by_version(link, &supported.unwrap_or_default(), None)
                }
                Some(_) => Ok(Probed::Modern(established(link, Era::Modern, None))),
                None => Ok(Probed::Legacy { silent: error.reason == Reason::Timeout }),
            }
        }
    }
}

fn by_version(link: &Link, supported: &[&str], discovery: Option<&Json>) -> Result<Probed, Error> {
    if supported.contains(&MODERN) {
        let hello = established(link, Era::Modern, discovery);
        if discovery.and_then(|result| result.get("capabilities")?.get("tools")?.get("listChanged")?.as_bool()) == Some(true) {
            listen(link);
        }
        Ok(Probed::Modern(hello))
    } else if supported.iter().any(|version| LEGACY.contains(version)) {
        Ok(Probed::Legacy { silent: false })
    } else {
        let offered: String = supported.join(", ").chars().take(200).flat_map(char::escape_debug).collect();
        let cause = format!(
            "it speaks no version that this host does, {MODERN} and {}: it offers `{offered}`; update one of them",
            LEGACY.join(", ")
        );
        Err(not_connected(&link.name, cause))
    }
}

/// Asks for notices of changed tools: in the modern era they come only on request. That the request fails is no failure: listings
/// then live as long as their `ttlMs` says.
fn listen(link: &Link) {
    let wanted: Json = [("toolsListChanged", Json::from(true))].into_iter().collect();
    let params: Json = [("notifications", wanted), ("_meta", protocol::host_meta(link.declared).into())].into_iter().collect();
    if let Ok((id, _nobody_waits)) = link.pending.enter(Purpose::Handshake) {
        link.pending.leave(id, false);
        link.listen(id);
        link.notify(protocol::request(id, "subscriptions/listen", &params.to_string()));
    }
}

/// The legacy handshake.
///
/// # Errors
/// The server does not complete it, or with a version that this host does not speak.
pub(crate) async fn initialize(link: &Link, patience: Duration) -> Result<Hello, Error> {
    let params = [
        ("protocolVersion", Json::from(LEGACY.first().copied().unwrap_or_default())),
        ("capabilities", link.declared.capabilities()),
        ("clientInfo", protocol::client_info()),
    ]
    .into_iter()
    .collect();
    let result = link.request(Purpose::Handshake, "initialize", &params, Instant::now() + patience).await?;
    let version = result.get("protocolVersion").and_then(Json::as_str);
    if !version.is_some_and(|version| LEGACY.contains(&version)) {
        let offered: String = version.unwrap_or("none").chars().take(40).flat_map(char::escape_debug).collect();
        let cause = format!("it wants version `{offered}` of the protocol, and this host speaks {}", LEGACY.join(", "));
        return Err(not_connected(&link.name, cause));
    }
    link.notify(protocol::notice("notifications/initialized", &Json::object()));
    Ok(established(link, Era::Legacy, Some(&result)))
}

fn established(link: &Link, era: Era, result: Option<&Json>) -> Hello {
    link.established(era);
    let instructions = result.and_then(|result| result.get("instructions")?.as_str());
    Hello { era, instructions: instructions.map(|text| cut(text, INSTRUCTIONS).to_owned()) }
}

fn strings(value: Option<&Json>) -> Option<Vec<&str>> {
    Some(value?.as_array()?.iter().filter_map(Json::as_str).collect())
}
