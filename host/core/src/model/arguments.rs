//! A call's arguments: read strictly once, and from then on in one form.

use std::sync::Arc;

use crate::digest::{ArgsDigest, Digest};
use crate::json::{Json, MAX_DEPTH, Object, ParseError, ParseErrorKind, Pointer};

use super::{Error, Kind, Reason};

/// Bytes that a call's arguments may have in canonical form: 4 MiB, what common servers accept in one message.
pub const MAX_ARGUMENT_BYTES: usize = 4 << 20;

/// A JSON object in canonical form with its digest. Cheap to clone; what it holds never changes, so whoever holds it sees what
/// will be sent (PO-11).
#[derive(Clone, Debug)]
pub struct Arguments(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    value: Json,
    canonical: String,
    digest: ArgsDigest,
}

/// Why a text or value cannot be a call's arguments.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArgumentsError {
    /// No JSON, or JSON that two readers could read differently.
    #[error("the arguments are not strict JSON: {0}")]
    Parse(#[from] ParseError),
    /// JSON, but no object.
    #[error("the arguments are {0}, but must be a JSON object")]
    NotAnObject(&'static str),
    /// A number that would be written back with another value.
    #[error("the number at `{0}` would reach the server with another value; send it as a string or with fewer digits")]
    InexactNumber(Pointer),
    /// More than [`MAX_ARGUMENT_BYTES`].
    #[error("the arguments have {0} bytes, more than {MAX_ARGUMENT_BYTES}")]
    TooLarge(usize),
    /// Nested past [`MAX_DEPTH`].
    #[error("the arguments are nested past {MAX_DEPTH} levels")]
    TooDeep,
}

impl Arguments {
    /// No arguments: the empty object, which is also what a call without `arguments` has.
    #[must_use]
    pub fn none() -> Self {
        Self::from_object(Object::new())
    }

    /// Reads a JSON text strictly.
    ///
    /// # Errors
    /// See [`ArgumentsError`].
    pub fn parse(text: &str) -> Result<Self, ArgumentsError> {
        if text.len() > MAX_ARGUMENT_BYTES {
            return Err(ArgumentsError::TooLarge(text.len()));
        }
        Self::from_json(Json::parse(text)?)
    }

    /// Takes a value.
    ///
    /// # Errors
    /// See [`ArgumentsError`].
    pub fn from_json(value: Json) -> Result<Self, ArgumentsError> {
        let Json::Object(object) = value else { return Err(ArgumentsError::NotAnObject(value.type_name())) };
        let value = Json::Object(object);
        if value.depth() > MAX_DEPTH {
            return Err(ArgumentsError::TooDeep);
        }
        if let Some(tokens) = inexact_number(&value) {
            return Err(ArgumentsError::InexactNumber(tokens.into_iter().rev().collect()));
        }
        let arguments = Self::seal(value);
        let size = arguments.canonical().len();
        if size > MAX_ARGUMENT_BYTES { Err(ArgumentsError::TooLarge(size)) } else { Ok(arguments) }
    }

    fn from_object(object: Object) -> Self {
        Self::seal(Json::Object(object))
    }

    fn seal(value: Json) -> Self {
        let canonical = value.canonical();
        let digest = ArgsDigest(Digest::of(&canonical));
        Self(Arc::new(Inner { value, canonical, digest }))
    }

    /// The object.
    #[must_use]
    pub fn value(&self) -> &Json {
        &self.0.value
    }

    /// The canonical text: what plugins and the approver see, what is digested and what is sent.
    #[must_use]
    pub fn canonical(&self) -> &str {
        &self.0.canonical
    }

    /// The digest of the canonical text.
    #[must_use]
    pub fn digest(&self) -> ArgsDigest {
        self.0.digest
    }

    /// The value at a pointer; none where there is none.
    #[must_use]
    pub fn at(&self, pointer: &Pointer) -> Option<&Json> {
        self.value().at(pointer)
    }
}

impl TryFrom<serde_json::Value> for Arguments {
    type Error = ArgumentsError;

    fn try_from(value: serde_json::Value) -> Result<Self, ArgumentsError> {
        Self::from_json(Json::from(value))
    }
}

impl From<ArgumentsError> for Error {
    fn from(error: ArgumentsError) -> Self {
        let reason = match &error {
            ArgumentsError::Parse(parse) => match parse.kind {
                ParseErrorKind::DuplicateKey => Reason::DuplicateKey,
                ParseErrorKind::LoneSurrogate => Reason::LoneSurrogate,
                ParseErrorKind::Depth => Reason::TooDeep,
                ParseErrorKind::Size => Reason::TooLarge,
                _ => Reason::NotJson,
            },
            ArgumentsError::NotAnObject(_) => Reason::NotAnObject,
            ArgumentsError::InexactNumber(_) => Reason::InexactNumber,
            ArgumentsError::TooLarge(_) => Reason::TooLarge,
            ArgumentsError::TooDeep => Reason::TooDeep,
        };
        Error::new(Kind::InvalidArguments, reason, error.to_string())
    }
}

/// Where a number is that would not survive a double and 64 bits. The place is put together on the way back, so that finding none
/// costs nothing.
fn inexact_number(value: &Json) -> Option<Vec<String>> {
    let within = |token: &dyn Fn() -> String, item: &Json| {
        let mut tokens = inexact_number(item)?;
        tokens.push(token());
        Some(tokens)
    };
    match value {
        Json::Number(number) if !number.is_exact() => Some(Vec::new()),
        Json::Array(items) => items.iter().enumerate().find_map(|(index, item)| within(&|| index.to_string(), item)),
        Json::Object(object) => object.iter().find_map(|(key, item)| within(&|| key.clone(), item)),
        _ => None,
    }
}
