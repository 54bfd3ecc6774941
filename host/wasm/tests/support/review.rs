//! Approvers run inside a whole call, since only core can make the prompt that they are given.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use callgate_core::extension::{Approver, Prompt, PromptError, PromptRequest, Prompter, Verdict};
use callgate_core::model::{Arguments, Call, Error, Metered, Question, ToolCall};
use callgate_core::pipeline::PipelineBuilder;
use callgate_core::policy::Policy;
use callgate_core::revision::{AskOptions, Entry, Revision};
use callgate_wasm::Plugin;

use super::{Counting, Outcome};

/// A person who thinks for a while and then says this.
#[derive(Clone)]
pub(crate) struct Person {
    pub(crate) thinks: Duration,
    pub(crate) says: Result<Verdict, PromptError>,
    /// What was shown, and whether an asking is still open.
    pub(crate) seen: Arc<Mutex<Vec<(String, String)>>>,
    pub(crate) waiting: Arc<Mutex<i32>>,
}

impl Person {
    pub(crate) fn new(thinks: Duration, says: Result<Verdict, PromptError>) -> Self {
        Self { thinks, says, seen: Arc::default(), waiting: Arc::default() }
    }
}

struct Waiting<'a>(&'a Mutex<i32>);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        *self.0.lock().unwrap() -= 1;
    }
}

#[async_trait]
impl Prompter for Person {
    async fn ask(&self, request: PromptRequest) -> Result<Verdict, PromptError> {
        self.seen.lock().unwrap().push((request.headline, request.details));
        *self.waiting.lock().unwrap() += 1;
        let _waiting = Waiting(&self.waiting);
        tokio::time::sleep(self.thinks).await;
        self.says.clone()
    }
}

/// Passes a review on to the plugin and keeps how it ended.
struct Recorder {
    plugin: Arc<dyn Approver>,
    outcome: Mutex<Option<Outcome>>,
}

#[async_trait]
impl Approver for Recorder {
    async fn review(&self, call: Call, question: Arc<Question>, prompt: Prompt) -> Metered<Verdict> {
        let metered = self.plugin.review(call, question, prompt).await;
        *self.outcome.lock().unwrap() = Some(metered.clone().into());
        metered
    }
}

/// How the plugin's review of a call of `read_file` ended. A review that was cut off says so.
pub(crate) fn reviewed(plugin: &Plugin, person: Option<Person>) -> Outcome {
    reviewed_within(plugin, person, Duration::from_secs(20)).0
}

/// The same under an ask time-out, with what the caller got.
pub(crate) fn reviewed_within(plugin: &Plugin, person: Option<Person>, timeout: Duration) -> (Outcome, Result<String, Error>) {
    let recorder = Arc::new(Recorder { plugin: plugin.approver().unwrap(), outcome: Mutex::default() });
    let revision = Revision {
        policy: Some(Policy::default()),
        approver: Some(Entry::trusted("approver", recorder.clone() as Arc<dyn Approver>)),
        ask: AskOptions { timeout, ..AskOptions::default() },
        ..Revision::default()
    };
    let mut builder = PipelineBuilder::new(Arc::new(Counting::default())).revision(revision);
    if let Some(person) = person {
        builder = builder.prompter(Arc::new(person));
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let call = ToolCall::new("read_file", Arguments::parse(r#"{"path":"/srv/a"}"#).unwrap());
    let reply = runtime.block_on(builder.build().run(call)).map(|reply| reply.value().to_string());
    let cut = Outcome { said: Err("cut off".to_owned()), text: None, fuel: None, note: None };
    (recorder.outcome.lock().unwrap().take().unwrap_or(cut), reply)
}
