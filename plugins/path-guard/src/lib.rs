//! Keeps path arguments inside allowed folders.
//!
//! Everything is decided on the text of the path: there is no file system here. What was checked is what is sent, so a path
//! that is not in its plain form is rewritten to it.

mod path;
mod pointers;

use callgate_sdk::prelude::*;
use serde::Deserialize;

use path::Wrong;

/// Where paths may lead, and which arguments are paths.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Absolute folders. A relative path is taken to be under the first one.
    pub roots: Vec<String>,
    /// JSON pointers of path arguments; `*` stands for every item of an array.
    #[serde(default = "default_arguments")]
    pub arguments: Vec<String>,
}

fn default_arguments() -> Vec<String> {
    vec!["/path".to_owned()]
}

/// Checks the settings and brings the roots into their plain form.
pub fn configure(mut settings: Settings) -> Result<Settings, String> {
    if settings.roots.is_empty() {
        return Err("`roots` must name at least one folder".to_owned());
    }
    for root in &mut settings.roots {
        if !root.starts_with('/') {
            return Err(format!("`{root}` in `roots` is not absolute"));
        }
        *root = path::plain(root, "/").map_err(|_| format!("`{root}` in `roots` cannot be used as a path"))?;
        if root.len() > 1 && root.ends_with('/') {
            root.pop();
        }
    }
    match settings.arguments.iter().find(|pointer| !pointer.starts_with('/')) {
        Some(pointer) => Err(format!("`{pointer}` in `arguments` is no JSON pointer: it must start with `/`")),
        None => Ok(settings),
    }
}

/// Denies a call whose path leaves the roots, and sends all others in their plain form.
pub fn guard(call: &ToolCall, _context: &Context) -> Result<PreOutcome, String> {
    let settings = settings::<Settings>()?;
    let first = settings.roots.first().map_or("/", String::as_str);
    let mut changes = Vec::new();
    for pattern in &settings.arguments {
        for (pointer, value) in pointers::found(pattern, |pointer| call.argument(pointer)) {
            let text = match &value {
                Value::String(text) => text,
                // As good as left out.
                Value::Null => continue,
                _ => return Ok(refused(&pointer, "not_a_path", "should be a path, and is no text")),
            };
            match path::plain(text, first) {
                Err(Wrong::Unusable) => {
                    return Ok(refused(&pointer, "bad_path", "holds characters that no path here may have"));
                }
                Ok(plain) if !settings.roots.iter().any(|root| path::is_inside(&plain, root)) => {
                    return Ok(refused(&pointer, "outside_roots", "leaves the allowed folders"));
                }
                Ok(plain) if plain != *text => changes.push((pointer, plain)),
                Ok(_) => {}
            }
        }
    }
    if changes.is_empty() {
        return Ok(proceed());
    }
    let mut arguments = call.arguments().value();
    for (pointer, plain) in changes {
        note(format!("{pointer} is now {plain}"));
        *arguments.pointer_mut(&pointer).ok_or("an argument that was there is gone")? = Value::String(plain);
    }
    Ok(rewrite(arguments))
}

/// The pointer says which argument; the path itself is the caller's own and need not be repeated.
fn refused(pointer: &str, reason: &str, what: &str) -> PreOutcome {
    refusal(reason, format!("the argument `{pointer}` {what}")).with_data(json!({ "pointer": pointer })).into()
}

callgate_sdk::export!(pre_hook = guard, configure = configure);

#[cfg(test)]
mod tests {
    use super::*;
    use callgate_sdk::testing;

    callgate_sdk::fixtures!("fixtures");

    fn guarded(path: &str) -> PreOutcome {
        testing::configured(
            configure(Settings { roots: vec!["/srv/docs/".to_owned(), "/tmp".to_owned()], arguments: default_arguments() }).unwrap(),
        );
        guard(&testing::call("read_file", json!({ "path": path, "n": u64::MAX })), &testing::context()).unwrap()
    }

    #[test]
    fn what_was_rewritten_is_left_alone_the_next_time() {
        for path in ["a.txt", "", ".", "./a//b/../c/", "/srv/docs/x/./y", "/tmp", "~/x", "..x"] {
            let again = match guarded(path) {
                PreOutcome::Rewrite(arguments) => {
                    let arguments: Value = callgate_sdk::serde_json::from_str(&arguments).unwrap();
                    assert_eq!(arguments["n"], json!(u64::MAX));
                    guarded(arguments["path"].as_str().unwrap())
                }
                other => other,
            };
            assert_eq!(again, proceed(), "{path}");
        }
    }

    #[test]
    fn every_way_out_is_closed() {
        for path in [
            "..",
            "../docs2",
            "/srv/docs/..",
            "/srv/docs2/x",
            "/srv/docs/../../etc",
            "a/../../..",
            "/",
            "//srv/other",
            "/srv/docs/a/../../x",
            "/../srv",
            "/SRV/docs",
        ] {
            let PreOutcome::Deny(refusal) = guarded(path) else { panic!("{path}") };
            assert_eq!(refusal.reason, "outside_roots", "{path}");
        }
        for path in ["a\0b", "..\\x", "C:/x", "c:x", "\\\\host\\share", "a\nb", "a\u{7f}"] {
            let PreOutcome::Deny(refusal) = guarded(path) else { panic!("{path:?}") };
            assert_eq!(refusal.reason, "bad_path", "{path:?}");
        }
    }
}
