//! Tests on names and values.

use std::cmp::Ordering;

use regex::Regex;

use crate::json::{Json, Number};

use super::Truth;

/// Bytes that a compiled pattern may take: patterns come from the operator, but a mistyped one should not fill the memory.
const MAX_PATTERN_BYTES: usize = 1 << 20;

/// A whole-value pattern: `*` is any text without a newline, `?` one character that is no newline.
#[derive(Clone, Debug)]
pub struct Glob {
    written: String,
    regex: Regex,
}

/// A regular expression in RE2's syntax, searched for anywhere in a string; anchor it with `^` and `$`. Whether its `.` is meant to
/// pass over newlines nobody can say: where that decides, the test is failed, so that a newline passes by no deny rule.
#[derive(Clone, Debug)]
pub struct Pattern {
    within_lines: Regex,
    over_lines: Regex,
}

/// A pattern that cannot be used.
#[derive(Clone, Debug, thiserror::Error)]
#[error("the pattern `{pattern}` cannot be used: {cause}")]
pub struct InvalidPattern {
    pattern: String,
    cause: String,
}

impl Glob {
    /// Compiles a glob.
    ///
    /// # Errors
    /// A glob of absurd size.
    pub fn new(glob: &str) -> Result<Self, InvalidPattern> {
        let mut pattern = String::from(r"\A");
        for character in glob.chars() {
            match character {
                '*' => pattern.push_str("[^\n]*"),
                '?' => pattern.push_str("[^\n]"),
                other => pattern.push_str(&regex::escape(other.encode_utf8(&mut [0; 4]))),
            }
        }
        pattern.push_str(r"\z");
        Ok(Self { regex: compile(&pattern, glob, false)?, written: glob.to_owned() })
    }

    /// As it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.written
    }

    /// Whether the whole text matches.
    #[must_use]
    pub fn matches(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }

    /// Whether a text of the caller's matches. A glob says nothing of newlines, so a text that does not match and has one is failed:
    /// a deny rule for `rm *` is not passed by with a newline.
    #[must_use]
    pub fn judge(&self, text: &str) -> Truth {
        if !self.matches(text) && text.contains('\n') { Truth::Failed } else { self.matches(text).into() }
    }
}

impl Pattern {
    /// Compiles a regular expression.
    ///
    /// # Errors
    /// One that is malformed, uses look-around or back-references, or is too large.
    pub fn new(pattern: &str) -> Result<Self, InvalidPattern> {
        Ok(Self { within_lines: compile(pattern, pattern, false)?, over_lines: compile(pattern, pattern, true)? })
    }

    /// Whether it is found in a text.
    #[must_use]
    pub fn judge(&self, text: &str) -> Truth {
        let found = self.within_lines.is_match(text);
        if text.contains('\n') && found != self.over_lines.is_match(text) { Truth::Failed } else { found.into() }
    }
}

fn compile(regex: &str, written: &str, over_lines: bool) -> Result<Regex, InvalidPattern> {
    let built = regex::RegexBuilder::new(regex).dot_matches_new_line(over_lines).size_limit(MAX_PATTERN_BYTES).build();
    built.map_err(|error| InvalidPattern { pattern: written.to_owned(), cause: error.to_string() })
}

/// A test on one JSON value.
#[derive(Clone, Debug)]
pub enum ValueTest {
    /// There is a value, or there is none. The only test that a missing value does not fail.
    Exists(bool),
    /// It equals this; numbers by value.
    Equals(Json),
    /// It is one of these.
    OneOf(Vec<Json>),
    /// It is a string that matches whole.
    Glob(Glob),
    /// It is a string in which this is found.
    Regex(Pattern),
    /// It is a number within these bounds, both included.
    Range {
        /// At least this.
        min: Option<Number>,
        /// At most this.
        max: Option<Number>,
    },
    /// It is a string, array or object with so many characters, items or members, both bounds included.
    Length {
        /// At least so many.
        min: Option<u64>,
        /// At most so many.
        max: Option<u64>,
    },
}

impl ValueTest {
    /// Whether a value passes.
    #[must_use]
    pub fn check(&self, value: Option<&Json>) -> Truth {
        match (self, value) {
            (ValueTest::Exists(wanted), value) => (value.is_some() == *wanted).into(),
            (_, None) => Truth::Failed,
            (ValueTest::Equals(expected), Some(value)) => (value == expected).into(),
            (ValueTest::OneOf(expected), Some(value)) => expected.contains(value).into(),
            (ValueTest::Glob(glob), Some(Json::String(text))) => glob.judge(text),
            (ValueTest::Regex(pattern), Some(Json::String(text))) => pattern.judge(text),
            (ValueTest::Range { min, max }, Some(Json::Number(number))) => within(number, min.as_ref(), max.as_ref()).into(),
            (ValueTest::Length { min, max }, Some(value)) => length(value)
                .map_or(Truth::Failed, |length| (min.is_none_or(|min| length >= min) && max.is_none_or(|max| length <= max)).into()),
            _ => Truth::Failed,
        }
    }
}

fn length(value: &Json) -> Option<u64> {
    let length = match value {
        Json::String(text) => text.chars().count(),
        Json::Array(items) => items.len(),
        Json::Object(object) => object.len(),
        _ => return None,
    };
    u64::try_from(length).ok()
}

fn within(number: &Number, min: Option<&Number>, max: Option<&Number>) -> bool {
    min.is_none_or(|min| compare(number, min) != Ordering::Less) && max.is_none_or(|max| compare(number, max) != Ordering::Greater)
}

/// By exact value: a 64-bit integer is never rounded to a double on the way.
fn compare(a: &Number, b: &Number) -> Ordering {
    match (integer(a), integer(b)) {
        (Some(a), Some(b)) => a.cmp(&b),
        (Some(a), None) => compare_mixed(a, b.as_f64()),
        (None, Some(b)) => compare_mixed(b, a.as_f64()).reverse(),
        (None, None) => a.as_f64().total_cmp(&b.as_f64()),
    }
}

fn integer(number: &Number) -> Option<i128> {
    number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from))
}

fn compare_mixed(integer: i128, double: f64) -> Ordering {
    let beyond_64_bits = 2f64.powi(65);
    if double >= beyond_64_bits {
        return Ordering::Less;
    }
    if double <= -beyond_64_bits {
        return Ordering::Greater;
    }
    #[expect(clippy::cast_possible_truncation, reason = "floored, and within 2^65 of zero")]
    let floor = double.floor() as i128;
    integer.cmp(&floor).then(if double > double.floor() { Ordering::Less } else { Ordering::Equal })
}

#[cfg(test)]
mod tests {
    use super::{Glob, Pattern, ValueTest};
    use crate::json::Json;
    use crate::policy::Truth;

    #[test]
    fn globs_match_whole_values_without_newlines() {
        let glob = Glob::new("read_*").unwrap();
        assert!(glob.matches("read_") && glob.matches("read_file"));
        for other in ["xread_file", "read", "READ_file", "read_a\nrm", "read_\n"] {
            assert!(!glob.matches(other), "{other:?}");
        }
        assert!(Glob::new("a.c").unwrap().matches("a.c") && !Glob::new("a.c").unwrap().matches("abc"));
        assert!(Glob::new("?").unwrap().matches("é") && !Glob::new("?").unwrap().matches("\n"));
    }

    #[test]
    fn value_tests() {
        let number = |token: &str| Json::parse(token).unwrap().as_number().cloned();
        let range = |min, max| ValueTest::Range { min: number(min), max: number(max) };
        let length = |min, max| ValueTest::Length { min: Some(min), max: Some(max) };
        for (test, value, truth) in [
            (ValueTest::Equals(Json::parse("1").unwrap()), "1.0", Truth::True),
            (ValueTest::Equals(Json::parse("9007199254740993").unwrap()), "9007199254740992", Truth::False),
            (ValueTest::OneOf(vec!["a".into(), Json::Null]), "null", Truth::True),
            (ValueTest::Glob(Glob::new("*").unwrap()), "1", Truth::Failed),
            (ValueTest::Glob(Glob::new("rm *").unwrap()), r#""rm -r /""#, Truth::True),
            (ValueTest::Glob(Glob::new("rm *").unwrap()), r#""ls /""#, Truth::False),
            (ValueTest::Glob(Glob::new("rm *").unwrap()), r#""rm -r /\n""#, Truth::Failed),
            (ValueTest::Regex(Pattern::new("(^|/)[.]").unwrap()), "\"/a/.b\"", Truth::True),
            (ValueTest::Regex(Pattern::new("^x$").unwrap()), "\"x\\ny\"", Truth::False),
            (ValueTest::Regex(Pattern::new("^rm .*$").unwrap()), "\"rm -r\\n/\"", Truth::Failed),
            (ValueTest::Regex(Pattern::new("^rm .*$").unwrap()), "\"ls\\n/\"", Truth::False),
            (ValueTest::Regex(Pattern::new("(?x) a . b # any").unwrap()), "\"a\\nb\"", Truth::Failed),
            (range("0", "10"), "10", Truth::True),
            (range("0", "10"), "10.5", Truth::False),
            (range("9007199254740993", "9007199254740993"), "9007199254740992", Truth::False),
            (range("0.5", "18446744073709551615"), "18446744073709551615", Truth::True),
            (range("0", "10"), "\"5\"", Truth::Failed),
            (length(1, 2), "\"é\"", Truth::True),
            (length(1, 2), "[1,2,3]", Truth::False),
            (length(1, 2), "{\"a\":1}", Truth::True),
            (length(1, 2), "7", Truth::Failed),
            (ValueTest::Exists(true), "null", Truth::True),
            (ValueTest::Exists(false), "0", Truth::False),
        ] {
            assert_eq!(test.check(Some(&Json::parse(value).unwrap())), truth, "{test:?} on {value}");
        }
        assert_eq!(ValueTest::Exists(false).check(None), Truth::True);
        assert_eq!(ValueTest::Exists(true).check(None), Truth::False);
        assert_eq!(ValueTest::Equals(Json::Null).check(None), Truth::Failed);
    }
}
