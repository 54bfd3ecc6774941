//! Small builders: JSON, tools, results, entries, rules, approvers.

use std::sync::Arc;

use async_trait::async_trait;
use callgate_core::extension::{
    Approver, FailureHook, FailureOutcome, Filter, Finding, PostHook, PostOutcome, PreHook, PreOutcome, Predicate, Prompt, PromptError,
    PromptRequest, Prompter, Refusal, Verdict, Visibility,
};
use callgate_core::json::{Json, Object, Pointer};
use callgate_core::model::{
    Arguments, Call, Context, Effect, Era, Error, Failure, FailureKind, GrantTerms, Limit, ListingId, Metered, PluginBudget, Principal,
    Question, ServerIdentity, Tool, ToolCall, ToolResult,
};
use callgate_core::policy::{Condition, Glob, Policy, PredicateEntry, Rule, Truth};
use callgate_core::revision::{AssignScope, Entry, Powers};

pub(crate) fn json(text: &str) -> Json {
    Json::parse(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

pub(crate) fn object(text: &str) -> Object {
    json(text).as_object().unwrap().clone()
}

pub(crate) fn args(text: &str) -> Arguments {
    Arguments::parse(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

pub(crate) fn pointer(text: &str) -> Pointer {
    text.parse().unwrap()
}

/// A definition with an input schema that takes any object, and these further members.
pub(crate) fn definition(name: &str, further: &str) -> Json {
    let further = if further.is_empty() { String::new() } else { format!(",{further}") };
    json(&format!(r#"{{"name":{},"inputSchema":{{"type":"object"}}{further}}}"#, Json::from(name)))
}

pub(crate) fn identity(name: &str) -> Arc<ServerIdentity> {
    Arc::new(ServerIdentity { name: name.parse().unwrap(), digest: callgate_core::digest::Digest::of(name) })
}

/// A tool of the harness' server, as its first listing gives it.
pub(crate) fn tool(definition: Json) -> Arc<Tool> {
    tool_of("files", definition, ListingId { connection: 1, generation: 0 })
}

pub(crate) fn tool_of(server: &str, definition: Json, listing: ListingId) -> Arc<Tool> {
    Arc::new(Tool::new(identity(server), definition, true, listing).unwrap())
}

/// A call as hooks and rules see it: of this tool, by alice, modern, untainted, with an approver.
pub(crate) fn seen(tool: Arc<Tool>, arguments: &str) -> Call {
    let context = Context {
        call_id: None,
        now_ms: 0,
        server: "files".parse().unwrap(),
        era: Era::Modern,
        principal: Some(alice()),
        taint: std::collections::BTreeSet::new(),
        assigns: Arc::new(Object::new()),
        has_approver: true,
        approved_fingerprints: Vec::new(),
        budget: PluginBudget::new(std::time::Duration::from_secs(1)),
    };
    Call { tool, arguments: args(arguments), context: Arc::new(context) }
}

/// A complete text result.
pub(crate) fn done(text: &str) -> Json {
    json(&format!(r#"{{"content":[{{"type":"text","text":{}}}]}}"#, Json::from(text)))
}

/// A result with structured content.
pub(crate) fn structured(content: &str) -> Json {
    json(&format!(r#"{{"content":[],"structuredContent":{content}}}"#))
}

/// An `input_required` result.
pub(crate) fn input_required(members: &str) -> Json {
    json(&format!(r#"{{"resultType":"input_required",{members}}}"#))
}

pub(crate) fn call(name: &str, arguments: &str) -> ToolCall {
    ToolCall::new(name, args(arguments))
}

pub(crate) fn alice() -> Principal {
    Principal::new("test", "alice")
}

pub(crate) fn no(reason: &str) -> Refusal {
    Refusal::new(reason, "because")
}

pub(crate) fn broke() -> Failure {
    Failure::new(FailureKind::NoAnswer)
}

/// Every way in which an extension point can fail.
pub(crate) fn failures() -> Vec<Failure> {
    let kinds = [
        FailureKind::Trap,
        FailureKind::Exit,
        FailureKind::Memory,
        FailureKind::BadReturn,
        FailureKind::Refused,
        FailureKind::NotLoaded,
        FailureKind::NoAnswer,
    ];
    let limits = [Limit::Fuel, Limit::Deadline, Limit::WallClock, Limit::Queue, Limit::CallBudget];
    kinds
        .into_iter()
        .map(Failure::new)
        .chain(limits.into_iter().map(Failure::timeout))
        .map(|failure| failure.with_text("SECRET words"))
        .collect()
}

pub(crate) fn filter(name: &str, run: impl Fn(&Tool) -> Result<Visibility, Failure> + Send + Sync + 'static) -> Entry<dyn Filter> {
    Entry::trusted(name, Arc::new(move |tool: &Arc<Tool>, _: &Arc<Context>| run(tool)) as Arc<dyn Filter>)
}

pub(crate) fn pre(name: &str, run: impl Fn(&Call) -> Result<PreOutcome, Failure> + Send + Sync + 'static) -> Entry<dyn PreHook> {
    Entry::trusted(name, Arc::new(run) as Arc<dyn PreHook>)
}

pub(crate) fn post(
    name: &str,
    run: impl Fn(&Call, &ToolResult) -> Result<PostOutcome, Failure> + Send + Sync + 'static,
) -> Entry<dyn PostHook> {
    Entry::trusted(name, Arc::new(run) as Arc<dyn PostHook>)
}

pub(crate) fn on_failure(
    name: &str,
    run: impl Fn(&Call, &Error) -> Result<FailureOutcome, Failure> + Send + Sync + 'static,
) -> Entry<dyn FailureHook> {
    Entry::trusted(name, Arc::new(run) as Arc<dyn FailureHook>)
}

pub(crate) fn predicate(name: &str, run: impl Fn(&Call) -> Result<Finding, Failure> + Send + Sync + 'static) -> PredicateEntry {
    PredicateEntry { name: name.to_owned(), predicate: Arc::new(run) as Arc<dyn Predicate>, assigns: AssignScope::All }
}

/// The same entry, with these powers only.
pub(crate) fn held<T: ?Sized>(entry: Entry<T>, powers: Powers) -> Entry<T> {
    Entry { powers, ..entry }
}

/// An approver that always says this.
pub(crate) fn approver(verdict: Verdict) -> Entry<dyn Approver> {
    approving(move |_| Ok(verdict.clone()))
}

/// An approver that answers at once.
pub(crate) fn approving(run: impl Fn(Call) -> Result<Verdict, Failure> + Send + Sync + 'static) -> Entry<dyn Approver> {
    let run = Arc::new(run);
    let ask = move |call: Call, _: Arc<Question>| {
        let run = run.clone();
        async move { run(call) }
    };
    Entry::trusted("person", Arc::new(ask) as Arc<dyn Approver>)
}

/// An approver that asks a person first, as often as said, and then says what it wants to say.
pub(crate) struct Prompting {
    pub(crate) times: usize,
    pub(crate) says: Option<Verdict>,
}

#[async_trait]
impl Approver for Prompting {
    async fn review(&self, _call: Call, _question: Arc<Question>, prompt: Prompt) -> Metered<Verdict> {
        let mut heard = Err(PromptError::Unavailable);
        for _ in 0..self.times {
            heard = prompt.ask("headline", "details").await;
        }
        match (&self.says, heard) {
            (Some(verdict), _) => Ok(verdict.clone()).into(),
            (None, Ok(verdict)) => Ok(verdict).into(),
            (None, Err(_)) => Err(Failure::new(FailureKind::NoAnswer)).into(),
        }
    }
}

/// A person who always says this; none is nobody there.
pub(crate) struct Person {
    pub(crate) says: Option<Verdict>,
    pub(crate) asked: std::sync::atomic::AtomicUsize,
    pub(crate) saw: std::sync::Mutex<Vec<String>>,
}

impl Person {
    pub(crate) fn who_says(verdict: impl Into<Option<Verdict>>) -> Arc<Self> {
        Arc::new(Self { says: verdict.into(), asked: 0.into(), saw: std::sync::Mutex::default() })
    }

    pub(crate) fn asked(&self) -> usize {
        self.asked.load(std::sync::atomic::Ordering::Relaxed)
    }
}

#[async_trait]
impl Prompter for Person {
    async fn ask(&self, request: PromptRequest) -> Result<Verdict, PromptError> {
        self.asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        self.saw.lock().unwrap().push(request.call.arguments.canonical().to_owned());
        self.says.clone().ok_or(PromptError::Unanswered)
    }
}

pub(crate) fn always() -> Verdict {
    Verdict::AllowAlways(GrantTerms::default())
}

pub(crate) fn any_tool() -> Condition {
    Condition::Tool(Glob::new("*").unwrap())
}

pub(crate) fn is_tool(glob: &str) -> Condition {
    Condition::Tool(Glob::new(glob).unwrap())
}

/// Allows what no rule is about.
pub(crate) fn allowing() -> Policy {
    Policy { default: Some(Effect::Allow), ..Policy::default() }
}

/// Asks about everything, by the rule `all`.
pub(crate) fn asking() -> Policy {
    Policy { ask: vec![Rule::new("all", any_tool())], ..Policy::default() }
}

/// Denies everything, by the rule `none`.
pub(crate) fn denying() -> Policy {
    Policy { deny: vec![Rule::new("none", any_tool())], ..Policy::default() }
}
