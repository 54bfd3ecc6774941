//! JSON pointers in which `*` stands for every item of an array.

use callgate_sdk::Value;

/// What a pattern finds, each with its own pointer. A `*` where there is something else than an array finds that thing
/// itself: it is not what was expected, and whoever judges it should see it.
///
/// `read` is asked for the part before the first `*` alone, so that nothing else is copied.
pub(crate) fn found(pattern: &str, read: impl Fn(&str) -> Option<Value>) -> Vec<(String, Value)> {
    match split(pattern) {
        None => read(pattern).map(|value| (pattern.to_owned(), value)).into_iter().collect(),
        Some((before, after)) => {
            let mut out = Vec::new();
            if let Some(value) = read(before) {
                items(before, after, value, &mut out);
            }
            out
        }
    }
}

fn items(pointer: &str, after: &str, value: Value, out: &mut Vec<(String, Value)>) {
    let Value::Array(items_here) = value else {
        out.push((pointer.to_owned(), value));
        return;
    };
    for (index, item) in items_here.into_iter().enumerate() {
        let pointer = format!("{pointer}/{index}");
        match split(after) {
            None => {
                if let Some(value) = item.pointer(after) {
                    out.push((pointer + after, value.clone()));
                }
            }
            Some((before, rest)) => {
                if let Some(value) = item.pointer(before) {
                    items(&(pointer + before), rest, value.clone(), out);
                }
            }
        }
    }
}

/// Before and after the first part that is `*`.
fn split(pattern: &str) -> Option<(&str, &str)> {
    match pattern.find("/*/") {
        Some(at) => Some((pattern.get(..at)?, pattern.get(at + 2..)?)),
        None => pattern.strip_suffix("/*").map(|before| (before, "")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use callgate_sdk::json;

    #[test]
    fn patterns() {
        let value = json!({ "a": ["p", "q"], "b": [{ "c": "r" }, {}, { "c": ["s"] }], "d": "t", "e": [["u"], "v"], "*": "w" });
        let found = |pattern: &str| -> Vec<String> {
            found(pattern, |pointer| value.pointer(pointer).cloned())
                .into_iter()
                .map(|(pointer, value)| format!("{pointer}={value}"))
                .collect()
        };
        assert_eq!(found("/a/*"), [r#"/a/0="p""#, r#"/a/1="q""#]);
        assert_eq!(found("/b/*/c"), [r#"/b/0/c="r""#, r#"/b/2/c=["s"]"#]);
        assert_eq!(found("/b/*/c/*"), [r#"/b/0/c="r""#, r#"/b/2/c/0="s""#]);
        assert_eq!(found("/d/*"), [r#"/d="t""#]);
        assert_eq!(found("/e/*/*"), [r#"/e/0/0="u""#, r#"/e/1="v""#]);
        assert_eq!(found("/none/*"), [""; 0]);
        assert_eq!(found("/d"), [r#"/d="t""#]);
    }
}
