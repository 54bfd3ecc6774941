//! Takes credentials out of results and errors, before a model or a log sees them.
//!
//! `kinds` says what is looked for, `scan` finds it in a text, `redact` applies that to JSON text. Everything that is no
//! credential stays byte for byte: no value is parsed and written again.

mod assignment;
mod kinds;
mod redact;
mod scan;
mod tokens;

use callgate_sdk::prelude::*;
use callgate_sdk::{edit, replace_text};
use serde::Deserialize;

use kinds::Kinds;
use redact::Redaction;

/// What to look for.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// The kinds of credentials; left out: all.
    kinds: Option<Kinds>,
    /// Literal beginnings of further credentials, such as `acme_key_`: with what follows, they are taken out too.
    extra: Vec<String>,
    /// Texts that look like credentials and are none.
    allow: Vec<String>,
}

/// Checks the settings.
pub fn configure(settings: Settings) -> Result<Settings, String> {
    match settings.extra.iter().find(|prefix| prefix.len() < 3) {
        Some(prefix) => Err(format!("`{prefix}` in `extra` is too short: it would be found everywhere")),
        None => Ok(settings),
    }
}

/// Why a result cannot be judged: there are no settings, or it is no JSON. Either withholds it.
type Unable = Box<dyn std::error::Error>;

/// Replaces credentials in a result by `[redacted:kind]`.
pub fn redact_result(_call: &ToolCall, result: &ToolResult, _context: &Context) -> Result<PostOutcome, Unable> {
    let mut redaction = Redaction::new(settings::<Settings>()?);
    let json = result.json();
    let first = redaction.json(&json, is_encoded)?;
    let again = redaction.repeated_json(first.as_ref().unwrap_or(&json), is_encoded)?;
    Ok(match again.or(first) {
        Some(json) => {
            note(redaction.summary());
            replace_text(json)
        }
        None => keep(),
    })
}

/// Replaces credentials in an error's message and data.
pub fn redact_failure(_call: &ToolCall, failure: &Failure, _context: &Context) -> Result<FailureOutcome, Unable> {
    let mut redaction = Redaction::new(settings::<Settings>()?);
    let (before, data_before) = (failure.message(), failure.data_text());
    let everything = |_: edit::Place<'_>, _: &str| false;

    let mut message = redaction.text(&before).unwrap_or_else(|| before.clone());
    let mut data = data_before.clone();
    if let Some(text) = &mut data
        && let Some(new) = redaction.json(text, everything)?
    {
        *text = new;
    }
    if let Some(new) = redaction.repeated(&message) {
        message = new;
    }
    if let Some(text) = &mut data
        && let Some(new) = redaction.repeated_json(text, everything)?
    {
        *text = new;
    }

    if message == before && data == data_before {
        return Ok(keep());
    }
    note(redaction.summary());
    Ok(reword(message, data))
}

/// Media of a content block, where the protocol has them: text that only happens to look like a credential there must stay.
///
/// Judged by the place *and* the text: nobody can hide a token by calling its member `data`.
fn is_encoded(place: edit::Place<'_>, text: &str) -> bool {
    use edit::Step::{Item, Member};
    let media = match place.steps {
        [Member(content), Item(_), Member(data)] => content == "content" && data == "data",
        [Member(content), Item(_), Member(resource), Member(blob)] => content == "content" && resource == "resource" && blob == "blob",
        _ => false,
    };
    let base64 = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    media && !place.is_key && text.len() >= 64 && text.len().is_multiple_of(4) && text.bytes().all(base64)
}

callgate_sdk::export!(post_hook = redact_result, failure_hook = redact_failure, configure = configure);

#[cfg(test)]
mod tests;
