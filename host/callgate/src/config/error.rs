//! A configuration that cannot be used: the file, the line, the cause, and what to do.

use std::path::Path;

/// One clause for the person who wrote the file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ConfigError(String);

impl ConfigError {
    pub(super) fn unreadable(file: &Path, error: &std::io::Error) -> Self {
        Self(format!("{}: cannot be read: {error}; `callgate init -- COMMAND...` writes a first one", file.display()))
    }

    pub(super) fn toml(file: &Path, text: &str, error: &toml::de::Error) -> Self {
        let line = error.span().map(|span| text.get(..span.start).unwrap_or_default().matches('\n').count() + 1);
        let place = line.map_or_else(|| file.display().to_string(), |line| format!("{}:{line}", file.display()));
        let message = error.message().trim().replace('\n', " ");
        let message = ["usize", "u64"]
            .iter()
            .fold(message, |text, number| text.replace(&format!("expected {number}"), "expected a whole number, not negative"));
        Self(format!("{place}: {message}{}", suggestion(&message)))
    }

    pub(super) fn meaning(file: &Path, what: impl std::fmt::Display) -> Self {
        Self(format!("{}: {what}", file.display()))
    }
}

/// For "unknown field `x`, expected one of `a`, `b`": the nearest of them.
fn suggestion(message: &str) -> String {
    let mut quoted = message.split('`').skip(1).step_by(2);
    match quoted.next() {
        Some(unknown) if message.starts_with("unknown ") => nearest(unknown, &quoted.collect::<Vec<_>>()),
        _ => String::new(),
    }
}

/// `; did you mean ...?`, where a known name is near.
pub(crate) fn nearest(name: &str, known: &[&str]) -> String {
    let scored = known.iter().map(|candidate| (strsim::damerau_levenshtein(name, candidate), candidate));
    match scored.min() {
        Some((distance, candidate)) if distance <= 1 + name.len() / 4 => format!("; did you mean `{candidate}`?"),
        _ => String::new(),
    }
}
