//! Step 7: an ask is settled by a live grant or by the approver; anything else is a deny.
//!
//! What comes out is [`Authorized`]: only this module makes one, and only it lets a call be encoded.

mod approval;
mod earlier;
mod grant;

use std::time::Instant;

use crate::model::{Call, Effect, Error};
use crate::run::Run;

use super::policy::Decided;
use super::resolve::still_offered;
use super::seal::Seal;

pub(crate) use earlier::Earlier;
pub(super) use grant::{grantee, may_have_grants};

/// A call that may be sent: once, as it was when this was made. Not `Clone`, and used up by encoding (T2).
pub struct Authorized {
    seal: Seal,
    grant: Option<String>,
}

impl Authorized {
    /// For the call as it is now.
    fn seal(run: &Run<'_>, call: &Call, grant: Option<String>) -> Self {
        Self { seal: Seal::of(run, call), grant }
    }

    /// What it is for, and the grant it rests on.
    pub(super) fn open(self) -> (Seal, Option<String>) {
        (self.seal, self.grant)
    }
}

/// Settles a decision.
pub(crate) async fn settle(run: &mut Run<'_>, call: &Call, decided: Decided) -> Result<Authorized, Error> {
    let since = Instant::now();
    match decided.decision.effect {
        Effect::Allow => Ok(Authorized::seal(run, call, None)),
        Effect::Deny => Err(Error::denied(&decided.decision)),
        Effect::Ask => {
            let settled = ask(run, call, &decided).await;
            let verdict = settled.as_ref().map_or_else(|error| error.reason.as_str(), |(_, verdict)| *verdict);
            run.step("ask", verdict, since);
            settled.map(|(authorized, _)| authorized)
        }
    }
}

async fn ask(run: &mut Run<'_>, call: &Call, decided: &Decided) -> Result<(Authorized, &'static str), Error> {
    if let Some(id) = grant::settle(run, call, &decided.decision).await? {
        return Ok((Authorized::seal(run, call, Some(id)), "granted"));
    }
    let waited = Instant::now();
    let approval = approval::review(run, call, decided).await?;
    // The wait for a person is not the server's time.
    run.deadline += waited.elapsed();
    still_offered(run, call).await?;
    let (grant, verdict) = match approval {
        approval::Approval::Once => (None, "allow_once"),
        approval::Approval::Always(terms) => (Some(grant::record(run, call, &decided.decision, terms).await?), "allow_always"),
    };
    run.pipeline.earlier.remember(run, call);
    Ok((Authorized::seal(run, call, grant), verdict))
}
