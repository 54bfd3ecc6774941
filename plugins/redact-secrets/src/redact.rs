//! Applies what was found: to a text, and to every string in JSON text.

use std::collections::BTreeMap;

use callgate_sdk::edit::{self, Malformed, Place};

use crate::Settings;
use crate::assignment;
use crate::kinds::Kind;
use crate::scan::{Found, scan};

/// How many credentials are looked for again wherever they are repeated, and how short such a one may be: what was told by
/// its name alone is not told where it stands without it.
const REMEMBERED: usize = 16;
const SHORTEST_REMEMBERED: usize = 8;

/// One result or error, and what was taken out of it.
pub(crate) struct Redaction<'s> {
    settings: &'s Settings,
    /// Credentials that only their surroundings gave away.
    remembered: Vec<(String, Kind)>,
    /// Which bytes they begin with: asked for every byte of the second pass.
    beginnings: [bool; 256],
    counts: BTreeMap<&'static str, usize>,
}

impl<'s> Redaction<'s> {
    pub(crate) fn new(settings: &'s Settings) -> Self {
        Self { settings, remembered: Vec::new(), beginnings: [false; 256], counts: BTreeMap::new() }
    }

    /// Redacts every string, keys included, except where `skip` says so. None if nothing was found.
    pub(crate) fn json(&mut self, json: &str, skip: impl Fn(Place<'_>, &str) -> bool) -> Result<Option<String>, Malformed> {
        edit::strings(json, |place, text| {
            if skip(place, text) {
                return None;
            }
            match self.member(&place, text) {
                Some(kind) => Some(self.whole(text, kind)),
                None => self.text(text),
            }
        })
    }

    /// Redacts one text. None if nothing was found.
    pub(crate) fn text(&mut self, text: &str) -> Option<String> {
        let found = scan(text, self.settings);
        if found.is_empty() {
            return None;
        }
        let mut out = String::with_capacity(text.len());
        let mut copied = 0;
        for Found { range, kind } in found {
            out.push_str(text.get(copied..range.start).unwrap_or_default());
            out.push_str(&self.whole(text.get(range.clone()).unwrap_or_default(), kind));
            copied = range.end;
        }
        out.push_str(text.get(copied..).unwrap_or_default());
        Some(out)
    }

    /// Takes out, in a second pass, what the first found by its surroundings alone, wherever it stands without them.
    pub(crate) fn repeated_json(&mut self, json: &str, skip: impl Fn(Place<'_>, &str) -> bool) -> Result<Option<String>, Malformed> {
        if self.remembered.is_empty() {
            return Ok(None);
        }
        edit::strings(json, |place, text| if skip(place, text) { None } else { self.repeated(text) })
    }

    /// The same in one text.
    pub(crate) fn repeated(&mut self, text: &str) -> Option<String> {
        let mut out = String::new();
        let (mut at, mut copied) = (0, 0);
        while let Some(&byte) = text.as_bytes().get(at) {
            let hit = if self.beginnings.get(usize::from(byte)) == Some(&true) { self.remembered_at(text, at) } else { None };
            let Some((length, name)) = hit else {
                at += 1;
                continue;
            };
            *self.counts.entry(name).or_default() += 1;
            out.push_str(text.get(copied..at).unwrap_or_default());
            out.push_str(&format!("[redacted:{name}]"));
            at += length;
            copied = at;
        }
        if copied == 0 {
            return None;
        }
        out.push_str(text.get(copied..).unwrap_or_default());
        Some(out)
    }

    fn remembered_at(&self, text: &str, at: usize) -> Option<(usize, &'static str)> {
        let rest = text.as_bytes().get(at..)?;
        let (secret, kind) = self.remembered.iter().find(|(secret, _)| rest.starts_with(secret.as_bytes()))?;
        Some((secret.len(), kind.name()))
    }

    /// What was taken out, in numbers.
    pub(crate) fn summary(&self) -> String {
        let counts: Vec<String> = self.counts.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
        format!("redacted: {}", counts.join(", "))
    }

    /// Whether the name of the member that this text is says that all of it is a credential.
    fn member(&self, place: &Place<'_>, text: &str) -> Option<Kind> {
        let kind = assignment::kind_of_name(place.member()?)?;
        let wanted = self.settings.kinds.as_ref().is_none_or(|kinds| kinds.has(kind));
        let allowed = self.settings.allow.iter().any(|allowed| allowed == text);
        (wanted && !allowed && assignment::is_value(text)).then_some(kind)
    }

    fn whole(&mut self, secret: &str, kind: Kind) -> String {
        *self.counts.entry(kind.name()).or_default() += 1;
        let by_surroundings = matches!(kind, Kind::Assignment | Kind::Aws | Kind::UrlPassword);
        if by_surroundings
            && secret.len() >= SHORTEST_REMEMBERED
            && self.remembered.len() < REMEMBERED
            && !self.remembered.iter().any(|(known, _)| known == secret)
        {
            let beginning = secret.bytes().next().and_then(|byte| self.beginnings.get_mut(usize::from(byte)));
            if let Some(beginning) = beginning {
                *beginning = true;
            }
            self.remembered.push((secret.to_owned(), kind));
        }
        format!("[redacted:{}]", kind.name())
    }
}
