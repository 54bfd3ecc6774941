//! The steps of one subschema's own keywords on one value: everything that takes time there and is no subschema.
//!
//! A step is some tens of nanoseconds. Bytes that are only compared or hashed count 64 to the step; a pattern counts its own length
//! for each byte that it looks at.

use crate::json::{Json, Object};

use super::cost::Instance;

/// Bytes that are read in one step.
const BYTES_PER_STEP: usize = 64;
/// Keywords that only hold what is used elsewhere.
const HOLDERS: [&str; 2] = ["$defs", "definitions"];

/// Steps of the keywords that look at this value alone.
pub(super) fn own_steps(keywords: &Object, instance: Instance<'_>) -> u64 {
    let width = keywords.iter().filter(|(keyword, _)| !HOLDERS.contains(&keyword.as_str())).map(|(_, value)| width(value)).sum::<usize>();
    let choices = ["enum", "const"].into_iter().filter_map(|keyword| keywords.get(keyword)).map(weight).sum::<usize>();
    let looks = match instance {
        Instance::Name(text) => on_text(keywords, text),
        Instance::Value(Json::String(text)) => on_text(keywords, text),
        Instance::Value(Json::Array(items)) => items.len().saturating_add(unique(keywords, items)),
        Instance::Value(Json::Object(object)) => on_names(keywords, object),
        Instance::Value(_) => 0,
    };
    u64::try_from(width.saturating_add(choices).saturating_add(looks)).unwrap_or(u64::MAX)
}

/// A keyword, and each entry that its value has.
fn width(value: &Json) -> usize {
    1 + match value {
        Json::Array(items) => items.len(),
        Json::Object(object) => object.keys().map(|key| 1 + key.len() / BYTES_PER_STEP).sum(),
        _ => 0,
    }
}

/// Everything in a value.
fn weight(value: &Json) -> usize {
    match value {
        Json::String(text) => 1 + text.len() / BYTES_PER_STEP,
        Json::Array(items) => 1 + items.iter().map(weight).sum::<usize>(),
        Json::Object(object) => 1 + object.iter().map(|(key, value)| 1 + key.len() / BYTES_PER_STEP + weight(value)).sum::<usize>(),
        _ => 1,
    }
}

fn on_text(keywords: &Object, text: &str) -> usize {
    let read = (text.len() / BYTES_PER_STEP).saturating_mul(keywords.len());
    let pattern = keywords.get("pattern").and_then(Json::as_str).map_or(0, states);
    read.saturating_add(text.len().saturating_mul(pattern) / BYTES_PER_STEP)
}

fn on_names(keywords: &Object, object: &Object) -> usize {
    let bytes: usize = object.keys().map(String::len).sum();
    let read = object.len().saturating_add(bytes / BYTES_PER_STEP);
    let patterns = keywords.get("patternProperties").and_then(Json::as_object);
    let states = patterns.map_or(0, |patterns| patterns.keys().map(|pattern| 1 + states(pattern)).fold(0, usize::saturating_add));
    // Twice: what they leave over is for `additionalProperties`.
    read.saturating_add(object.len().saturating_add(bytes / BYTES_PER_STEP).saturating_mul(states).saturating_mul(2))
}

/// Scalars are told apart by their hashes; arrays, objects and large numbers can be made to have one hash, and are compared each with
/// each.
fn unique(keywords: &Object, items: &[Json]) -> usize {
    if keywords.get("uniqueItems") != Some(&Json::Bool(true)) {
        return 0;
    }
    let total: usize = items.iter().map(weight).sum();
    let hashes = |item: &Json| match item {
        Json::Number(number) => number.as_f64().abs() < 9e15,
        Json::Array(_) | Json::Object(_) => false,
        _ => true,
    };
    if items.iter().all(hashes) { total.saturating_mul(4) } else { items.len().saturating_mul(total) }
}

/// How many states of a pattern could be looked at for one byte: its length, as often as its counted repetitions say.
fn states(pattern: &str) -> usize {
    let repeated = pattern.split('{').skip(1).filter_map(|rest| {
        let counts = rest.split_once('}').map_or(rest, |(counts, _)| counts).split(',');
        counts.filter_map(|count| count.trim().parse::<usize>().ok()).max()
    });
    repeated.fold(pattern.len().max(1), |states, times| states.saturating_mul(times.max(1)))
}
