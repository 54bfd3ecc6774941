//! The cap on a shaped result, in bytes of the whole JSON.

use crate::json::Json;

use super::blocks::text_block;

/// The smallest cap: below it nothing but the note would be left.
pub const MIN_RESULT_BYTES: usize = 1_024;
/// Bytes of an error's data that a model sees.
pub(super) const MAX_ERROR_DATA_BYTES: usize = 8 << 10;
/// Characters of an error's message that a model sees.
pub(super) const MAX_ERROR_MESSAGE_CHARS: usize = 4_000;
/// What the note, the provenance and the object around them may take.
const OVERHEAD_BYTES: usize = 640;

pub(super) struct Fitted {
    pub(super) content: Vec<Json>,
    pub(super) structured: Option<Json>,
    pub(super) truncated: bool,
}

/// Keeps what fits, in order: the block that crosses the cap is cut on a character boundary if it has text, later blocks and a
/// structured content that no longer fits are dropped, and a last block says what was.
pub(super) fn fit(blocks: Vec<Json>, structured: Option<Json>, max_bytes: usize) -> Fitted {
    let max_bytes = max_bytes.max(MIN_RESULT_BYTES);
    let mut left = max_bytes - OVERHEAD_BYTES;
    let total = blocks.len();
    let mut content = Vec::new();
    let mut lost = Vec::new();
    for (index, block) in blocks.into_iter().enumerate() {
        let size = block.to_string().len() + 1;
        if size <= left {
            left -= size;
            content.push(block);
            continue;
        }
        let cut = cut_text(&block, left);
        let dropped = total - index - usize::from(cut.is_some());
        lost.extend(cut.is_some().then(|| format!("block {} was cut", index + 1)));
        lost.extend((dropped > 0).then(|| format!("{dropped} of {total} blocks were dropped")));
        content.extend(cut);
        left = 0;
        break;
    }
    let fits = structured.as_ref().is_none_or(|value| value.to_string().len() + "\"structuredContent\":,".len() <= left);
    lost.extend((!fits).then(|| "structuredContent was dropped".to_owned()));
    if !lost.is_empty() {
        content.push(text_block(format!("[truncated by the MCP client: {}; the limit is {max_bytes} bytes]", lost.join(", "))));
    }
    Fitted { content, structured: structured.filter(|_| fits), truncated: !lost.is_empty() }
}

/// A block of text, or of a resource's, cut so that its JSON has at most so many bytes; none where it has no text or nothing would
/// be left.
fn cut_text(block: &Json, max_bytes: usize) -> Option<Json> {
    let resource = block.get("resource").and_then(Json::as_object);
    let text = resource.map_or_else(|| block.get("text"), |resource| resource.get("text"))?.as_str()?;
    let with = |text: &str| match resource {
        None => text_block(text.to_owned()),
        Some(resource) => {
            let mut resource = resource.clone();
            resource.insert("text".to_owned(), text.into());
            [("type", Json::from("resource")), ("resource", resource.into())].into_iter().collect()
        }
    };
    let mut left = max_bytes.checked_sub(with("").to_string().len() + 1)?;
    let mut end = 0;
    for (index, character) in text.char_indices() {
        let written = Json::from(character.to_string()).to_string().len() - 2;
        if written > left {
            break;
        }
        left -= written;
        end = index + character.len_utf8();
    }
    text.get(..end).filter(|text| !text.is_empty()).map(with)
}

/// A value, or a note in its place where it is too large.
pub(super) fn cap_json(value: Json, max_bytes: usize) -> Json {
    if value.to_string().len() <= max_bytes { value } else { "removed by the MCP client: too large".into() }
}
