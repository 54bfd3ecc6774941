//! Step 9: sending, with all rounds in which the server asks for more input. Nothing above this step runs again for a round.

use std::time::{Duration, Instant};

use crate::json::Json;
use crate::model::{Era, Error, Kind, Reason, Sent, ToolResult};
use crate::run::Run;

use super::encode::{Answers, Encoded};
use super::input::Gate;

/// The pause before a round that carries nothing but the server's own state, times the round.
const STATE_ONLY_PAUSE: Duration = Duration::from_millis(50);

/// Sends an encoded call and gives the server's complete result.
pub(crate) async fn send(run: &mut Run<'_>, encoded: Encoded) -> Result<ToolResult, Error> {
    let since = Instant::now();
    let sent = rounds(run, encoded).await;
    let verdict =
        sent.as_ref().map_or_else(|error| error.reason.as_str(), |result| if result.is_error() { "tool_error" } else { "answered" });
    run.step("send", verdict, since);
    sent
}

/// All rounds, each looked at before it leaves.
pub(super) async fn rounds(run: &mut Run<'_>, encoded: Encoded) -> Result<ToolResult, Error> {
    let gate = Gate::new(run, &encoded);
    let mut answers = Answers::default();
    for round in 0..=run.revision.send.max_rounds {
        let replied = match encoded.may_still_go(run).await {
            Ok(()) => encoded.connection.call(encoded.round(&answers), &gate).await,
            Err(error) => Err(error),
        };
        let value = if round == 0 { replied? } else { replied.map_err(asked_before)? };
        // The legacy era has no rounds: a server that asks so broke the protocol, and its reply is no complete result.
        if encoded.connection.era() == Era::Legacy || !is_input_required(&value) {
            return Ok(ToolResult::from_server(value)?);
        }
        let pause = STATE_ONLY_PAUSE.saturating_mul(u32::try_from(round).unwrap_or(u32::MAX));
        answers = gate.answer_round(&value).await.map_err(asked_before)?;
        if answers.responses.is_none() {
            tokio::time::sleep(pause).await;
        }
    }
    let message = format!("server `{}` asks for input over and over: more than {} rounds", gate.server(), run.revision.send.max_rounds);
    Err(asked_before(Error::new(Kind::Upstream, Reason::TooManyRounds, message)))
}

fn is_input_required(value: &Json) -> bool {
    value.get("resultType").and_then(Json::as_str) == Some("input_required")
}

/// After the first round the server has seen the call, whatever becomes of the next.
fn asked_before(error: Error) -> Error {
    if error.sent == Sent::No { error.with_sent(Sent::Unknown) } else { error }
}
