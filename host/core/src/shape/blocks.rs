//! Content blocks, one by one. What is odd is degraded by itself; the rest of the result is not lost.

use crate::json::{Json, Object};

use super::media::{MediaKind, allowed_type};
use super::{Flag, Flags, clean_text};

/// Characters of a declared type that a note repeats.
const MAX_TYPE_CHARS: usize = 100;

pub(super) fn shape_block(block: &Json, flags: &mut Flags) -> Json {
    let shaped = match block.get("type").and_then(Json::as_str) {
        Some("text") => text_of(block, "text").map(|text| text_block(flags.take(clean_text(text)))),
        Some("image") => Some(media(block, MediaKind::Image, flags)),
        Some("audio") => Some(media(block, MediaKind::Audio, flags)),
        Some("resource_link") => text_of(block, "uri").map(|uri| link(block, uri, flags)),
        Some("resource") => block.get("resource").and_then(|resource| embedded(resource, flags)),
        _ => None,
    };
    shaped.unwrap_or_else(|| {
        flags.add(Flag::UnsupportedContent);
        let kind = block.get("type").and_then(Json::as_str).unwrap_or("untyped");
        note(&format!("{} content removed", brief(kind)))
    })
}

fn media(block: &Json, kind: MediaKind, flags: &mut Flags) -> Json {
    let declared = text_of(block, "mimeType").unwrap_or_default();
    match text_of(block, "data").and_then(|data| Some((data, allowed_type(kind, declared, data)?))) {
        Some((data, media_type)) => {
            let name = if kind == MediaKind::Image { "image" } else { "audio" };
            [("type", name), ("data", data), ("mimeType", media_type)].into_iter().collect()
        }
        None => dropped(declared, flags),
    }
}

/// A link's name and address, as text: nothing is ever fetched.
fn link(block: &Json, uri: &str, flags: &mut Flags) -> Json {
    let name = text_of(block, "name").or_else(|| text_of(block, "title")).unwrap_or_default();
    let (name, uri) = (flags.take(clean_text(name)), flags.take(clean_text(uri)));
    text_block(format!("resource link {name}: {uri}"))
}

fn embedded(resource: &Json, flags: &mut Flags) -> Option<Json> {
    let mut shaped = Object::new();
    for key in ["uri", "mimeType"] {
        if let Some(text) = text_of(resource, key) {
            shaped.insert(key.to_owned(), flags.take(clean_text(text)).into());
        }
    }
    if let Some(text) = text_of(resource, "text") {
        shaped.insert("text".to_owned(), flags.take(clean_text(text)).into());
    } else {
        let blob = text_of(resource, "blob")?;
        let declared = text_of(resource, "mimeType").unwrap_or_default();
        let Some(media_type) = allowed_type(MediaKind::Image, declared, blob) else { return Some(dropped(declared, flags)) };
        shaped.insert("mimeType".to_owned(), media_type.into());
        shaped.insert("blob".to_owned(), blob.into());
    }
    Some([("type", Json::from("resource")), ("resource", shaped.into())].into_iter().collect())
}

fn dropped(declared: &str, flags: &mut Flags) -> Json {
    flags.add(Flag::MediaDropped);
    note(&format!("{} removed", if declared.is_empty() { "untyped media".to_owned() } else { brief(declared) }))
}

/// A note of this host. Text of servers that looks like one is marked by `clean_text`.
pub(super) fn note(what: &str) -> Json {
    text_block(format!("[{what} by the MCP client]"))
}

pub(super) fn text_block(text: String) -> Json {
    [("type", Json::from("text")), ("text", text.into())].into_iter().collect()
}

fn brief(text: &str) -> String {
    clean_text(text).text.chars().filter(|character| !matches!(character, '[' | ']' | '\n')).take(MAX_TYPE_CHARS).collect()
}

fn text_of<'a>(object: &'a Json, key: &str) -> Option<&'a str> {
    object.get(key).and_then(Json::as_str)
}
