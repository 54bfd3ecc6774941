//! Answers to servers' requests for input, from a file (`--answers`).
//!
//! `{"form":[{"accept":{...}}|"decline"|"cancel"], "url":["accept"|"decline"|"cancel"], "sampling":[RESULT], "roots":[{"uri","name"}]}`:
//! each list is used up in order, and only kinds that are there are declared to the server.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use callgate::core::handler::{ElicitAnswer, Elicitation, Handler, Root};
use callgate::core::json::{Json, Object};
use callgate::core::model::ServerName;
use callgate::core::upstream::InputKinds;

/// A handler that answers from lists.
pub(crate) struct Answers {
    kinds: InputKinds,
    form: Mutex<VecDeque<ElicitAnswer>>,
    url: Mutex<VecDeque<ElicitAnswer>>,
    sampling: Mutex<VecDeque<Json>>,
    roots: Vec<Root>,
}

impl Answers {
    /// Reads a file of answers.
    pub(crate) fn read(file: &Path) -> Result<Self, String> {
        let malformed = |what: String| format!("{}: {what}", file.display());
        let text = std::fs::read_to_string(file).map_err(|error| malformed(format!("cannot be read: {error}")))?;
        let json = Json::parse(&text).map_err(|error| malformed(error.to_string()))?;
        Self::from_json(&json).map_err(malformed)
    }

    fn from_json(json: &Json) -> Result<Self, String> {
        let object = json.as_object().ok_or("the answers must be an object")?;
        if let Some(unknown) = object.keys().find(|key| !["form", "url", "sampling", "roots"].contains(&key.as_str())) {
            return Err(format!("`{unknown}` is no kind of input: form, url, sampling and roots are"));
        }
        let list = |key: &str| -> Result<Vec<Json>, String> {
            object.get(key).map_or(Ok(Vec::new()), |value| Ok(value.as_array().ok_or_else(|| format!("`{key}` must be a list"))?.to_vec()))
        };
        let has = |key: &str| object.contains_key(key);
        Ok(Self {
            kinds: InputKinds { form: has("form"), url: has("url"), sampling: has("sampling"), roots: has("roots") },
            form: Mutex::new(list("form")?.iter().map(elicited).collect::<Result<_, _>>()?),
            url: Mutex::new(list("url")?.iter().map(elicited).collect::<Result<_, _>>()?),
            sampling: Mutex::new(list("sampling")?.into()),
            roots: list("roots")?.iter().map(root).collect::<Result<_, _>>()?,
        })
    }
}

fn elicited(value: &Json) -> Result<ElicitAnswer, String> {
    match (value.as_str(), value.get("accept")) {
        (Some("accept"), _) => Ok(ElicitAnswer::Accept(Object::new())),
        (Some("decline"), _) => Ok(ElicitAnswer::Decline),
        (Some("cancel"), _) => Ok(ElicitAnswer::Cancel),
        (None, Some(Json::Object(content))) => Ok(ElicitAnswer::Accept(content.clone())),
        _ => Err("an answer is \"accept\", \"decline\", \"cancel\" or {\"accept\": {...}}".to_owned()),
    }
}

fn root(value: &Json) -> Result<Root, String> {
    let text = |key: &str| value.get(key).and_then(Json::as_str).map(str::to_owned);
    Ok(Root { uri: text("uri").ok_or("a root needs a `uri`")?, name: text("name") })
}

fn next<T>(answers: &Mutex<VecDeque<T>>) -> Option<T> {
    answers.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
}

#[async_trait]
impl Handler for Answers {
    fn kinds(&self) -> InputKinds {
        self.kinds
    }

    async fn elicit(&self, _server: &ServerName, elicitation: Elicitation) -> ElicitAnswer {
        let answers = if matches!(elicitation, Elicitation::Form { .. }) { &self.form } else { &self.url };
        next(answers).unwrap_or(ElicitAnswer::Decline)
    }

    async fn sample(&self, _server: &ServerName, _params: Json) -> Option<Json> {
        next(&self.sampling)
    }

    async fn roots(&self, _server: &ServerName) -> Option<Vec<Root>> {
        Some(self.roots.clone())
    }
}
