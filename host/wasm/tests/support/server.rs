//! A server in memory.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use async_trait::async_trait;
use callgate_core::digest::Digest;
use callgate_core::json::{Json, Object};
use callgate_core::model::{Era, Error, ServerIdentity};
use callgate_core::upstream::{Connection, InputGate, InputKinds, Round, Upstream};

/// A server with one tool, that counts the calls that reach it.
#[derive(Clone, Default)]
pub(crate) struct Counting(Arc<AtomicUsize>);

impl Counting {
    /// How many calls have reached it.
    pub(crate) fn arrived(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

#[async_trait]
impl Upstream for Counting {
    fn identity(&self) -> Arc<ServerIdentity> {
        Arc::new(ServerIdentity { name: "files".parse().unwrap(), digest: Digest::of("files") })
    }

    async fn connect(&self) -> Result<Arc<dyn Connection>, Error> {
        Ok(Arc::new(self.clone()))
    }
}

#[async_trait]
impl Connection for Counting {
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
    async fn list_page(&self, _cursor: Option<&str>, _deadline: Instant) -> Result<Json, Error> {
        Ok(Json::parse(r#"{"tools":[{"name":"read_file","inputSchema":{"type":"object"}}]}"#).unwrap())
    }
    async fn call(&self, _round: Round, _input: &dyn InputGate) -> Result<Json, Error> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Ok(Json::parse(r#"{"content":[{"type":"text","text":"secret"}]}"#).unwrap())
    }
}
