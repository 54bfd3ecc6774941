//! A call that nothing governs is sent as given (R6).

use std::time::Instant;

use crate::model::{Error, Reply, ToolCall};
use crate::run::Run;

use super::encode::Encoded;
use super::resolve::in_time;
use super::send;

/// Says that nothing governs a call. Only a pipeline without policy, hooks, filters and validation can say so, and only of a call
/// that does not ask to be shaped (T2).
pub struct Ungoverned(());

impl Ungoverned {
    fn claim(run: &Run<'_>) -> Option<Self> {
        (!run.is_governed()).then_some(Self(()))
    }
}

/// Sends the call as given. Nothing is listed, checked or asked; input rounds still pass their gate.
pub(crate) async fn send(run: &mut Run<'_>, call: ToolCall) -> Result<Reply, Error> {
    let Some(nothing_governs) = Ungoverned::claim(run) else { return Err(Error::unknown_tool(&call.name)) };
    let since = Instant::now();
    let connected = in_time(run, run.pipeline.upstream.connect()).await;
    let connection = run.judged("connect", since, connected)?;
    let encoded = Encoded::ungoverned(run, &call, connection, &nothing_governs);
    send::rounds(run, encoded).await.map(Reply::Raw)
}
