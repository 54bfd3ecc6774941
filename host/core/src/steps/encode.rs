//! Step 8: the request, made of what was authorised and of nothing else.

use std::sync::Arc;
use std::time::Instant;

use tokio_util::sync::CancellationToken;

use crate::json::{Json, Object};
use crate::model::{Call, CallId, Error, Kind, ProgressSink, Reason, ToolCall};
use crate::run::{Run, now_ms};
use crate::store::Grantee;
use crate::upstream::{Connection, Round};

use super::ask::{self, Authorized};
use super::fingerprint::store_failed;
use super::plain::Ungoverned;
use super::resolve::{reconnected, still_offered};
use super::seal::Seal;
use super::{meta, policy};
use crate::catalog::keeps_changing;

/// How often what a call rests on is looked at again because the server's list changed meanwhile.
const MAX_LOOKS: usize = 3;

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
    let connection = unchanged(run, call, &seal).and_then(|()| connection(run, call));
    let connection = run.judged("encode", since, connection)?;
    Ok(Encoded {
        name: call.tool.name().to_owned(),
        arguments: call.arguments.canonical().to_owned(),
        decided: Some(Decided { call: call.clone(), grant }),
        ..Encoded::frame(run, connection)
    })
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

/// The connection that listed the tool; another one may offer another tool under the same name (T4).
fn connection(run: &Run<'_>, call: &Call) -> Result<Arc<dyn Connection>, Error> {
    let listed = run.listing.as_ref().filter(|listed| listed.id.connection == call.tool.listing().connection);
    listed.map(|listed| listed.connection.clone()).ok_or_else(reconnected)
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
        Round {
            params,
            call_id: self.call_id.clone(),
            progress: self.progress.clone(),
            deadline: self.deadline,
            cancel: self.cancel.clone(),
        }
    }

    /// Looked at before each round (T6), the first too: the caller still wants the call, what it rests on is still granted, the policy
    /// of now does not deny it, and the server still offers what was decided on. Where that had to be read anew, time went by, so all
    /// of it is looked at once more.
    pub(super) async fn may_still_go(&self, run: &mut Run<'_>) -> Result<(), Error> {
        let Some(decided) = &self.decided else { return self.is_wanted() };
        for _ in 0..=MAX_LOOKS {
            self.is_wanted()?;
            still_granted(run, decided).await?;
            policy::still_allows(run, &decided.call).await?;
            if !self.connection.is_open() {
                return Err(reconnected());
            }
            // Last of all, and nothing is awaited between this and the wire.
            if self.offers(run, &decided.call) {
                return self.is_wanted();
            }
            still_offered(run, &decided.call).await?;
        }
        Err(keeps_changing(&run.pipeline.upstream.identity()))
    }

    fn is_wanted(&self) -> Result<(), Error> {
        if self.cancel.is_cancelled() {
            return Err(Error::new(Kind::Transport, Reason::Cancelled, "the caller cancelled the call"));
        }
        if Instant::now() >= self.deadline {
            return Err(Error::new(Kind::Transport, Reason::Timeout, "the call's time was over before it could be sent"));
        }
        Ok(())
    }

    /// Whether the tool list that is known is the connection's, and has the definition that was decided on (T4).
    fn offers(&self, run: &Run<'_>, call: &Call) -> bool {
        let listed = run.listing.as_ref().filter(|listed| listed.id.generation == self.connection.generation());
        listed.and_then(|listed| listed.tools.get(call.tool.name())).is_some_and(|tool| tool.fingerprint() == call.tool.fingerprint())
    }
}

/// The grant that settled the ask is live, and so is what lifted the pin where no baseline did.
async fn still_granted(run: &Run<'_>, decided: &Decided) -> Result<(), Error> {
    let revoked = || Error::new(Kind::Denied, Reason::GrantRevoked, "the grant that allowed the call was revoked or has expired");
    if let Some(id) = &decided.grant {
        let live = run.pipeline.grants.is_live(id, now_ms()).await.map_err(|error| store_failed(&error))?;
        if !live {
            return Err(revoked());
        }
    }
    if run.pin_lifted {
        let grantee = Grantee { now_ms: now_ms(), ..ask::grantee(run, &decided.call) };
        let granted = run.pipeline.grants.granted(grantee).await.map_err(|error| store_failed(&error))?;
        if !granted.contains(&decided.call.tool.fingerprint()) {
            return Err(revoked());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::{Duration, Instant};

    use async_trait::async_trait;

    use super::encode;
    use crate::digest::Digest;
    use crate::json::{Json, Object};
    use crate::model::{Arguments, Call, CallOptions, Effect, Era, Error, ListingId, Principal, Reason, ServerIdentity, Tool, ToolCall};
    use crate::pipeline::PipelineBuilder;
    use crate::policy::Policy;
    use crate::revision::Revision;
    use crate::run::Run;
    use crate::steps::fingerprint::Pin;
    use crate::steps::{ask, policy, resolve};
    use crate::upstream::{Connection, InputGate, InputKinds, Round, Upstream};

    const DEFINITION: &str = r#"{"name":"a","inputSchema":{"type":"object"}}"#;

    fn identity(name: &str) -> Arc<ServerIdentity> {
        Arc::new(ServerIdentity { name: "files".parse().unwrap(), digest: Digest::of(name) })
    }

    /// Lists `a` and is never called.
    struct Listing;

    #[async_trait]
    impl Upstream for Listing {
        fn identity(&self) -> Arc<ServerIdentity> {
            identity("files")
        }

        async fn connect(&self) -> Result<Arc<dyn Connection>, Error> {
            Ok(Arc::new(Listing))
        }
    }

    #[async_trait]
    impl Connection for Listing {
        fn id(&self) -> u64 {
            1
        }

        fn generation(&self) -> u64 {
            0
        }

        fn is_open(&self) -> bool {
            true
        }

        fn era(&self) -> Era {
            Era::Legacy
        }

        fn instructions(&self) -> Option<String> {
            None
        }

        fn declared(&self) -> InputKinds {
            InputKinds::default()
        }

        fn host_meta(&self) -> Object {
            Object::new()
        }

        async fn list_page(&self, _: Option<&str>, _: Instant) -> Result<Json, Error> {
            Ok(Json::parse(&format!(r#"{{"tools":[{DEFINITION}]}}"#)).unwrap())
        }

        async fn call(&self, _: Round, _: &dyn InputGate) -> Result<Json, Error> {
            panic!("nothing is sent here")
        }
    }

    fn tool(server: &str, definition: &str, connection: u64) -> Arc<Tool> {
        let listing = ListingId { connection, generation: 0 };
        Arc::new(Tool::new(identity(server), Json::parse(definition).unwrap(), false, listing).unwrap())
    }

    /// T2, T3: whatever differs between the decision and what would be sent is named, and nothing is sent.
    #[tokio::test]
    async fn args_changed() {
        type Change = fn(&mut Run<'_>, &mut Call);
        let cases: [(&str, Change); 9] = [
            ("", |_, _| ()),
            ("arguments", |_, call| call.arguments = Arguments::parse(r#"{"x":1}"#).unwrap()),
            ("server", |_, call| call.tool = tool("other", DEFINITION, 1)),
            ("connection", |_, call| call.tool = tool("files", DEFINITION, 2)),
            ("tool, fingerprint", |_, call| call.tool = tool("files", r#"{"name":"b","inputSchema":{"type":"object"}}"#, 1)),
            ("meta", |run, _| drop(run.options.meta.insert("com.example/x".to_owned(), true.into()))),
            ("principal", |run, _| run.options.principal = Some(Principal::new("cli", "bob"))),
            ("revision", |run, _| run.revision = Arc::new(Revision { id: "r2".to_owned(), ..Revision::default() })),
            ("deadline", |run, _| run.deadline += Duration::from_secs(1)),
        ];
        for (changed, change) in cases {
            let policy = Policy { default: Some(Effect::Allow), ..Policy::default() };
            let revision = Revision { id: "r1".to_owned(), policy: Some(policy), ..Revision::default() };
            let pipeline = PipelineBuilder::new(Arc::new(Listing)).revision(revision).build();
            let given = ToolCall::new("a", Arguments::none()).with(CallOptions::default().principal(Principal::new("cli", "alice")));
            let mut run = Run::open(&pipeline, &given);
            let resolved = resolve::resolve(&mut run, &given).await.unwrap();
            let mut call = run.begin(resolved, given);
            let decided = policy::decide(&mut run, &call, Pin::default(), Vec::new()).await;
            let authorized = ask::settle(&mut run, &call, decided).await.unwrap();
            change(&mut run, &mut call);
            match encode(&mut run, &call, authorized).await {
                Ok(_) => assert_eq!(changed, "", "it was encoded"),
                Err(error) => {
                    assert_eq!(error.reason, Reason::ArgsChanged, "{changed}");
                    let named: Vec<_> = error.data.get("changed").unwrap().as_array().unwrap().iter().filter_map(Json::as_str).collect();
                    assert_eq!(named.join(", "), changed);
                }
            }
        }
    }
}
