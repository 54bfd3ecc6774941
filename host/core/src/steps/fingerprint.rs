//! Step 3: which definitions of this tool are approved, and whether this one is (PO-6).

use std::sync::Arc;
use std::time::Instant;

use crate::catalog::Listing;
use crate::model::{Call, Context, Error, Kind, Reason};
use crate::observe::Event;
use crate::pipeline::Pipeline;
use crate::revision::{Approved, Revision};
use crate::run::Run;
use crate::store::{Baseline, BaselineKey, PinnedTool, StoreError};
use crate::upstream::Connection;

use super::ask;

/// What the pin says of a call's tool.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pin {
    /// `tool_changed` or `tool_new`, where the definition is not an approved one.
    pub(crate) reason: Option<Reason>,
    /// The definition that was approved, where it is another.
    pub(crate) approved: Option<PinnedTool>,
    /// Whether the definition is approved by a grant alone: it must be live until the call leaves.
    pub(crate) lifted: bool,
}

/// Gathers the approved fingerprints into the call's context, and says whether the definition is one of them. Without a policy
/// nothing is pinned.
pub(crate) async fn gather(run: &mut Run<'_>, call: Call) -> Result<(Call, Pin), Error> {
    let since = Instant::now();
    let gathered = approved(run, &call).await.map_err(|error| store_failed(&error));
    let (fingerprints, pin) = match gathered {
        Ok(gathered) => gathered,
        Err(error) => return run.judged("fingerprint", since, Err(error)),
    };
    run.pin_lifted = pin.lifted;
    run.step("fingerprint", pin.reason.map_or("approved", Reason::as_str), since);
    let context = Arc::new(Context { approved_fingerprints: fingerprints, ..Context::clone(&call.context) });
    let call = Call { context, ..call };
    run.latest = Some(call.clone());
    Ok((call, pin))
}

async fn approved(run: &Run<'_>, call: &Call) -> Result<(Vec<crate::digest::Fingerprint>, Pin), StoreError> {
    let (Some(_), Some(listing)) = (&run.revision.policy, &run.listing) else { return Ok((Vec::new(), Pin::default())) };
    let name = call.tool.name();
    let pinned = match &run.revision.pins.approved {
        Approved::FirstListing => {
            let key = key(run.pipeline, &*listing.connection);
            let baselines = run.pipeline.pins.baselines(call.tool.server()).await?;
            baselines.pinned(&key, name, call.tool.fingerprint()).cloned()
        }
        Approved::Fingerprints(map) => map.get(name).map(|fingerprint| PinnedTool {
            fingerprint: *fingerprint,
            shape: call.tool.shape(),
            definition: crate::json::Json::Null,
        }),
    };
    let mut fingerprints: Vec<_> = pinned.iter().map(|pinned| pinned.fingerprint).collect();
    let is_pinned = fingerprints.contains(&call.tool.fingerprint());
    if ask::may_have_grants(run) {
        fingerprints.extend(run.pipeline.grants.granted(ask::grantee(run, call)).await?);
    }
    let reason = match &pinned {
        _ if fingerprints.contains(&call.tool.fingerprint()) => None,
        Some(_) => Some(Reason::ToolChanged),
        None if run.revision.pins.allow_new_tools => None,
        None => Some(Reason::ToolNew),
    };
    let lifted = reason.is_none() && !is_pinned && fingerprints.contains(&call.tool.fingerprint());
    Ok((fingerprints, Pin { reason, approved: pinned.filter(|_| reason == Some(Reason::ToolChanged)), lifted }))
}

/// Compares a listing with the baseline, once; also one that was read before there was a policy. Calls that come meanwhile wait.
pub(crate) async fn compare(pipeline: &Pipeline, revision: &Revision, listing: &Listing) -> Result<(), Error> {
    if revision.policy.is_none() || !matches!(revision.pins.approved, Approved::FirstListing) {
        return Ok(());
    }
    listing.compared.get_or_try_init(|| record_baseline(pipeline, listing)).await.copied()
}

/// Records the first complete listing of a server by a client with a policy, before filtering; later ones are compared with it,
/// also those under another era or other declared kinds. A tool that has an approved definition under another name inherits nothing;
/// it is reported (T33).
async fn record_baseline(pipeline: &Pipeline, listing: &Listing) -> Result<(), Error> {
    let server = pipeline.upstream.identity();
    let key = key(pipeline, &*listing.connection);
    let first = baseline_of(listing);
    let known = pipeline.pins.baselines(&server).await.map_err(|error| store_failed(&error))?;
    let baselines = if known.0.is_empty() {
        let standing = pipeline.pins.record(&key, first.clone()).await.map_err(|error| store_failed(&error))?;
        if standing.0.iter().any(|(_, baseline)| *baseline == first) {
            pipeline.emit(&Event::BaselineRecorded { server: &server.name, tools: first.tools.len() });
        }
        standing
    } else {
        known
    };
    let standing = baselines.standing(&key, &first).unwrap_or_default();
    for (name, tool) in listing.tools.iter().filter(|(name, _)| !standing.tools.contains_key(*name)) {
        let renamed = standing.tools.iter().find(|(old, pinned)| pinned.shape == tool.shape() && !listing.tools.contains_key(*old));
        if let Some((from, _)) = renamed {
            pipeline.emit(&Event::ToolRenamed { server: &server.name, from, to: name });
        }
    }
    Ok(())
}

/// The definitions of a listing, as they would be approved.
pub(crate) fn baseline_of(listing: &Listing) -> Baseline {
    let pinned = |tool: &crate::model::Tool| PinnedTool {
        fingerprint: tool.fingerprint(),
        shape: tool.shape(),
        definition: tool.definition().clone(),
    };
    Baseline { tools: listing.tools.iter().map(|(name, tool)| (name.clone(), pinned(tool))).collect() }
}

/// Under which circumstances a connection's listing can be compared.
pub(crate) fn key(pipeline: &Pipeline, connection: &dyn Connection) -> BaselineKey {
    let server = pipeline.upstream.identity();
    BaselineKey { server: server.name.to_string(), server_digest: server.digest, era: connection.era(), declared: connection.declared() }
}

/// A store that cannot answer is a deny, never an old allow.
pub(crate) fn store_failed(error: &StoreError) -> Error {
    Error::new(Kind::Denied, Reason::StoreFailed, format!("the store of grants and pins failed, so nothing was sent: {error}"))
}
