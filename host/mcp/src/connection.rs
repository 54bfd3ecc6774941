//! One connection to one server: a child process whose handshake is done.

use std::time::Instant;

use async_trait::async_trait;
use callgate_core::json::{Json, Object};
use callgate_core::model::{Era, Error};
use callgate_core::upstream::{Connection, InputGate, InputKinds, Round};

use crate::exchange::CallHooks;
use crate::fault;
use crate::handshake::Hello;
use crate::pending::Purpose;
use crate::protocol;
use crate::supervisor::Running;

/// A child process that speaks MCP.
pub(crate) struct StdioConnection {
    pub(crate) id: u64,
    pub(crate) running: Running,
    pub(crate) hello: Hello,
}

#[async_trait]
impl Connection for StdioConnection {
    fn id(&self) -> u64 {
        self.id
    }

    fn generation(&self) -> u64 {
        self.running.link.generation()
    }

    fn is_open(&self) -> bool {
        self.running.link.pending.is_open() && !self.running.link.close.is_cancelled()
    }

    fn era(&self) -> Era {
        self.hello.era
    }

    fn instructions(&self) -> Option<String> {
        self.hello.instructions.clone()
    }

    fn declared(&self) -> InputKinds {
        self.running.link.declared
    }

    fn host_meta(&self) -> Object {
        match self.hello.era {
            Era::Legacy => Object::new(),
            Era::Modern => protocol::host_meta(self.declared()),
        }
    }

    async fn list_page(&self, cursor: Option<&str>, deadline: Instant) -> Result<Json, Error> {
        let meta = self.host_meta();
        let members = [("cursor", cursor.map(Json::from)), ("_meta", (!meta.is_empty()).then_some(Json::Object(meta)))];
        let params = members.into_iter().filter_map(|(key, value)| Some((key, value?))).collect();
        let link = &self.running.link;
        let page = link.request(Purpose::List, "tools/list", &params, deadline).await?;
        if page.as_object().is_none() {
            return Err(fault::protocol(&link.name, format!("`tools/list` with {}, and an object is needed", page.type_name())));
        }
        Ok(page)
    }

    async fn call(&self, round: Round, input: &dyn InputGate) -> Result<Json, Error> {
        let hooks = CallHooks {
            token: round.wants_progress().then(|| round.call_id().as_str()),
            report: &|progress| round.report(progress),
            input,
            cancel: round.cancel(),
        };
        self.running.link.call(round.params(), round.deadline(), hooks).await
    }
}
