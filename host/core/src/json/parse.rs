//! The strict reader: RFC 8259, without duplicate keys, lone surrogates or deep nesting.

use super::value::{MEMBER_BYTES, room};
use super::{Json, Number, Object};

/// Levels of arrays and objects that are read; one more is refused. Every walk over a tree may recurse, so this bounds the stack.
pub const MAX_DEPTH: usize = 128;

/// Bytes that the tree of one text may take in memory, by a generous estimate: 64 MiB. A text of 16 MiB that is nothing but brackets
/// would otherwise take gigabytes.
pub const MAX_TREE_BYTES: usize = 64 << 20;
/// Where and why a text is not the JSON that is accepted here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind} at byte {offset}")]
pub struct ParseError {
    /// What is wrong.
    pub kind: ParseErrorKind,
    /// Byte at which it was noticed, from 0.
    pub offset: usize,
}

/// What is wrong with a text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseErrorKind {
    /// Not JSON.
    #[error("{0} expected")]
    Expected(&'static str),
    /// Not UTF-8.
    #[error("invalid UTF-8")]
    Utf8,
    /// An escape that JSON does not have.
    #[error("unknown escape")]
    Escape,
    /// A control character inside a string.
    #[error("unescaped control character")]
    Control,
    /// Half of a surrogate pair.
    #[error("lone surrogate")]
    LoneSurrogate,
    /// Two members of one object have one name.
    #[error("duplicate key")]
    DuplicateKey,
    /// Nested past [`MAX_DEPTH`].
    #[error("nesting past {MAX_DEPTH} levels")]
    Depth,
    /// More values than [`MAX_TREE_BYTES`] can hold.
    #[error("more values than {MAX_TREE_BYTES} bytes of memory hold")]
    Size,
    /// Something after the value.
    #[error("trailing characters")]
    Trailing,
}

impl Json {
    /// Reads one JSON text.
    ///
    /// # Errors
    /// Whatever [`ParseErrorKind`] names. Numbers are never refused here: see [`Number::is_exact`].
    pub fn parse(text: &str) -> Result<Json, ParseError> {
        Self::parse_within(text, &mut { MAX_TREE_BYTES })
    }

    /// As [`Json::parse`], for one of several texts that share a budget of bytes in memory, as [`MAX_TREE_BYTES`] is one.
    ///
    /// # Errors
    /// As [`Json::parse`].
    pub fn parse_within(text: &str, budget: &mut usize) -> Result<Json, ParseError> {
        let mut reader = Reader { text, bytes: text.as_bytes(), at: 0, left: *budget };
        reader.space();
        let value = reader.value(0)?;
        reader.space();
        *budget = reader.left;
        if reader.at < reader.bytes.len() { Err(reader.error(ParseErrorKind::Trailing)) } else { Ok(value) }
    }

    /// Reads one JSON text from bytes that may not be UTF-8.
    ///
    /// # Errors
    /// As [`Json::parse`], and [`ParseErrorKind::Utf8`].
    pub fn parse_bytes(bytes: &[u8]) -> Result<Json, ParseError> {
        let text = std::str::from_utf8(bytes).map_err(|error| ParseError { kind: ParseErrorKind::Utf8, offset: error.valid_up_to() })?;
        Self::parse(text)
    }
}

struct Reader<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    /// Bytes that the tree may still take.
    left: usize,
}

type Parsed<T> = Result<T, ParseError>;

impl Reader<'_> {
    fn value(&mut self, depth: usize) -> Parsed<Json> {
        self.charge(size_of::<Json>())?;
        match self.peek() {
            Some(b'{') => self.object(depth),
            Some(b'[') => self.array(depth),
            Some(b'"') => self.string().map(Json::String),
            Some(b'-' | b'0'..=b'9') => self.number().map(Json::Number),
            Some(b't') => self.word("true", Json::Bool(true)),
            Some(b'f') => self.word("false", Json::Bool(false)),
            Some(b'n') => self.word("null", Json::Null),
            _ => Err(self.expected("a value")),
        }
    }

    fn object(&mut self, depth: usize) -> Parsed<Json> {
        self.open(depth)?;
        let mut object = Object::new();
        if self.skip(b'}') {
            return Ok(Json::Object(object));
        }
        self.charge(room(1, MEMBER_BYTES + size_of::<Json>()))?;
        loop {
            self.charge(MEMBER_BYTES)?;
            let start = self.at;
            if self.peek() != Some(b'"') {
                return Err(self.expected("a key"));
            }
            let key = self.string()?;
            self.space();
            if !self.skip(b':') {
                return Err(self.expected("`:`"));
            }
            self.space();
            let value = self.value(depth + 1)?;
            if object.insert(key, value).is_some() {
                return Err(ParseError { kind: ParseErrorKind::DuplicateKey, offset: start });
            }
            if self.close(b'}', "`,` or `}`")? {
                return Ok(Json::Object(object));
            }
        }
    }

    fn array(&mut self, depth: usize) -> Parsed<Json> {
        self.open(depth)?;
        let mut items = Vec::new();
        if self.skip(b']') {
            return Ok(Json::Array(items));
        }
        self.charge(room(1, size_of::<Json>()))?;
        loop {
            items.push(self.value(depth + 1)?);
            if self.close(b']', "`,` or `]`")? {
                return Ok(Json::Array(items));
            }
        }
    }

    fn open(&mut self, depth: usize) -> Parsed<()> {
        if depth >= MAX_DEPTH {
            return Err(self.error(ParseErrorKind::Depth));
        }
        self.at += 1;
        self.space();
        Ok(())
    }

    /// Whether the closing bracket follows; a comma goes on to the next element.
    fn close(&mut self, bracket: u8, expected: &'static str) -> Parsed<bool> {
        self.space();
        if self.skip(bracket) {
            return Ok(true);
        }
        if !self.skip(b',') {
            return Err(self.expected(expected));
        }
        self.space();
        Ok(false)
    }

    fn string(&mut self) -> Parsed<String> {
        self.at += 1;
        let mut text = String::new();
        loop {
            let start = self.at;
            while self.peek().is_some_and(|byte| byte != b'"' && byte != b'\\' && byte >= 0x20) {
                self.at += 1;
            }
            text.push_str(self.text.get(start..self.at).unwrap_or_default());
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    self.charge(text.len())?;
                    return Ok(text);
                }
                Some(b'\\') => text.push(self.escape()?),
                Some(_) => return Err(self.error(ParseErrorKind::Control)),
                None => return Err(self.expected("`\"`")),
            }
        }
    }

    fn escape(&mut self) -> Parsed<char> {
        self.at += 1;
        let plain = match self.peek() {
            Some(b'u') => return self.unicode_escape(),
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            _ => return Err(self.error(ParseErrorKind::Escape)),
        };
        self.at += 1;
        Ok(plain)
    }

    fn unicode_escape(&mut self) -> Parsed<char> {
        let start = self.at;
        let lone = ParseError { kind: ParseErrorKind::LoneSurrogate, offset: start };
        let high = self.hex4()?;
        if !(0xD800..0xE000).contains(&high) {
            return char::from_u32(high).ok_or(lone);
        }
        if high >= 0xDC00 || !self.skip(b'\\') || self.peek() != Some(b'u') {
            return Err(lone);
        }
        let low = self.hex4()?;
        if !(0xDC00..0xE000).contains(&low) {
            return Err(lone);
        }
        char::from_u32(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00)).ok_or(lone)
    }

    /// Four hexadecimal digits behind the `u` that the reader stands on.
    fn hex4(&mut self) -> Parsed<u32> {
        self.at += 1;
        let mut code = 0;
        for _ in 0..4 {
            let digit = self.peek().and_then(|byte| char::from(byte).to_digit(16));
            code = code * 16 + digit.ok_or_else(|| self.error(ParseErrorKind::Escape))?;
            self.at += 1;
        }
        Ok(code)
    }

    fn number(&mut self) -> Parsed<Number> {
        let start = self.at;
        self.skip(b'-');
        if !self.skip(b'0') {
            self.digits()?;
        }
        if self.skip(b'.') {
            self.digits()?;
        }
        if self.skip(b'e') || self.skip(b'E') {
            let _sign = self.skip(b'+') || self.skip(b'-');
            self.digits()?;
        }
        self.charge(self.at - start)?;
        Ok(Number::from_token(self.text.get(start..self.at).unwrap_or_default()))
    }

    fn digits(&mut self) -> Parsed<()> {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        if self.at == start { Err(self.expected("a digit")) } else { Ok(()) }
    }

    fn charge(&mut self, bytes: usize) -> Parsed<()> {
        self.left = self.left.checked_sub(bytes).ok_or_else(|| self.error(ParseErrorKind::Size))?;
        Ok(())
    }

    fn word(&mut self, word: &'static str, value: Json) -> Parsed<Json> {
        if self.bytes.get(self.at..).is_some_and(|rest| rest.starts_with(word.as_bytes())) {
            self.at += word.len();
            Ok(value)
        } else {
            Err(self.expected("a value"))
        }
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn skip(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn expected(&self, what: &'static str) -> ParseError {
        self.error(ParseErrorKind::Expected(what))
    }

    fn error(&self, kind: ParseErrorKind) -> ParseError {
        ParseError { kind, offset: self.at }
    }
}

#[cfg(test)]
mod tests {
    use super::{Json, ParseErrorKind};

    #[test]
    fn refuses_what_two_readers_could_read_differently() {
        for (text, kind) in [
            (r#"{"a":1,"a":2}"#, ParseErrorKind::DuplicateKey),
            (r#"{"p\u0061th":1,"path":2}"#, ParseErrorKind::DuplicateKey),
            (r#"{"x":{"a":1,"a":1}}"#, ParseErrorKind::DuplicateKey),
            (r#""\ud800""#, ParseErrorKind::LoneSurrogate),
            (r#""\udc00\ud800""#, ParseErrorKind::LoneSurrogate),
            (r#""\ud800\u0041""#, ParseErrorKind::LoneSurrogate),
            ("\"\u{1}\"", ParseErrorKind::Control),
            (r#""\x""#, ParseErrorKind::Escape),
            ("1 2", ParseErrorKind::Trailing),
            ("01", ParseErrorKind::Trailing),
            ("[1,]", ParseErrorKind::Expected("a value")),
            ("", ParseErrorKind::Expected("a value")),
            ("\u{feff}1", ParseErrorKind::Expected("a value")),
        ] {
            assert_eq!(Json::parse(text).unwrap_err().kind, kind, "{text}");
        }
        assert_eq!(Json::parse_bytes(b"\"\xff\"").unwrap_err().kind, ParseErrorKind::Utf8);
    }

    #[test]
    fn nesting_ends_at_the_limit() {
        let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert_eq!(Json::parse(&nested(128)).unwrap().depth(), 128);
        assert_eq!(Json::parse(&nested(129)).unwrap_err().kind, ParseErrorKind::Depth);
        assert_eq!(Json::parse(&"[".repeat(100_000)).unwrap_err().kind, ParseErrorKind::Depth);
    }

    #[test]
    fn what_would_not_fit_into_memory_is_refused() {
        let list = |item: &str, count: usize| format!("[{}]", vec![item; count].join(","));
        for text in [list("[]", 4 << 20), list("{}", 4 << 20), list("[1]", 1 << 20), list(r#"{"a":1}"#, 1 << 20), list("1", 4 << 20)] {
            assert_eq!(Json::parse(&text).unwrap_err().kind, ParseErrorKind::Size, "{}", text.get(..9).unwrap());
        }
        assert!(Json::parse(&format!("\"{}\"", "x".repeat(16 << 20))).is_ok());
        assert!(Json::parse(&list("12345", 500_000)).is_ok());
        for text in ["[]", "[[1,2.50],{}]", r#"{"a":{"bb":"ccc"},"d":[true,null]}"#] {
            let mut left = super::MAX_TREE_BYTES;
            let value = Json::parse_within(text, &mut left).unwrap();
            assert_eq!(value.tree_bytes(), super::MAX_TREE_BYTES - left, "{text}");
        }
    }

    #[test]
    fn magic_keys_are_plain_keys() {
        let text = r#"{"n":{"$serde_json::private::Number":"1"},"__proto__":{},"":0}"#;
        assert_eq!(Json::parse(text).unwrap().to_string(), text);
    }

    #[test]
    fn escapes_are_read() {
        assert_eq!(Json::parse(r#""\ud83d\ude00\u00e9\/\n""#).unwrap(), Json::from("😀é/\n"));
    }
}
