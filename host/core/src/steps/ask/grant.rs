//! Grants: using one, and recording one.

use std::collections::BTreeSet;

use crate::model::{Call, Decision, Error, GrantTerms, Kind, NewGrant, Reason};
use crate::run::{Run, now_ms};
use crate::steps::fingerprint::store_failed;
use crate::store::{AskedAbout, Grantee};

/// Uses a live grant that settles the ask, where there is one.
pub(super) async fn settle(run: &Run<'_>, call: &Call, decision: &Decision) -> Result<Option<String>, Error> {
    if !decision.grantable || !may_have_grants(run) {
        return Ok(None);
    }
    let causes = causes(decision);
    let grantee = grantee(run, call);
    let ask = AskedAbout { grantee, fingerprint: call.tool.fingerprint(), causes: &causes, arguments: &call.arguments };
    run.pipeline.grants.settle(ask).await.map_err(|error| store_failed(&error))
}

/// Records what a person said for good. If it cannot be written, the call is not sent either: the person believes it was.
pub(super) async fn record(run: &Run<'_>, call: &Call, decision: &Decision, terms: GrantTerms) -> Result<String, Error> {
    if !may_have_grants(run) {
        let message = "allowing for good needs a principal, or `allow_anonymous_grants`; nothing was sent";
        return Err(Error::new(Kind::Denied, Reason::AnonymousGrant, message));
    }
    let now = now_ms();
    let longest = u64::try_from(run.revision.ask.grant_ttl.as_millis()).unwrap_or(u64::MAX);
    let wanted = terms.seconds.map_or(longest, |seconds| seconds.saturating_mul(1_000));
    let grant = NewGrant {
        principal: run.options.principal.as_ref().map(ToString::to_string),
        server: call.tool.server().name.to_string(),
        server_digest: call.tool.server().digest,
        tool: call.tool.name().to_owned(),
        fingerprint: call.tool.fingerprint(),
        causes: causes(decision),
        taint: run.options.taint.clone(),
        expires_ms: now.saturating_add(wanted.min(longest)),
        terms,
    };
    run.pipeline.grants.record(grant, now).await.map_err(|error| store_failed(&error))
}

/// Whose grants count for this call.
pub(crate) fn grantee<'a>(run: &'a Run<'_>, call: &'a Call) -> Grantee<'a> {
    Grantee {
        principal: run.options.principal.as_ref(),
        server: call.tool.server(),
        tool: call.tool.name(),
        taint: &run.options.taint,
        now_ms: run.now_ms,
    }
}

/// Nobody in particular has no grants, unless that is allowed (T34).
pub(crate) fn may_have_grants(run: &Run<'_>) -> bool {
    run.options.principal.is_some() || run.revision.ask.allow_anonymous_grants
}

fn causes(decision: &Decision) -> BTreeSet<String> {
    decision.causes.iter().map(ToString::to_string).collect()
}
