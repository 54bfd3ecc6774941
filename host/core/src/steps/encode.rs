//! Step 8: the request, made of what was authorised and of nothing else.

use std::sync::Arc;
use std::time::Instant;

use tokio_util::sync::CancellationToken;

use crate::json::{Json, Object};
use crate::model::{Call, CallId, Error, Kind, ProgressSink, Reason, ToolCall};
use crate::run::{Run, now_ms};
use crate::upstream::{Connection, Round};

use super::ask::Authorized;
use super::fingerprint::store_failed;
use super::plain::Ungoverned;
use super::resolve::{reconnected, still_offered};
use super::seal::Seal;
use super::{meta, policy};

/// A request that may go on the wire, on one connection. Only encoding makes one; not `Clone`, and used up by sending (T2).
pub struct Encoded {
    name: String,
    arguments: String,
    meta: Object,
    pub(super) connection: Arc<dyn Connection>,
    call_id: CallId,
    progress: Option<ProgressSink>,
    pub(super) cancel: CancellationToken,
    pub(super) deadline: Instant,
    decided: Option<Decided>,
}

/// What a governed request rests on, to be looked at again before each round.
struct Decided {
    call: Call,
    grant: Option<String>,
}

/// Answers to a server's input requests, and the state that it wants back.
#[derive(Default)]
pub(super) struct Answers {
    pub(super) responses: Option<Json>,
    pub(super) state: Option<Json>,
}

/// Encodes a call that was authorised. What will be sent must be what was decided on: the seal is made anew and compared.
pub(crate) async fn encode(run: &mut Run<'_>, call: &Call, authorized: Authorized) -> Result<Encoded, Error> {
    let since = Instant::now();
    let (seal, grant) = authorized.open();
    let unchanged = unchanged(run, call, &seal);
    let connected = match unchanged {
        Ok(()) => connection(run, call).await,
        Err(error) => Err(error),
    };
    let connection = run.judged("encode", since, connected)?;
    let encoded = Encoded {
        name: call.tool.name().to_owned(),
        arguments: call.arguments.canonical().to_owned(),
        decided: Some(Decided { call: call.clone(), grant }),
        ..Encoded::frame(run, connection)
    };
    encoded.may_still_go(run).await?;
    Ok(encoded)
}

fn unchanged(run: &Run<'_>, call: &Call, seal: &Seal) -> Result<(), Error> {
    let differences = seal.differences(&Seal::of(run, call));
    if differences.is_empty() {
        return Ok(());
    }
    let data = [("changed", Json::from(differences.iter().map(|name| Json::from(*name)).collect::<Vec<_>>()))];
    let message = format!("what would be sent is not what was decided on: {} changed", differences.join(", "));
    Err(Error::new(Kind::Hook, Reason::ArgsChanged, message).with_data(data.into_iter().collect()))
}

/// The connection that listed the tool, and still does; another one may offer another tool under the same name, and so may this one
/// after a notice of change, or where the caller resolved the tool before (T4).
async fn connection(run: &mut Run<'_>, call: &Call) -> Result<Arc<dyn Connection>, Error> {
    let listed = run.listing.clone().ok_or_else(reconnected)?;
    let connection = listed.connection.clone();
    if connection.id() != call.tool.listing().connection || !connection.is_open() {
        return Err(reconnected());
    }
    let offered = listed.tools.get(call.tool.name()).is_some_and(|tool| tool.fingerprint() == call.tool.fingerprint());
    if !offered || listed.id.generation != connection.generation() {
        still_offered(run, call).await?;
    }
    Ok(connection)
}

impl Encoded {
    /// A call that nothing governs, as it was given.
    pub(super) fn ungoverned(run: &Run<'_>, call: &ToolCall, connection: Arc<dyn Connection>, _nothing_governs: &Ungoverned) -> Self {
        Self { name: call.name.clone(), arguments: call.arguments.canonical().to_owned(), ..Self::frame(run, connection) }
    }

    fn frame(run: &Run<'_>, connection: Arc<dyn Connection>) -> Self {
        let mut host = connection.host_meta();
        if run.options.progress.is_some() {
            host.insert("progressToken".to_owned(), run.call_id.as_str().into());
        }
        Self {
            name: String::new(),
            arguments: String::new(),
            meta: meta::merged(&run.options.meta, host),
            connection,
            call_id: run.call_id.clone(),
            progress: run.options.progress.clone(),
            cancel: run.options.cancel.clone(),
            deadline: run.deadline,
            decided: None,
        }
    }

    /// The next round: the same name, arguments and meta, written from scratch, with answers and state where there are any.
    pub(super) fn round(&self, answers: &Answers) -> Round {
        let mut params = format!(r#"{{"name":{},"arguments":{}"#, Json::from(self.name.as_str()), self.arguments);
        for (key, value) in [("inputResponses", &answers.responses), ("requestState", &answers.state)] {
            if let Some(value) = value {
                params.push_str(&format!(r#","{key}":{value}"#));
            }
        }
        if !self.meta.is_empty() {
            params.push_str(&format!(r#","_meta":{}"#, Json::from(self.meta.clone())));
        }
        params.push('}');
        Round { params, call_id: self.call_id.clone(), progress: self.progress.clone(), deadline: self.deadline, cancel: self.cancel.clone() }
    }

    /// Looked at before each round (T6): the caller still wants the call, the grant it rests on is still live, and the policy of
    /// now does not deny it.
    pub(super) async fn may_still_go(&self, run: &mut Run<'_>) -> Result<(), Error> {
        if self.cancel.is_cancelled() {
            return Err(Error::new(Kind::Transport, Reason::Cancelled, "the caller cancelled the call"));
        }
        if Instant::now() >= self.deadline {
            return Err(Error::new(Kind::Transport, Reason::Timeout, "the call's time was over before it could be sent"));
        }
        let Some(Decided { call, grant }) = &self.decided else { return Ok(()) };
        if let Some(id) = grant {
            let live = run.pipeline.grants.is_live(id, now_ms()).await.map_err(|error| store_failed(&error))?;
            if !live {
                return Err(Error::new(Kind::Denied, Reason::GrantRevoked, "the grant that allowed the call was revoked or has expired"));
            }
        }
        policy::still_allows(run, call).await
    }
}
