//! What changed between two values, as JSON pointers and as an RFC 6902 patch.

use super::{Json, Pointer};

/// One place at which two values differ.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Where. An array whose length changed is one change of the whole array: its items have shifted.
    pub pointer: Pointer,
    /// What happened there.
    pub kind: ChangeKind,
}

/// What happened at a place.
#[derive(Clone, Debug, PartialEq)]
pub enum ChangeKind {
    /// A member that was not there.
    Added(Json),
    /// A member that is gone.
    Removed,
    /// Another value.
    Replaced(Json),
}

/// The places at which `after` differs from `before`, in document order. Equal numbers of other spelling and reordered keys are
/// no change, so that they need no power and change no byte (T20).
#[must_use]
pub fn diff(before: &Json, after: &Json) -> Vec<Change> {
    let mut changes = Vec::new();
    walk(&mut Vec::new(), before, after, &mut changes);
    changes
}

/// The changes as an RFC 6902 JSON Patch.
#[must_use]
pub fn patch(changes: &[Change]) -> Json {
    changes.iter().map(operation).collect::<Vec<_>>().into()
}

fn operation(change: &Change) -> Json {
    let (op, value) = match &change.kind {
        ChangeKind::Added(value) => ("add", Some(value)),
        ChangeKind::Removed => ("remove", None),
        ChangeKind::Replaced(value) => ("replace", Some(value)),
    };
    let members = [("op", Some(Json::from(op))), ("path", Some(change.pointer.to_string().into())), ("value", value.cloned())];
    members.into_iter().filter_map(|(key, value)| Some((key, value?))).collect()
}

/// Puts a pointer together only where something differs.
fn walk<'a>(path: &mut Vec<Token<'a>>, before: &'a Json, after: &'a Json, changes: &mut Vec<Change>) {
    match (before, after) {
        (Json::Object(old), Json::Object(new)) => {
            for (key, value) in old {
                path.push(Token::Key(key));
                match new.get(key) {
                    Some(other) => walk(path, value, other, changes),
                    None => changes.push(Change { pointer: pointer(path), kind: ChangeKind::Removed }),
                }
                path.pop();
            }
            for (key, value) in new.iter().filter(|(key, _)| !old.contains_key(*key)) {
                path.push(Token::Key(key));
                changes.push(Change { pointer: pointer(path), kind: ChangeKind::Added(value.clone()) });
                path.pop();
            }
        }
        (Json::Array(old), Json::Array(new)) if old.len() == new.len() => {
            for (index, (value, other)) in old.iter().zip(new).enumerate() {
                path.push(Token::Index(index));
                walk(path, value, other, changes);
                path.pop();
            }
        }
        _ if before == after => {}
        _ => changes.push(Change { pointer: pointer(path), kind: ChangeKind::Replaced(after.clone()) }),
    }
}

/// One step down into a value.
enum Token<'a> {
    Key(&'a str),
    Index(usize),
}

fn pointer(path: &[Token<'_>]) -> Pointer {
    let token = |token: &Token<'_>| match token {
        Token::Key(key) => (*key).to_owned(),
        Token::Index(index) => index.to_string(),
    };
    path.iter().map(token).collect()
}

#[cfg(test)]
mod tests {
    use super::{Json, diff, patch};

    fn patched(before: &str, after: &str) -> String {
        patch(&diff(&Json::parse(before).unwrap(), &Json::parse(after).unwrap())).to_string()
    }

    #[test]
    fn a_change_is_named_by_its_place() {
        assert_eq!(
            patched(r#"{"a":1,"b":{"c":2}}"#, r#"{"b":{"c":3},"d":4}"#),
            r#"[{"op":"remove","path":"/a"},{"op":"replace","path":"/b/c","value":3},{"op":"add","path":"/d","value":4}]"#
        );
        assert_eq!(patched(r#"{"a":[1,2]}"#, r#"{"a":[2]}"#), r#"[{"op":"replace","path":"/a","value":[2]}]"#);
        assert_eq!(patched(r#"{"a":[1,2]}"#, r#"{"a":[1,3]}"#), r#"[{"op":"replace","path":"/a/1","value":3}]"#);
    }

    #[test]
    fn spelling_and_order_are_no_change() {
        assert_eq!(patched(r#"{"a":1,"b":2}"#, r#"{"b":2.0,"a":1e0}"#), "[]");
    }
}
