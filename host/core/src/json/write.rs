//! Writing: as it came, and canonically.

use std::fmt::{Display, Formatter, Write};

use super::Json;

/// Compact JSON with members in the order in which they came and numbers as their tokens.
impl Display for Json {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        write(self, Form::AsItCame, f)
    }
}

impl Json {
    /// The canonical form: RFC 8785 (keys sorted by UTF-16, shortest escapes, shortest doubles), except that integers keep all
    /// their digits. See [`super::Number::canonical`].
    #[must_use]
    pub fn canonical(&self) -> String {
        let mut text = String::new();
        // Writing into a string cannot fail.
        let _infallible = write(self, Form::Canonical, &mut text);
        text
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Form {
    AsItCame,
    Canonical,
}

fn write(value: &Json, form: Form, out: &mut impl Write) -> std::fmt::Result {
    match value {
        Json::Null => out.write_str("null"),
        Json::Bool(value) => out.write_str(if *value { "true" } else { "false" }),
        Json::Number(number) if form == Form::Canonical => out.write_str(&number.canonical()),
        Json::Number(number) => out.write_str(number.as_token()),
        Json::String(text) => write_string(text, out),
        Json::Array(items) => {
            out.write_char('[')?;
            for (index, item) in items.iter().enumerate() {
                separate(index, out)?;
                write(item, form, out)?;
            }
            out.write_char(']')
        }
        Json::Object(object) => {
            let mut members: Vec<_> = object.iter().collect();
            if form == Form::Canonical {
                members.sort_by(|(a, _), (b, _)| a.encode_utf16().cmp(b.encode_utf16()));
            }
            out.write_char('{')?;
            for (index, (key, item)) in members.into_iter().enumerate() {
                separate(index, out)?;
                write_string(key, out)?;
                out.write_char(':')?;
                write(item, form, out)?;
            }
            out.write_char('}')
        }
    }
}

fn separate(index: usize, out: &mut impl Write) -> std::fmt::Result {
    if index > 0 { out.write_char(',') } else { Ok(()) }
}

fn write_string(text: &str, out: &mut impl Write) -> std::fmt::Result {
    out.write_char('"')?;
    for character in text.chars() {
        match character {
            '"' => out.write_str("\\\"")?,
            '\\' => out.write_str("\\\\")?,
            '\u{8}' => out.write_str("\\b")?,
            '\u{c}' => out.write_str("\\f")?,
            '\n' => out.write_str("\\n")?,
            '\r' => out.write_str("\\r")?,
            '\t' => out.write_str("\\t")?,
            '\0'..='\u{1f}' => write!(out, "\\u{:04x}", u32::from(character))?,
            _ => out.write_char(character)?,
        }
    }
    out.write_char('"')
}

#[cfg(test)]
mod tests {
    use super::Json;

    #[test]
    fn what_nobody_changes_leaves_as_it_came() {
        let text = r#"{"z":1.0,"a":[1E5,18446744073709551616,-0],"é":"\u001f\"\\"}"#;
        assert_eq!(Json::parse(text).unwrap().to_string(), text);
    }

    #[test]
    fn canonical_sorts_by_utf16() {
        let value = Json::parse("{\"\u{fb33}\":1,\"\u{1f600}\":2,\"a\":3,\"\":4}").unwrap();
        assert_eq!(value.canonical(), "{\"\":4,\"a\":3,\"\u{1f600}\":2,\"\u{fb33}\":1}");
    }
}
