//! A standing approval.

use std::collections::BTreeSet;

use crate::digest::{Digest, Fingerprint};
use crate::json::{Json, Pointer};

use super::{Arguments, Cause, Reason};

/// A standing approval as it is stored: for this principal, server, tool and definition, under the causes and taint it was given
/// for, until it expires.
#[derive(Clone, Debug, PartialEq)]
pub struct Grant {
    /// Its id.
    pub id: String,
    /// When it was given, milliseconds since the Unix epoch.
    pub created_ms: u64,
    /// Uses that are left; none is any number.
    pub uses_left: Option<u32>,
    /// What was granted.
    pub given: NewGrant,
}

impl Grant {
    /// Whether it stands for the definition itself, so that a call of it raises no pin (PO-6): a person was asked about the pin, and
    /// narrowed nothing. Any other grant settles just the asks that it was given for.
    #[must_use]
    pub fn approves_definition(&self) -> bool {
        let terms = &self.given.terms;
        let asked_about_pin =
            [Reason::ToolChanged, Reason::ToolNew].into_iter().any(|pin| self.given.causes.contains(&Cause::Pin(pin).to_string()));
        asked_about_pin && terms.constraints.is_empty() && terms.uses.is_none()
    }
}

/// A standing approval to be stored.
#[derive(Clone, Debug, PartialEq)]
pub struct NewGrant {
    /// For whom, in the principal's unambiguous text; none only where anonymous grants are allowed.
    pub principal: Option<String>,
    /// The server's name, to show.
    pub server: String,
    /// The server's identity.
    pub server_digest: Digest,
    /// The tool.
    pub tool: String,
    /// The definition that was approved.
    pub fingerprint: Fingerprint,
    /// What the person was asked about: this grant settles only asks whose causes are among these (T8).
    pub causes: BTreeSet<String>,
    /// The taint of the call it was given for: it settles only asks whose taint is within this.
    pub taint: BTreeSet<String>,
    /// Until when, milliseconds since the Unix epoch.
    pub expires_ms: u64,
    /// What narrows it.
    pub terms: GrantTerms,
}

/// What an approver may narrow a grant by.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GrantTerms {
    /// Only calls whose arguments meet all of these.
    pub constraints: Vec<ArgumentConstraint>,
    /// Only so many uses.
    pub uses: Option<u32>,
    /// Only so long, seconds; never longer than the host's `grant_ttl`.
    pub seconds: Option<u64>,
    /// Why, in the approver's words.
    pub note: Option<String>,
}

/// One condition on a call's arguments: the value at the pointer is one of these.
#[derive(Clone, Debug, PartialEq)]
pub struct ArgumentConstraint {
    /// Where.
    pub pointer: Pointer,
    /// The values that are granted.
    pub one_of: Vec<Json>,
}

/// A grant's terms that cannot be read. Terms narrow, so what is not understood must not be ignored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the terms of the grant are malformed at `{0}`")]
pub struct InvalidTerms(&'static str);

impl GrantTerms {
    /// Whether a call's arguments meet every constraint.
    #[must_use]
    pub fn admit(&self, arguments: &Arguments) -> bool {
        self.constraints.iter().all(|constraint| arguments.at(&constraint.pointer).is_some_and(|value| constraint.one_of.contains(value)))
    }

    /// These terms and those as well.
    #[must_use]
    pub fn narrowed_by(self, other: Self) -> Self {
        let narrower = |a: Option<u64>, b: Option<u64>| a.into_iter().chain(b).min();
        Self {
            constraints: self.constraints.into_iter().chain(other.constraints).collect(),
            uses: self.uses.into_iter().chain(other.uses).min(),
            seconds: narrower(self.seconds, other.seconds),
            note: self.note.or(other.note),
        }
    }

    /// Reads `{"constraints":[{"pointer","equals"|"one_of"}],"uses","seconds","note"}`.
    ///
    /// # Errors
    /// A member that is unknown or of another type.
    pub fn from_json(value: &Json) -> Result<Self, InvalidTerms> {
        let mut terms = Self::default();
        for (key, value) in value.as_object().ok_or(InvalidTerms(""))? {
            match key.as_str() {
                "constraints" => {
                    let items = value.as_array().ok_or(InvalidTerms("constraints"))?;
                    terms.constraints = items.iter().map(constraint).collect::<Option<_>>().ok_or(InvalidTerms("constraints"))?;
                }
                "uses" => terms.uses = Some(whole(value).and_then(|uses| u32::try_from(uses).ok()).ok_or(InvalidTerms("uses"))?),
                "seconds" => terms.seconds = Some(whole(value).ok_or(InvalidTerms("seconds"))?),
                "note" => terms.note = Some(value.as_str().ok_or(InvalidTerms("note"))?.chars().take(1000).collect()),
                _ => return Err(InvalidTerms("unknown member")),
            }
        }
        Ok(terms)
    }

    /// The JSON that [`GrantTerms::from_json`] reads.
    #[must_use]
    pub fn to_json(&self) -> Json {
        let constraint = |constraint: &ArgumentConstraint| -> Json {
            let pointer = Json::from(constraint.pointer.to_string());
            [("pointer", pointer), ("one_of", Json::from(constraint.one_of.clone()))].into_iter().collect()
        };
        let constraints = (!self.constraints.is_empty()).then(|| Json::from(self.constraints.iter().map(constraint).collect::<Vec<_>>()));
        let uses = self.uses.map(|uses| Json::from(u64::from(uses)));
        let members = [
            ("constraints", constraints),
            ("uses", uses),
            ("seconds", self.seconds.map(Json::from)),
            ("note", self.note.clone().map(Json::from)),
        ];
        members.into_iter().filter_map(|(key, value)| Some((key, value?))).collect()
    }
}

fn whole(value: &Json) -> Option<u64> {
    value.as_number().and_then(crate::json::Number::as_u64).filter(|value| *value > 0)
}

fn constraint(value: &Json) -> Option<ArgumentConstraint> {
    let object = value.as_object()?;
    if object.len() != 2 {
        return None;
    }
    let pointer = object.get("pointer")?.as_str()?.parse().ok()?;
    let one_of = match (object.get("equals"), object.get("one_of")) {
        (Some(value), None) => vec![value.clone()],
        (None, Some(values)) => values.as_array()?.to_vec(),
        _ => return None,
    };
    Some(ArgumentConstraint { pointer, one_of })
}
