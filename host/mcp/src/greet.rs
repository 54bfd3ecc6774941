//! Starting a server and finding out how it speaks (MCP 2026-07-28, basic/versioning).

use std::time::Duration;

use callgate_core::model::{Era, Error, Reason};

use crate::StdioConfig;
use crate::fault::not_connected;
use crate::handshake::{self, Hello, Probed};
use crate::supervisor::Running;

/// A child and its greeting. What is known of the server's era is tried first, and if that fails, all of it is found out again.
pub(crate) async fn greet(config: &StdioConfig, known: Option<Era>) -> Result<(Running, Hello), Error> {
    if known == Some(Era::Legacy) {
        let running = Running::start(config)?;
        if let Ok(hello) = handshake::initialize(&running.link, config.limits.start).await {
            return Ok((running, hello));
        }
    }
    let silent = match probe(config, config.limits.probe).await? {
        (running, Probed::Modern(hello)) => return Ok((running, hello)),
        (_killed, Probed::Legacy { silent }) => silent,
    };
    // A fresh process: what the probe did to the old one nobody knows, and its late answer must not be taken for another.
    let running = Running::start(config)?;
    match handshake::initialize(&running.link, config.limits.start).await {
        Ok(hello) => Ok((running, hello)),
        // Slow to start, and now refusing the old handshake: it may be modern after all.
        Err(refused) if silent && refused.reason == Reason::ErrorReply => {
            drop(running);
            match probe(config, config.limits.start).await? {
                (running, Probed::Modern(hello)) => Ok((running, hello)),
                (_killed, Probed::Legacy { .. }) => Err(unusable(config, &refused)),
            }
        }
        Err(refused) => Err(unusable(config, &refused)),
    }
}

async fn probe(config: &StdioConfig, patience: Duration) -> Result<(Running, Probed), Error> {
    let running = Running::start(config)?;
    let probed = handshake::discover(&running.link, patience).await?;
    Ok((running, probed))
}

/// Nothing of a call was sent, whatever became of the handshake.
fn unusable(config: &StdioConfig, cause: &Error) -> Error {
    if cause.reason == Reason::NotConnected {
        return cause.clone();
    }
    Error { data: cause.data.clone(), ..not_connected(&config.name, format!("{}; run its command by hand to see why", cause.message)) }
}
