//! Paths as text.

/// The path cannot be judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wrong {
    /// It holds NUL or another control character, a backslash, or a drive letter: what one system takes for a name,
    /// another takes for a way.
    Unusable,
}

/// The plain form: absolute, without `.`, `..` and empty parts. A slash at the end stays, since tools may give it a meaning.
///
/// `..` is resolved on the text, and at the root it stays there, as on any POSIX system. A link in the file system could
/// make `a/..` something else: that is why what is sent is this form, which has no `..` left.
pub(crate) fn plain(path: &str, base: &str) -> Result<String, Wrong> {
    if path.chars().any(|one| one.is_control() || one == '\\') || has_drive(path) {
        return Err(Wrong::Unusable);
    }
    let base = if path.starts_with('/') { "" } else { base };
    let mut parts: Vec<&str> = Vec::new();
    for part in base.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            name => parts.push(name),
        }
    }
    let mut plain = String::with_capacity(base.len() + path.len() + 1);
    for part in &parts {
        plain.push('/');
        plain.push_str(part);
    }
    if plain.is_empty() || path.ends_with('/') {
        plain.push('/');
    }
    Ok(plain)
}

fn has_drive(path: &str) -> bool {
    matches!(path.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic())
}

/// Whether a plain path is a plain root or under it.
pub(crate) fn is_inside(path: &str, root: &str) -> bool {
    root == "/" || path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_forms() {
        for (path, wanted) in [
            ("a", "/r/a"),
            ("", "/r"),
            ("a/", "/r/a/"),
            ("./a/./b", "/r/a/b"),
            ("a/../b", "/r/b"),
            ("../b", "/b"),
            ("/a//b", "/a/b"),
            ("/..", "/"),
            ("/", "/"),
            ("/a/..", "/"),
            ("/a/../", "/"),
            ("...", "/r/..."),
            ("%2e%2e/x", "/r/%2e%2e/x"),
        ] {
            assert_eq!(plain(path, "/r").as_deref(), Ok(wanted), "{path}");
        }
    }
}
