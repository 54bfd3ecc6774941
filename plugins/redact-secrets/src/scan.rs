//! One pass over a text, which finds credentials by how they begin.
//!
//! No regular expressions: a table of them costs a plugin more than all it does. Each byte is looked at about once, and what
//! is tried at a place is bounded, so that no text can make this slow.

use std::ops::Range;

use crate::Settings;
use crate::assignment;
use crate::kinds::Kind;
use crate::tokens;

/// A credential in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) range: Range<usize>,
    pub(crate) kind: Kind,
}

/// What a byte can mean to the scan.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    /// Ends a word, and no more.
    Other,
    /// In a word. No known credential begins with it.
    Word,
    /// In a word, and at its beginning perhaps of a credential.
    Beginning,
    /// Perhaps the first dash of a PEM block.
    Dash,
    /// A value may follow.
    Sign,
}

const CLASSES: [Class; 256] = {
    let mut classes = [Class::Other; 256];
    let mut rest: &mut [Class] = &mut classes;
    let mut byte = 0_u8;
    while let [class, after @ ..] = rest {
        *class = match byte {
            b':' | b'=' => Class::Sign,
            b'-' => Class::Dash,
            b'A' | b'e' | b'g' | b'h' | b'n' | b'p' | b'r' | b's' | b'w' | b'x' => Class::Beginning,
            _ if byte.is_ascii_alphanumeric() => Class::Word,
            _ => Class::Other,
        };
        byte = byte.wrapping_add(1);
        rest = after;
    }
    classes
};

/// All credentials in a text, in order, without overlap.
pub(crate) fn scan(text: &str, settings: &Settings) -> Vec<Found> {
    let mut found = Vec::new();
    let bytes = text.as_bytes();
    let has_extra = !settings.extra.is_empty();
    let (mut at, mut inside_word, mut no_jwt) = (0, false, 0);
    while let Some(&byte) = bytes.get(at) {
        let class = CLASSES.get(usize::from(byte)).copied().unwrap_or(Class::Other);
        let mut hit = match class {
            Class::Sign => punctuation(text, at),
            Class::Dash | Class::Beginning if !inside_word => tokens::at(text, at, &mut no_jwt),
            _ => None,
        };
        if has_extra && hit.is_none() && !inside_word {
            hit = extra(text, at, &settings.extra);
        }
        if let Some(hit) = hit
            && wanted(text, &hit, settings)
        {
            at = hit.range.end.max(at + 1);
            inside_word = false;
            found.push(hit);
        } else {
            inside_word = matches!(class, Class::Word | Class::Beginning);
            at += 1;
        }
    }
    if found.iter().any(|one| one.kind == Kind::Aws) {
        aws_secrets(text, settings, &mut found);
    }
    found
}

fn wanted(text: &str, hit: &Found, settings: &Settings) -> bool {
    settings.kinds.as_ref().is_none_or(|kinds| kinds.has(hit.kind))
        && text.get(hit.range.clone()).is_some_and(|secret| !settings.allow.iter().any(|allowed| allowed == secret))
}

fn punctuation(text: &str, at: usize) -> Option<Found> {
    tokens::url_password(text, at).or_else(|| assignment::at(text, at))
}

fn extra(text: &str, at: usize, prefixes: &[String]) -> Option<Found> {
    if prefixes.is_empty() {
        return None;
    }
    let rest = text.get(at..)?;
    let prefix = prefixes.iter().find(|prefix| rest.starts_with(prefix.as_str()))?;
    let end = at
        + prefix.len()
        + tokens::run(rest.get(prefix.len()..)?, |byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'=' | b'/' | b'+')
        });
    Some(Found { range: at..end, kind: Kind::Extra })
}

/// A secret key looks like any 40 characters of base64, so it counts only beside an access key.
fn aws_secrets(text: &str, settings: &Settings, found: &mut Vec<Found>) {
    let in_key = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'+');
    let mut at = 0;
    while let Some(rest) = text.as_bytes().get(at..).filter(|rest| !rest.is_empty()) {
        let length = rest.iter().take_while(|byte| in_key(**byte)).count();
        let has = |test: fn(&u8) -> bool| rest.iter().take(length).any(test);
        if length == 40 && has(u8::is_ascii_digit) && has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase) {
            let hit = Found { range: at..at + length, kind: Kind::Aws };
            let overlaps = found.iter().any(|one| one.range.start < hit.range.end && hit.range.start < one.range.end);
            if !overlaps && wanted(text, &hit, settings) {
                found.push(hit);
            }
        }
        at += length.max(1);
    }
    found.sort_by_key(|one| one.range.start);
}
