//! The JSON tree.

use indexmap::IndexMap;

use super::{Number, Pointer};

/// What a member takes besides its key's text and its value: the key, its hash, and its place in the index.
pub(super) const MEMBER_BYTES: usize = 64;
/// The places that a list has room for when it gets its first element.
const FIRST_PLACES: usize = 4;

/// Members of an object, in the order in which they came.
pub type Object = IndexMap<String, Json>;

/// A JSON value that keeps number tokens and member order, so that what nobody changes leaves as it came.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number, as the token that was read.
    Number(Number),
    /// A string without lone surrogates.
    String(String),
    /// An array.
    Array(Vec<Json>),
    /// An object without duplicate keys.
    Object(Object),
}

impl Json {
    /// An empty object.
    #[must_use]
    pub fn object() -> Self {
        Self::Object(Object::new())
    }

    /// The member of that name, where this is an object that has it.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Json> {
        self.as_object().and_then(|object| object.get(key))
    }

    /// The value at an RFC 6901 pointer; none where there is none.
    #[must_use]
    pub fn at(&self, pointer: &Pointer) -> Option<&Json> {
        pointer.tokens().iter().try_fold(self, |value, token| match value {
            Json::Object(object) => object.get(token.as_str()),
            Json::Array(items) => items.get(Pointer::index(token)?),
            _ => None,
        })
    }

    /// Bytes that the tree takes in memory, by the estimate that bounds what is read: see [`MAX_TREE_BYTES`](super::MAX_TREE_BYTES).
    #[must_use]
    pub fn tree_bytes(&self) -> usize {
        size_of::<Json>()
            + match self {
                Json::String(text) => text.len(),
                Json::Number(number) => number.as_token().len(),
                Json::Array(items) => room(items.len(), size_of::<Json>()) + items.iter().map(Json::tree_bytes).sum::<usize>(),
                Json::Object(object) => {
                    let members = object.iter().map(|(key, value)| MEMBER_BYTES + key.len() + value.tree_bytes());
                    room(object.len(), MEMBER_BYTES + size_of::<Json>()) + members.sum::<usize>()
                }
                _ => 0,
            }
    }

    /// The members, where this is an object.
    #[must_use]
    pub fn as_object(&self) -> Option<&Object> {
        match self {
            Json::Object(object) => Some(object),
            _ => None,
        }
    }

    /// The items, where this is an array.
    #[must_use]
    pub fn as_array(&self) -> Option<&[Json]> {
        match self {
            Json::Array(items) => Some(items),
            _ => None,
        }
    }

    /// The text, where this is a string.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Json::String(text) => Some(text),
            _ => None,
        }
    }

    /// The truth value, where this is one.
    #[must_use]
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Json::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// The number, where this is one.
    #[must_use]
    pub fn as_number(&self) -> Option<&Number> {
        match self {
            Json::Number(number) => Some(number),
            _ => None,
        }
    }

    /// What kind of value this is, in JSON Schema's words.
    #[must_use]
    pub fn type_name(&self) -> &'static str {
        match self {
            Json::Null => "null",
            Json::Bool(_) => "boolean",
            Json::Number(_) => "number",
            Json::String(_) => "string",
            Json::Array(_) => "array",
            Json::Object(_) => "object",
        }
    }

    /// Levels of arrays and objects; a scalar has none. Bounded by [`super::MAX_DEPTH`] for whatever was read by [`Json::parse`].
    #[must_use]
    pub fn depth(&self) -> usize {
        match self {
            Json::Array(items) => 1 + items.iter().map(Json::depth).max().unwrap_or(0),
            Json::Object(object) => 1 + object.values().map(Json::depth).max().unwrap_or(0),
            _ => 0,
        }
    }

    /// The same value for libraries that speak `serde_json`. Numbers that it cannot hold become the nearest that it can: use it
    /// for checking, never for sending or digesting.
    #[must_use]
    pub fn to_serde(&self) -> serde_json::Value {
        match self {
            Json::Null => serde_json::Value::Null,
            Json::Bool(value) => serde_json::Value::Bool(*value),
            Json::Number(number) => serde_json::Value::Number(number.to_serde()),
            Json::String(text) => serde_json::Value::String(text.clone()),
            Json::Array(items) => serde_json::Value::Array(items.iter().map(Json::to_serde).collect()),
            Json::Object(object) => serde_json::Value::Object(object.iter().map(|(key, value)| (key.clone(), value.to_serde())).collect()),
        }
    }
}

impl From<serde_json::Value> for Json {
    fn from(value: serde_json::Value) -> Self {
        match value {
            serde_json::Value::Null => Json::Null,
            serde_json::Value::Bool(value) => Json::Bool(value),
            serde_json::Value::Number(number) => Json::Number(Number::from_serde(&number)),
            serde_json::Value::String(text) => Json::String(text),
            serde_json::Value::Array(items) => Json::Array(items.into_iter().map(Json::from).collect()),
            serde_json::Value::Object(map) => Json::Object(map.into_iter().map(|(key, value)| (key, Json::from(value))).collect()),
        }
    }
}

impl From<Object> for Json {
    fn from(object: Object) -> Self {
        Json::Object(object)
    }
}

impl From<Vec<Json>> for Json {
    fn from(items: Vec<Json>) -> Self {
        Json::Array(items)
    }
}

impl From<&str> for Json {
    fn from(text: &str) -> Self {
        Json::String(text.to_owned())
    }
}

impl From<String> for Json {
    fn from(text: String) -> Self {
        Json::String(text)
    }
}

impl From<bool> for Json {
    fn from(value: bool) -> Self {
        Json::Bool(value)
    }
}

impl From<u64> for Json {
    fn from(value: u64) -> Self {
        Json::Number(value.into())
    }
}

impl From<i64> for Json {
    fn from(value: i64) -> Self {
        Json::Number(value.into())
    }
}

impl<T: Into<Json>> From<Option<T>> for Json {
    fn from(value: Option<T>) -> Self {
        value.map_or(Json::Null, Into::into)
    }
}

impl<K: Into<String>, V: Into<Json>> FromIterator<(K, V)> for Json {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(members: I) -> Self {
        Json::Object(members.into_iter().map(|(key, value)| (key.into(), value.into())).collect())
    }
}

/// What a list that is not empty takes besides its elements: the places that it gets with its first one.
pub(super) fn room(elements: usize, place: usize) -> usize {
    if elements == 0 { 0 } else { (FIRST_PLACES - 1) * place }
}
