//! A scripted server in memory, which writes down everything that reaches it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant;

use async_trait::async_trait;
use callgate_core::json::{Json, Object};
use callgate_core::model::{Era, Error, Kind, Progress, Reason, Sent, ServerIdentity};
use callgate_core::upstream::{Connection, InputGate, InputKinds, InputRefusal, Round, Upstream};

use super::make::{definition, done, identity, json};

pub(crate) type Kinds = InputKinds;
type Act = Arc<dyn Fn() + Send + Sync>;

/// What the server does with one round.
pub(crate) enum Turn {
    /// Answers with this result.
    Reply(Json),
    /// Fails like this.
    Fail(Error),
    /// Says nothing until the round is over.
    Hang,
    /// Asks the client this during the call, as a legacy server does, and then answers.
    Ask(&'static str, Json, Json),
    /// Does something and then answers.
    Act(Act, Json),
    /// Reports progress and then answers.
    Progress(&'static str, Json),
}

/// A server; clones are the same one.
#[derive(Clone)]
pub(crate) struct Server {
    identity: Arc<ServerIdentity>,
    state: Arc<Mutex<State>>,
}

struct State {
    era: Era,
    declared: InputKinds,
    host_meta: Object,
    connection: u64,
    generation: u64,
    open: bool,
    refuses: Option<Error>,
    never: Option<&'static str>,
    pages: Vec<Json>,
    turns: VecDeque<Turn>,
    rounds: Vec<String>,
    tokens: Vec<String>,
    cursors: Vec<Option<String>>,
    heard: Vec<Result<Json, InputRefusal>>,
    on_list: Option<Act>,
    instructions: Option<String>,
}

impl Server {
    /// With one tool, `read`, that takes anything, and answers `ok`.
    pub(crate) fn new() -> Self {
        Self::with([definition("read", "")])
    }

    pub(crate) fn with(tools: impl IntoIterator<Item = Json>) -> Self {
        let server = Self {
            identity: identity("files"),
            state: Arc::new(Mutex::new(State {
                era: Era::Modern,
                declared: InputKinds::default(),
                host_meta: Object::new(),
                connection: 1,
                generation: 0,
                open: true,
                refuses: None,
                never: None,
                pages: Vec::new(),
                turns: VecDeque::new(),
                rounds: Vec::new(),
                tokens: Vec::new(),
                cursors: Vec::new(),
                heard: Vec::new(),
                on_list: None,
                instructions: None,
            })),
        };
        server.lists(tools);
        server
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// Lists these from now on, in one page with a long life; says nothing of the change.
    pub(crate) fn lists(&self, tools: impl IntoIterator<Item = Json>) {
        let tools: Json = tools.into_iter().collect::<Vec<_>>().into();
        self.pages([json(&format!(r#"{{"tools":{tools},"ttlMs":600000}}"#))]);
    }

    /// Lists these raw pages.
    pub(crate) fn pages(&self, pages: impl IntoIterator<Item = Json>) {
        self.state().pages = pages.into_iter().collect();
    }

    /// Says that its list changed.
    pub(crate) fn list_changed(&self) {
        self.state().generation += 1;
    }

    /// Is another process from now on.
    pub(crate) fn reconnect(&self) {
        let mut state = self.state();
        state.connection += 1;
        state.generation = 0;
    }

    /// Drops the connection without a new one.
    pub(crate) fn close(&self) {
        self.state().open = false;
    }

    pub(crate) fn refuse(&self, error: Error) {
        self.state().refuses = Some(error);
    }

    pub(crate) fn never_connects(self) -> Self {
        self.state().never = Some("connect");
        self
    }

    pub(crate) fn never_lists(self) -> Self {
        self.state().never = Some("list");
        self
    }

    async fn unless_never(&self, act: &str) {
        if self.state().never == Some(act) {
            std::future::pending::<()>().await;
        }
    }

    pub(crate) fn era(self, era: Era) -> Self {
        self.state().era = era;
        self
    }

    pub(crate) fn declare(self, kinds: InputKinds) -> Self {
        self.state().declared = kinds;
        self
    }

    pub(crate) fn host_meta(self, meta: Object) -> Self {
        self.state().host_meta = meta;
        self
    }

    pub(crate) fn instruct(self, text: &str) -> Self {
        self.state().instructions = Some(text.to_owned());
        self
    }

    /// Answers the next rounds so; `ok` when there is no more.
    pub(crate) fn turns(self, turns: impl IntoIterator<Item = Turn>) -> Self {
        self.state().turns.extend(turns);
        self
    }

    /// Answers the next rounds with these results.
    pub(crate) fn replies(self, replies: impl IntoIterator<Item = Json>) -> Self {
        self.turns(replies.into_iter().map(Turn::Reply))
    }

    /// Does this whenever a page is asked for.
    pub(crate) fn on_list(&self, act: impl Fn() + Send + Sync + 'static) {
        self.state().on_list = Some(Arc::new(act));
    }

    /// The params of every round that arrived.
    pub(crate) fn rounds(&self) -> Vec<String> {
        self.state().rounds.clone()
    }

    /// The call ids of every round that arrived.
    pub(crate) fn call_ids(&self) -> Vec<String> {
        self.state().tokens.clone()
    }

    /// The cursors of every page that was asked for.
    pub(crate) fn cursors(&self) -> Vec<Option<String>> {
        self.state().cursors.clone()
    }

    /// How often the first page was asked for.
    pub(crate) fn listings(&self) -> usize {
        self.state().cursors.iter().filter(|cursor| cursor.is_none()).count()
    }

    /// What the client answered to requests during a call.
    pub(crate) fn heard(&self) -> Vec<Result<Json, InputRefusal>> {
        self.state().heard.clone()
    }
}

#[async_trait]
impl Upstream for Server {
    fn identity(&self) -> Arc<ServerIdentity> {
        self.identity.clone()
    }

    async fn connect(&self) -> Result<Arc<dyn Connection>, Error> {
        self.unless_never("connect").await;
        let state = self.state();
        if let Some(error) = &state.refuses {
            return Err(error.clone());
        }
        Ok(Arc::new(Wire { id: state.connection, server: self.clone() }))
    }
}

struct Wire {
    id: u64,
    server: Server,
}

#[async_trait]
impl Connection for Wire {
    fn id(&self) -> u64 {
        self.id
    }

    fn generation(&self) -> u64 {
        self.server.state().generation
    }

    fn is_open(&self) -> bool {
        let state = self.server.state();
        state.open && state.connection == self.id
    }

    fn era(&self) -> Era {
        self.server.state().era
    }

    fn instructions(&self) -> Option<String> {
        self.server.state().instructions.clone()
    }

    fn declared(&self) -> InputKinds {
        self.server.state().declared
    }

    fn host_meta(&self) -> Object {
        self.server.state().host_meta.clone()
    }

    async fn list_page(&self, cursor: Option<&str>, _deadline: Instant) -> Result<Json, Error> {
        self.server.unless_never("list").await;
        let act = self.server.state().on_list.clone();
        if let Some(act) = act {
            act();
        }
        let mut state = self.server.state();
        state.cursors.push(cursor.map(str::to_owned));
        let asked_before = state.cursors.iter().rev().skip(1).take_while(|_| cursor.is_some());
        // Pages follow each other since the last request without a cursor.
        let since_first = if cursor.is_none() { 0 } else { 1 + asked_before.take_while(|cursor| cursor.is_some()).count() };
        let page = state.pages.get(since_first).or_else(|| state.pages.last()).cloned();
        page.ok_or_else(|| Error::new(Kind::Transport, Reason::Closed, "no page"))
    }

    async fn call(&self, round: Round, input: &dyn InputGate) -> Result<Json, Error> {
        let turn = {
            let mut state = self.server.state();
            state.rounds.push(round.params().to_owned());
            state.tokens.push(round.call_id().to_string());
            state.turns.pop_front().unwrap_or_else(|| Turn::Reply(done("ok")))
        };
        match turn {
            Turn::Reply(value) => Ok(value),
            Turn::Fail(error) => Err(error),
            Turn::Ask(method, params, reply) => {
                let answer = input.answer(method, &params).await;
                self.server.state().heard.push(answer);
                Ok(reply)
            }
            Turn::Act(act, reply) => {
                act();
                Ok(reply)
            }
            Turn::Progress(message, reply) => {
                round.report(Progress { progress: 1.0, total: None, message: Some(message.to_owned()) });
                Ok(reply)
            }
            Turn::Hang => {
                let reason = tokio::select! {
                    () = round.cancel().cancelled() => Reason::Cancelled,
                    () = tokio::time::sleep_until(round.deadline().into()) => Reason::Timeout,
                };
                Err(Error::new(Kind::Transport, reason, "no answer").with_sent(Sent::Unknown))
            }
        }
    }
}
