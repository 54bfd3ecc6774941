//! Changing strings in JSON text and leaving every other byte as it was: numbers, order, layout and members nobody knows.
//!
//! ```
//! use callgate_sdk::edit;
//!
//! let json = r#"{"id": 12345678901234567890.10, "name": "Ann", "tags": ["Ann", "Bea"]}"#;
//! let changed = edit::strings(json, |_place, text| (text == "Ann").then(|| "A.".to_owned()));
//! assert_eq!(changed, Ok(Some(r#"{"id": 12345678901234567890.10, "name": "A.", "tags": ["A.", "Bea"]}"#.to_owned())));
//! ```

use std::borrow::Cow;
use std::fmt;

/// One step of the way from the root to a string.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step<'a> {
    /// Into an object, to the member of this name.
    Member(Cow<'a, str>),
    /// Into an array, to the item of this index.
    Item(usize),
}

/// Where a string is.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    /// The way to it. For a key, the way to the object that holds it.
    pub steps: &'a [Step<'a>],
    /// Whether it is a key and not a value.
    pub is_key: bool,
}

impl Place<'_> {
    /// For a value that is a member of an object: the member's name.
    pub fn member(&self) -> Option<&str> {
        match self.steps.last() {
            Some(Step::Member(name)) if !self.is_key => Some(name),
            _ => None,
        }
    }
}

/// The text is no JSON, or is nested deeper than 128: where that was noticed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Malformed {
    /// The byte offset.
    pub at: usize,
}

impl fmt::Display for Malformed {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "not readable as JSON at byte {}", self.at)
    }
}

impl std::error::Error for Malformed {}

/// As deep as the host lets JSON be nested.
const DEEPEST: usize = 128;

/// Calls `change` for each string, keys included, in the order of the text, and puts what it gives in the string's place.
/// None if nothing changed.
///
/// Keys that become equal by a change are the caller's concern: the host refuses duplicate keys.
pub fn strings(json: &str, mut change: impl FnMut(Place<'_>, &str) -> Option<String>) -> Result<Option<String>, Malformed> {
    let mut walk = Walk { json, at: 0, copied: 0, out: String::new(), steps: Vec::new(), change: &mut change };
    walk.space();
    walk.value()?;
    walk.space();
    if walk.at != json.len() {
        return Err(walk.malformed());
    }
    if walk.out.is_empty() {
        return Ok(None);
    }
    let rest = json.get(walk.copied..).unwrap_or_default();
    walk.out.push_str(rest);
    Ok(Some(walk.out))
}

struct Walk<'a, 'c> {
    json: &'a str,
    at: usize,
    /// Up to where the text is in `out`, once anything is.
    copied: usize,
    out: String,
    steps: Vec<Step<'a>>,
    change: &'c mut dyn FnMut(Place<'_>, &str) -> Option<String>,
}

impl<'a> Walk<'a, '_> {
    fn malformed(&self) -> Malformed {
        Malformed { at: self.at }
    }

    fn peek(&self) -> Option<u8> {
        self.json.as_bytes().get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn take(&mut self, byte: u8) -> Result<(), Malformed> {
        if self.peek() != Some(byte) {
            return Err(self.malformed());
        }
        self.at += 1;
        Ok(())
    }

    fn value(&mut self) -> Result<(), Malformed> {
        if self.steps.len() > DEEPEST {
            return Err(self.malformed());
        }
        match self.peek() {
            Some(b'{') => self.object(),
            Some(b'[') => self.array(),
            Some(b'"') => self.string(false).map(drop),
            Some(b'-' | b'0'..=b'9' | b't' | b'f' | b'n') => {
                // Numbers and literals are none of our business: the host has read them strictly before.
                while matches!(self.peek(), Some(b'-' | b'+' | b'.' | b'0'..=b'9' | b'a'..=b'z' | b'E')) {
                    self.at += 1;
                }
                Ok(())
            }
            _ => Err(self.malformed()),
        }
    }

    fn object(&mut self) -> Result<(), Malformed> {
        self.take(b'{')?;
        self.space();
        while self.peek() != Some(b'}') {
            let key = self.string(true)?;
            self.space();
            self.take(b':')?;
            self.space();
            self.steps.push(Step::Member(key));
            self.value()?;
            self.steps.pop();
            self.separator(b'}')?;
        }
        self.take(b'}')
    }

    fn array(&mut self) -> Result<(), Malformed> {
        self.take(b'[')?;
        self.space();
        let mut index = 0;
        while self.peek() != Some(b']') {
            self.steps.push(Step::Item(index));
            self.value()?;
            self.steps.pop();
            index += 1;
            self.separator(b']')?;
        }
        self.take(b']')
    }

    /// After a member or an item: the end, or a comma with something behind it.
    fn separator(&mut self, end: u8) -> Result<(), Malformed> {
        self.space();
        if self.peek() == Some(end) {
            return Ok(());
        }
        self.take(b',')?;
        self.space();
        if self.peek() == Some(end) { Err(self.malformed()) } else { Ok(()) }
    }

    fn string(&mut self, is_key: bool) -> Result<Cow<'a, str>, Malformed> {
        let start = self.at;
        self.take(b'"')?;
        let mut escaped = false;
        loop {
            let rest = self.json.as_bytes().get(self.at..).unwrap_or_default();
            let plain = rest.iter().position(|byte| matches!(byte, b'"' | b'\\')).ok_or(self.malformed())?;
            self.at += plain;
            if rest.get(plain) == Some(&b'"') {
                break;
            }
            escaped = true;
            self.at += 2;
        }
        self.at += 1;
        let malformed = Malformed { at: start };
        let text: Cow<'a, str> = if escaped {
            let token = self.json.get(start..self.at).ok_or(malformed)?;
            Cow::Owned(serde_json::from_str(token).map_err(|_| malformed)?)
        } else {
            Cow::Borrowed(self.json.get(start + 1..self.at - 1).ok_or(malformed)?)
        };
        if let Some(new) = (self.change)(Place { steps: &self.steps, is_key }, &text) {
            self.out.push_str(self.json.get(self.copied..start).ok_or(malformed)?);
            self.out.push_str(&serde_json::Value::String(new).to_string());
            self.copied = self.at;
        }
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn upper(json: &str) -> Result<Option<String>, Malformed> {
        strings(json, |_, text| (text.starts_with('x')).then(|| text.to_uppercase()))
    }

    #[test]
    fn untouched_bytes_stay() {
        for (json, wanted) in [
            (r#"  {"a" : 1.50e+3,"x":[ "x\n", "é", "xé" ]} "#, r#"  {"a" : 1.50e+3,"X":[ "X\n", "é", "XÉ" ]} "#),
            (r#""x""#, r#""X""#),
            (r#"["\u0078y", "\u00e9"]"#, r#"["XY", "\u00e9"]"#),
        ] {
            assert_eq!(upper(json), Ok(Some(wanted.to_owned())));
        }
        for json in ["{}", "[]", "[1,true,null]", r#"{"a":{"b":[]}}"#, r#""\"""#] {
            assert_eq!(upper(json), Ok(None), "{json}");
        }
    }

    #[test]
    fn malformed_text_is_never_half_read() {
        for json in ["", "{", r#"{"a"}"#, r#"{"a":}"#, "[1,]", r#"["x" "y"]"#, r#""x"#, r#""x\"#, "[1] 2", r#"{"a":1,}"#, "x"] {
            assert!(upper(json).is_err(), "{json}");
        }
        assert!(upper(&("[".repeat(200) + &"]".repeat(200))).is_err());
    }

    #[test]
    fn places_are_told() {
        let mut seen = Vec::new();
        let outcome = strings(r#"{"a":["p",{"b":"q"}]}"#, |place, text| {
            seen.push((place.steps.len(), place.is_key, place.member().map(str::to_owned), text.to_owned()));
            None
        });
        assert_eq!(outcome, Ok(None));
        let wanted = [(0, true, None, "a"), (2, false, None, "p"), (2, true, None, "b"), (3, false, Some("b"), "q")];
        let wanted: Vec<_> = wanted.map(|(n, k, m, t)| (n, k, m.map(str::to_owned), t.to_owned())).into();
        assert_eq!(seen, wanted);
    }
}
