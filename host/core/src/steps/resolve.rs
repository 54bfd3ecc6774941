//! Step 1: the tool, from the live listing of the live connection.

use std::sync::Arc;
use std::time::Instant;

use crate::catalog::Listing;
use crate::model::{Call, Context, Error, Kind, Reason, Sent, Tool, ToolCall};
use crate::observe::Event;
use crate::pipeline::Pipeline;
use crate::revision::Revision;
use crate::run::Run;

use super::{fingerprint, select};

/// The tool that the call names, and the context of the call.
pub(crate) async fn resolve(run: &mut Run<'_>, given: &ToolCall) -> Result<(Arc<Tool>, Context), Error> {
    let since = Instant::now();
    let pipeline = run.pipeline;
    let revision = run.revision.clone();
    let listed = in_time(run, listing(pipeline, &revision)).await;
    let listing = run.judged("resolve", since, listed)?;
    let context = run.context(listing.connection.era());
    let tool = match &given.tool {
        // Under its own name only: filters, events and records go by the name that the caller gave.
        Some(tool) => (tool.server() == &pipeline.upstream.identity() && tool.name() == given.name).then(|| tool.clone()),
        None => listing.tools.get(&given.name).cloned(),
    };
    run.listing = Some(listing);
    match tool {
        Some(tool) => Ok((tool, context)),
        None => {
            // Filters run for a name that nobody knows as for one that is hidden, so that the time tells nothing (T30).
            let stand_in = Arc::new(Tool::stand_in(pipeline.upstream.identity(), &given.name));
            select::select(run, &given.name, &(stand_in, context)).await?;
            Err(Error::unknown_tool(&given.name))
        }
    }
}

/// The live listing, compared with its baseline where there is a policy, and what was dropped from it reported.
pub(crate) async fn listing(pipeline: &Pipeline, revision: &Revision) -> Result<Arc<Listing>, Error> {
    // Whatever became of the listing's own request, the call has not left.
    let listed = pipeline.catalog.listing(&*pipeline.upstream).await;
    let (listing, is_new) = listed.map_err(|error| error.with_sent(Sent::No))?;
    if is_new {
        let server = pipeline.upstream.identity();
        for (index, defect) in &listing.dropped {
            pipeline.emit(&Event::ToolDropped { server: &server.name, index: *index, defect: defect.to_string() });
        }
    }
    if let Err(error) = fingerprint::compare(pipeline, revision, &listing).await {
        pipeline.catalog.forget().await;
        return Err(error);
    }
    Ok(listing)
}

/// Looks again, after a wait or a notice of change: the server may offer another tool under this name, and what was decided on is
/// the definition that was shown (T4).
pub(crate) async fn still_offered(run: &mut Run<'_>, call: &Call) -> Result<(), Error> {
    let revision = run.revision.clone();
    let listing = in_time(run, listing(run.pipeline, &revision)).await?;
    if listing.id.connection != call.tool.listing().connection {
        return Err(reconnected());
    }
    let offered = listing.tools.get(call.tool.name()).is_some_and(|tool| tool.fingerprint() == call.tool.fingerprint());
    run.listing = Some(listing);
    if offered {
        Ok(())
    } else {
        Err(Error::new(Kind::Denied, Reason::ToolChanged, "the server no longer offers the tool by the definition that was decided on"))
    }
}

/// Waits for something that the call needs before it is sent, for as long as the caller wants the call and its time lasts.
pub(crate) async fn in_time<T>(run: &Run<'_>, needed: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    tokio::select! {
        biased;
        () = run.options.cancel.cancelled() => Err(Error::new(Kind::Transport, Reason::Cancelled, "the caller cancelled the call")),
        needed = tokio::time::timeout_at(run.deadline.into(), needed) => needed.unwrap_or_else(|_| {
            let message = format!("server `{}` did not connect and list its tools within the call's time; give the call more, or run the server's command by hand to see why", run.pipeline.upstream.identity().name);
            Err(Error::new(Kind::Transport, Reason::Timeout, message))
        }),
    }
}

/// The connection that listed the tool is gone.
pub(crate) fn reconnected() -> Error {
    let message = "the connection that listed the tool is gone; list the tools again and call again";
    Error::new(Kind::Transport, Reason::Reconnected, message)
}
