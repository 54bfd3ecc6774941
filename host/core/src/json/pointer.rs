//! RFC 6901 pointers.

use std::fmt::{Display, Formatter};
use std::str::FromStr;

/// An RFC 6901 pointer: empty for the whole document, else `/` before each token.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pointer(Vec<String>);

/// A text that is no pointer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no JSON pointer: it must be empty or start with `/`, and `~` must be written `~0`, `/` as `~1`")]
pub struct InvalidPointer(String);

impl Pointer {
    /// The pointer to the whole document.
    #[must_use]
    pub fn root() -> Self {
        Self::default()
    }

    /// The tokens, unescaped.
    #[must_use]
    pub fn tokens(&self) -> &[String] {
        &self.0
    }

    /// The pointer to a member or item of what this one points to.
    #[must_use]
    pub fn child(&self, token: impl Into<String>) -> Self {
        let mut tokens = self.0.clone();
        tokens.push(token.into());
        Self(tokens)
    }

    /// Whether `other` is this place or one inside it.
    #[must_use]
    pub fn covers(&self, other: &Pointer) -> bool {
        other.0.starts_with(&self.0)
    }

    /// A token as an array index: decimal, without leading zeros.
    pub(super) fn index(token: &str) -> Option<usize> {
        let canonical = token == "0" || !token.starts_with('0') && token.bytes().all(|byte| byte.is_ascii_digit());
        if canonical { token.parse().ok() } else { None }
    }
}

impl FromIterator<String> for Pointer {
    /// A pointer of unescaped tokens.
    fn from_iter<I: IntoIterator<Item = String>>(tokens: I) -> Self {
        Self(tokens.into_iter().collect())
    }
}

impl FromStr for Pointer {
    type Err = InvalidPointer;

    fn from_str(text: &str) -> Result<Self, InvalidPointer> {
        if text.is_empty() {
            return Ok(Self::root());
        }
        let invalid = || InvalidPointer(text.to_owned());
        let tokens = text.strip_prefix('/').ok_or_else(invalid)?.split('/');
        tokens.map(unescape).collect::<Option<_>>().map(Self).ok_or_else(invalid)
    }
}

fn unescape(token: &str) -> Option<String> {
    let mut parts = token.split('~');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (escaped, rest) = match part.as_bytes().first() {
            Some(b'0') => ('~', part.get(1..)?),
            Some(b'1') => ('/', part.get(1..)?),
            _ => return None,
        };
        text.push(escaped);
        text.push_str(rest);
    }
    Some(text)
}

impl Display for Pointer {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|token| write!(f, "/{}", token.replace('~', "~0").replace('/', "~1")))
    }
}

#[cfg(test)]
mod tests {
    use super::{super::Json, Pointer};

    #[test]
    fn the_examples_of_rfc_6901() {
        let document =
            Json::parse(r#"{"foo":["bar","baz"],"":0,"a/b":1,"c%d":2,"e^f":3,"g|h":4,"i\\j":5,"k\"l":6," ":7,"m~n":8}"#).unwrap();
        for (pointer, value) in
            [("/foo/0", "\"bar\""), ("/", "0"), ("/a~1b", "1"), ("/c%d", "2"), ("/i\\j", "5"), ("/ ", "7"), ("/m~0n", "8")]
        {
            let parsed: Pointer = pointer.parse().unwrap();
            assert_eq!(parsed.to_string(), pointer);
            assert_eq!(document.at(&parsed).unwrap().to_string(), value, "{pointer}");
        }
        for missing in ["/foo/2", "/foo/00", "/foo/-", "/foo/+1", "/nope", "/foo/0/x"] {
            assert!(document.at(&missing.parse().unwrap()).is_none(), "{missing}");
        }
        for invalid in ["foo", "/~", "/~2", "/a~"] {
            assert!(invalid.parse::<Pointer>().is_err(), "{invalid}");
        }
    }
}
