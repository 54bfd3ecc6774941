//! What a server, or a hook in its place, answered.

use std::sync::Arc;

use crate::json::{Json, ParseError, ParseErrorKind};
use crate::shape::Shaped;

use super::{Error, Kind, Reason, Sent};

/// A complete tool result: the raw object, unknown members included.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolResult {
    value: Arc<Json>,
    synthetic: bool,
}

/// Why something is no complete tool result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResultDefect {
    /// Not strict JSON.
    #[error("the result is not strict JSON: {0}")]
    Parse(#[from] ParseError),
    /// No object.
    #[error("the result is {0}, but must be an object")]
    NotAnObject(&'static str),
    /// A `resultType` other than `complete`.
    #[error("the result has an unknown `resultType`")]
    UnknownType,
    /// What only an unfinished result has.
    #[error("the result asks for input, and a hook's result must be complete")]
    Unfinished,
    /// `content` is no array of typed blocks, or `isError` no boolean.
    #[error("the result's `{0}` is malformed")]
    Malformed(&'static str),
}

/// What a call gave: the server's own result, or one shaped for a model. Two types, so that shaping happens once and only once.
#[derive(Clone, Debug)]
pub enum Reply {
    /// As the server, or a hook in its place, gave it.
    Raw(ToolResult),
    /// For a language model's context.
    Shaped(Shaped),
}

impl ToolResult {
    /// The server's own result. Odd content is kept: it is degraded block by block where it is shaped.
    ///
    /// # Errors
    /// [`ResultDefect::NotAnObject`] and [`ResultDefect::UnknownType`].
    pub fn from_server(value: Json) -> Result<Self, ResultDefect> {
        complete_object(&value)?;
        Ok(Self { value: Arc::new(value), synthetic: false })
    }

    /// A result that an extension point made. It must be complete; `_meta` is the host's and is dropped (T19).
    ///
    /// # Errors
    /// Everything that [`ResultDefect`] names.
    pub fn from_extension(value: Json) -> Result<Self, ResultDefect> {
        complete_object(&value)?;
        let Json::Object(mut object) = value else { return Err(ResultDefect::NotAnObject("none")) };
        if object.contains_key("inputRequests") || object.contains_key("requestState") {
            return Err(ResultDefect::Unfinished);
        }
        let block = |item: &Json| item.get("type").and_then(Json::as_str).is_some();
        if !object.get("content").and_then(Json::as_array).is_some_and(|items| items.iter().all(block)) {
            return Err(ResultDefect::Malformed("content"));
        }
        if object.get("isError").is_some_and(|flag| flag.as_bool().is_none()) {
            return Err(ResultDefect::Malformed("isError"));
        }
        object.shift_remove("_meta");
        if object.get("isError") == Some(&Json::Bool(true)) {
            // Only results that are no errors are checked against the output schema, so nothing unchecked may stay.
            object.shift_remove("structuredContent");
        }
        Ok(Self { value: Arc::new(Json::Object(object)), synthetic: true })
    }

    /// A plain text result, as a hook would make one.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        let block: Json = [("type", Json::from("text")), ("text", text.into().into())].into_iter().collect();
        Self { value: Arc::new([("content", Json::from(vec![block]))].into_iter().collect()), synthetic: true }
    }

    /// The same result with another body, of the same origin.
    pub(crate) fn replaced(&self, by: ToolResult) -> Self {
        Self { synthetic: self.synthetic, ..by }
    }

    /// The same result, of the same origin, with its text cleaned.
    pub(crate) fn with_value(&self, value: Json) -> Self {
        Self { value: Arc::new(value), synthetic: self.synthetic }
    }

    /// Whether it is the very value that another result has, and not just an equal one.
    pub(crate) fn is_same(&self, other: &ToolResult) -> bool {
        Arc::ptr_eq(&self.value, &other.value)
    }

    /// The raw object.
    #[must_use]
    pub fn value(&self) -> &Json {
        &self.value
    }

    /// Whether the tool itself failed. Anything but an absent or false `isError` says so: what cannot be read is no success.
    #[must_use]
    pub fn is_error(&self) -> bool {
        !matches!(self.value.get("isError"), None | Some(Json::Bool(false)))
    }

    /// Whether a hook of this host made it, and nothing was sent.
    #[must_use]
    pub fn is_synthetic(&self) -> bool {
        self.synthetic
    }

    /// The content blocks.
    #[must_use]
    pub fn content(&self) -> &[Json] {
        self.value.get("content").and_then(Json::as_array).unwrap_or_default()
    }

    /// The structured content, where there is any; it may be `null`.
    #[must_use]
    pub fn structured_content(&self) -> Option<&Json> {
        self.value.get("structuredContent")
    }
}

impl Reply {
    /// The result as JSON, whichever form it has.
    #[must_use]
    pub fn value(&self) -> &Json {
        match self {
            Reply::Raw(result) => result.value(),
            Reply::Shaped(shaped) => shaped.value(),
        }
    }

    /// Whether a hook of this host made it.
    #[must_use]
    pub fn is_synthetic(&self) -> bool {
        match self {
            Reply::Raw(result) => result.is_synthetic(),
            Reply::Shaped(shaped) => shaped.provenance().synthetic,
        }
    }

    /// Whether the tool itself failed.
    #[must_use]
    pub fn is_error(&self) -> bool {
        match self {
            Reply::Raw(result) => result.is_error(),
            Reply::Shaped(shaped) => shaped.is_error(),
        }
    }
}

impl From<ResultDefect> for Error {
    fn from(defect: ResultDefect) -> Self {
        let reason = match &defect {
            ResultDefect::Parse(parse) => match parse.kind {
                ParseErrorKind::DuplicateKey => Reason::DuplicateKey,
                ParseErrorKind::LoneSurrogate => Reason::LoneSurrogate,
                ParseErrorKind::Depth => Reason::TooDeep,
                ParseErrorKind::Size => Reason::TooLarge,
                _ => Reason::NotJson,
            },
            ResultDefect::NotAnObject(_) => Reason::NotAnObject,
            ResultDefect::UnknownType => Reason::UnknownResultType,
            ResultDefect::Unfinished | ResultDefect::Malformed(_) => Reason::Protocol,
        };
        Error::new(Kind::InvalidResult, reason, defect.to_string()).with_sent(Sent::Yes)
    }
}

fn complete_object(value: &Json) -> Result<(), ResultDefect> {
    let object = value.as_object().ok_or(ResultDefect::NotAnObject(value.type_name()))?;
    match object.get("resultType") {
        None => Ok(()),
        Some(kind) if kind.as_str() == Some("complete") => Ok(()),
        Some(_) => Err(ResultDefect::UnknownType),
    }
}
