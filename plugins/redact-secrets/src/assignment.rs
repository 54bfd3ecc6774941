//! Credentials that can be told by what they are given to: `password=...`, `"api_key": "..."`.

use crate::kinds::Kind;
use crate::scan::Found;

/// How long a name may be, and how far around the sign a value is looked for.
const LONGEST_NAME: usize = 64;
/// Shorter values are answers to something else: `password: no`.
const SHORTEST_VALUE: usize = 4;

/// What a name ends with, in lower case and without `_`, `-` and `.`, if what it is given is a credential.
const ENDINGS: [&str; 15] = [
    "password",
    "passwd",
    "passphrase",
    "secret",
    "apikey",
    "accesskey",
    "secretkey",
    "privatekey",
    "authtoken",
    "accesstoken",
    "refreshtoken",
    "bearertoken",
    "sessiontoken",
    "apitoken",
    "authorization",
];

/// What a member or variable of this name holds, if that is a credential.
pub(crate) fn kind_of_name(name: &str) -> Option<Kind> {
    let name = name.as_bytes();
    // Most names are told by their last letter: this is asked at every colon.
    let last = name.iter().rfind(|byte| byte.is_ascii_alphabetic())?.to_ascii_lowercase();
    if name.len() > LONGEST_NAME || !matches!(last, b'd' | b'e' | b'n' | b't' | b'y') {
        return None;
    }
    if after_ending(name, "secretaccesskey").is_some() {
        return Some(Kind::Aws);
    }
    let is_all = |word| after_ending(name, word).is_some_and(<[u8]>::is_empty);
    let is_secret = is_all("token") || is_all("pwd") || ENDINGS.iter().any(|ending| after_ending(name, ending).is_some());
    is_secret.then_some(Kind::Assignment)
}

/// What stands before an ending, if the name has it; case and the signs that join words do not count.
fn after_ending<'n>(mut name: &'n [u8], ending: &str) -> Option<&'n [u8]> {
    for wanted in ending.bytes().rev() {
        while let [rest @ .., b'_' | b'-' | b'.'] = name {
            name = rest;
        }
        let [rest @ .., last] = name else { return None };
        if last.to_ascii_lowercase() != wanted {
            return None;
        }
        name = rest;
    }
    Some(name)
}

/// Whether a value that a secret name is given is one at all.
pub(crate) fn is_value(value: &str) -> bool {
    let placeholder = is_template(value)
        || (value.starts_with('<') && value.ends_with('>'))
        || value.bytes().all(|byte| matches!(byte, b'*' | b'x' | b'X' | b'.'))
        || matches!(value, "null" | "none" | "None" | "true" | "false" | "string" | "undefined" | "required");
    value.len() >= SHORTEST_VALUE && !placeholder
}

/// Whether this begins something that is filled in elsewhere, or was taken out before.
fn is_template(value: &str) -> bool {
    ["${", "{{", "[redacted"].iter().any(|beginning| value.starts_with(beginning))
}

/// The value that is given at this colon or equals sign, if the name before it is a secret one.
pub(crate) fn at(text: &str, at: usize) -> Option<Found> {
    let (before, after) = (text.get(..at)?, text.get(at + 1..)?);
    let decoration = |byte: &u8| matches!(byte, b' ' | b'"' | b'\'' | b'\\');
    let before = before.get(..before.len() - before.bytes().rev().take_while(decoration).count())?;
    let name_length = before.bytes().rev().take(LONGEST_NAME + 1).take_while(|byte| in_name(*byte)).count();
    let name = before.get(before.len() - name_length..)?;
    let kind = kind_of_name(name)?;

    // `=>` and `:=` are signs too; then spaces; then perhaps a quote, which may itself be escaped.
    let start = |rest: &str| after.len() - rest.len();
    let rest = after.trim_start_matches(['>', '=']).trim_start_matches([' ', '\t']);
    let slashes = rest.bytes().take(4).take_while(|byte| *byte == b'\\').count();
    let quote = rest.as_bytes().get(slashes).copied().filter(|byte| matches!(byte, b'"' | b'\''));
    let rest = if quote.is_some() { rest.get(slashes + 1..)? } else { rest };
    let rest = without_scheme(rest);

    // Before the value is measured: a text full of placeholders must not be measured again and again.
    if is_template(rest) {
        return None;
    }
    let length = match quote {
        Some(quote) => rest.bytes().take_while(|byte| *byte != quote && *byte != b'\n').count(),
        None => rest.bytes().take_while(|byte| !ends_bare(*byte)).count(),
    };
    let value = rest.get(..length)?;
    let value = if quote.is_some() { value.trim_end_matches('\\') } else { value };
    let is_folder = kind == Kind::Assignment && name.eq_ignore_ascii_case("pwd") && value.starts_with(['/', '~']);
    if is_folder || !is_value(value) {
        return None;
    }
    let from = at + 1 + start(rest);
    Some(Found { range: from..from + value.len(), kind })
}

fn in_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

fn ends_bare(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, b',' | b';' | b'&' | b'"' | b'\'' | b'<' | b')' | b']' | b'}' | b'\\')
}

/// In `Authorization: Bearer abc` the credential is what follows the scheme.
fn without_scheme(value: &str) -> &str {
    for scheme in ["Bearer ", "bearer ", "Basic ", "basic ", "Token ", "token "] {
        if let Some(rest) = value.strip_prefix(scheme) {
            return rest.trim_start_matches(' ');
        }
    }
    value
}
