//! Differences in words, one a line.

use callgate_sdk::Value;

/// How much of a value is shown.
const LONGEST: usize = 80;

/// What makes the second value differ from the first.
pub(crate) fn between(earlier: &Value, now: &Value) -> Vec<String> {
    let mut out = Vec::new();
    compare(&mut String::new(), Some(earlier), Some(now), &mut out);
    out
}

fn compare(pointer: &mut String, earlier: Option<&Value>, now: Option<&Value>, out: &mut Vec<String>) {
    let shown_pointer = if pointer.is_empty() { "all" } else { pointer.as_str() };
    match (earlier, now) {
        (Some(Value::Object(earlier)), Some(Value::Object(now))) => {
            let gone = earlier.keys().filter(|key| !now.contains_key(*key));
            for key in now.keys().chain(gone) {
                let length = pointer.len();
                pointer.push('/');
                pointer.push_str(&key.replace('~', "~0").replace('/', "~1"));
                compare(pointer, earlier.get(key), now.get(key), out);
                pointer.truncate(length);
            }
        }
        (Some(earlier), Some(now)) if earlier != now => {
            out.push(format!("{shown_pointer}: was {}, is {}", shown(earlier), shown(now)));
        }
        (None, Some(now)) => out.push(format!("{shown_pointer}: added {}", shown(now))),
        (Some(earlier), None) => out.push(format!("{shown_pointer}: was {}, is gone", shown(earlier))),
        _ => {}
    }
}

/// The steps of a JSON Patch.
pub(crate) fn of_patch(patch: &Value) -> Vec<String> {
    let steps = patch.as_array().map(Vec::as_slice).unwrap_or_default();
    steps.iter().map(step).collect()
}

fn step(step: &Value) -> String {
    let member = |name: &str| step.get(name).and_then(Value::as_str).unwrap_or("?");
    let value = || step.get("value").map(shown).unwrap_or_default();
    match member("op") {
        "add" => format!("{}: added {}", member("path"), value()),
        "remove" => format!("{}: is gone", member("path")),
        "replace" => format!("{}: is {}", member("path"), value()),
        "move" | "copy" => format!("{}: comes from {}", member("path"), member("from")),
        other => format!("{}: {other}", member("path")),
    }
}

fn shown(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}... ({} bytes)", text.get(..end).unwrap_or_default(), text.len()),
        None => text,
    }
}
