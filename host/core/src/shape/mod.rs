//! Shaping for a model (step 12, PI-2), and cleaning of whatever else a model or a person sees.
//!
//! A server's result is text that a model will read and a person may not: invisible characters carry orders, media carry scripts,
//! size buries what matters. What is left here is plain, bounded, and says what was changed.

mod blocks;
mod budget;
mod flags;
mod media;
mod text;

use crate::json::{Json, Object};
use crate::model::{Error, ServerName, ToolResult};

pub use budget::MIN_RESULT_BYTES;
pub use flags::{Flag, Flags};
pub use text::{Cleaned, clean_text, show_json, show_text};

/// A result for a language model's context. A type of its own, so that nothing is shaped twice or passes unshaped by mistake.
#[derive(Clone, Debug, PartialEq)]
pub struct Shaped {
    value: Json,
    provenance: Provenance,
}

/// Where a shaped result came from and what was changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Provenance {
    /// The server that gave it.
    pub server_id: ServerName,
    /// Whether a hook of this host made it in the server's place.
    pub synthetic: bool,
    /// Whether something was cut.
    pub truncated: bool,
    /// What was changed.
    pub flags: Flags,
}

impl Shaped {
    /// The result object: `content`, `structuredContent` and `isError` as far as there are any, and `provenance`.
    #[must_use]
    pub fn value(&self) -> &Json {
        &self.value
    }

    /// Where it came from and what was changed.
    #[must_use]
    pub fn provenance(&self) -> &Provenance {
        &self.provenance
    }

    /// Whether the tool itself failed.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.value.get("isError").is_some()
    }
}

/// Shapes a result: cleans text and keys, drops media that could carry scripts, `_meta` and unknown keys, and caps the whole at
/// `max_bytes` (at least [`MIN_RESULT_BYTES`]).
#[must_use]
pub fn shape(result: &ToolResult, server: &ServerName, max_bytes: usize) -> Shaped {
    shape_cleaned(result, server, max_bytes, Flags::default())
}

/// As [`shape`], of a result that was cleaned before, with what that changed.
pub(crate) fn shape_cleaned(result: &ToolResult, server: &ServerName, max_bytes: usize, mut flags: Flags) -> Shaped {
    let blocks = result.content().iter().map(|block| blocks::shape_block(block, &mut flags)).collect();
    let structured = result.structured_content().map(|value| clean_json(value, &mut flags));
    let fitted = budget::fit(blocks, structured, max_bytes);
    let provenance = Provenance { server_id: server.clone(), synthetic: result.is_synthetic(), truncated: fitted.truncated, flags };
    let mut object = Object::new();
    object.insert("content".to_owned(), fitted.content.into());
    if let Some(structured) = fitted.structured {
        object.insert("structuredContent".to_owned(), structured);
    }
    if result.is_error() {
        object.insert("isError".to_owned(), true.into());
    }
    object.insert("provenance".to_owned(), provenance.to_json());
    Shaped { value: object.into(), provenance }
}

/// Cleans a raw result's text where it is, and changes nothing else: what post-hooks read, so that a secret cannot hide from them
/// behind an invisible character (T18). A member whose name is not clean goes: cleaned, it would pass for one that was checked.
#[must_use]
pub(crate) fn clean_result(result: ToolResult) -> (ToolResult, Flags) {
    let mut flags = Flags::default();
    if is_clean(result.value()) {
        return (result, flags);
    }
    let members = result.value().as_object().into_iter().flatten();
    let named: Object =
        members.filter(|(key, _)| clean_text(key).text == **key).map(|(key, value)| (key.clone(), clean_json(value, &mut flags))).collect();
    if Some(named.len()) != result.value().as_object().map(Object::len) {
        flags.add(Flag::KeysChanged);
    }
    (result.with_value(named.into()), flags)
}

/// Whether cleaning would change nothing.
fn is_clean(value: &Json) -> bool {
    match value {
        Json::String(text) => text::is_clean(text),
        Json::Array(items) => items.iter().all(is_clean),
        Json::Object(object) => object.iter().all(|(key, item)| text::is_clean(key) && is_clean(item)),
        _ => true,
    }
}

/// An error's text and data as a model may see them. Shaping twice changes nothing more.
#[must_use]
pub fn shape_error(error: Error) -> Error {
    let mut flags = Flags::default();
    let message = clean_text(&error.message).text.chars().take(budget::MAX_ERROR_MESSAGE_CHARS).collect();
    let data = budget::cap_json(clean_json(&error.data, &mut flags), budget::MAX_ERROR_DATA_BYTES);
    Error { message, data, ..error }
}

/// Cleans every string and key. Two keys that become equal are not merged: the one that was clean stays, else the first.
fn clean_json(value: &Json, flags: &mut Flags) -> Json {
    match value {
        Json::String(text) => flags.take(clean_text(text)).into(),
        Json::Array(items) => items.iter().map(|item| clean_json(item, flags)).collect::<Vec<_>>().into(),
        Json::Object(object) => {
            let mut cleaned = Object::new();
            for (key, item) in object {
                let new_key = flags.take(clean_text(key));
                let item = clean_json(item, flags);
                if new_key == *key {
                    cleaned.insert(new_key, item);
                    continue;
                }
                flags.add(Flag::KeysChanged);
                if !object.contains_key(&new_key) {
                    cleaned.entry(new_key).or_insert(item);
                }
            }
            cleaned.into()
        }
        scalar => scalar.clone(),
    }
}

impl Provenance {
    fn to_json(&self) -> Json {
        let flags: Vec<Json> = self.flags.iter().map(|flag| flag.as_str().into()).collect();
        let synthetic = self.synthetic.then_some(("synthetic", Json::from(true)));
        [("server_id", Json::from(self.server_id.as_str())), ("truncated", self.truncated.into()), ("flags", flags.into())]
            .into_iter()
            .chain(synthetic)
            .collect()
    }
}
