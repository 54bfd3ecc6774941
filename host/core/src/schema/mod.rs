//! JSON Schemas of tools (steps 5 and 10): drafts 4 to 2020-12, by `$schema`, 2020-12 where it says nothing.
//!
//! A schema is a server's text, so it is treated as code of an attacker: nothing is ever fetched, patterns are linear, and the work
//! that checking a value can cost is counted before it is done (T32).

mod cost;
mod references;
mod unfold;
mod work;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jsonschema::{Draft, PatternOptions, Validator};

use crate::digest::Digest;
use crate::json::Json;

/// Bytes that the schemas that are kept compiled may take, by a generous estimate; when there are more, all are dropped and compiled
/// again as needed.
const MAX_CACHED_BYTES: usize = 256 << 20;
/// Bytes that one compiled pattern may take.
const MAX_PATTERN_BYTES: usize = 1 << 20;
/// Bytes that all compiled patterns of a schema may take; each gets its share.
const MAX_PATTERNS_BYTES: usize = 16 << 20;
/// Bytes that a schema takes compiled for each byte of its text.
const BYTES_PER_BYTE: usize = 32;
/// Stack for checking, so that its depth is bounded by [`cost`] and not by what is left of the caller's.
const STACK_BYTES: usize = 16 << 20;
/// Characters of an explanation that are kept: it may quote the server's own text.
const MAX_EXPLANATION_CHARS: usize = 500;

/// Why a value was not accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SchemaError {
    /// The schema itself cannot be used.
    #[error("the schema cannot be used: {0}")]
    Unusable(String),
    /// Checking would cost more than the bound.
    #[error("checking against the schema would cost more than {} steps", cost::MAX_STEPS)]
    TooCostly,
    /// The value does not fit.
    #[error("{0}")]
    Mismatch(String),
}

/// A schema that can be checked against.
pub struct Schema {
    source: Json,
    validator: Validator,
    /// What it takes in memory, at most.
    bytes: usize,
}

/// Compiled schemas, by what they say. Clones are one cache.
#[derive(Clone, Default)]
pub struct SchemaCache(Arc<Mutex<Known>>);

#[derive(Default)]
struct Known {
    schemas: HashMap<Digest, Arc<Schema>>,
    bytes: usize,
}

impl SchemaCache {
    /// The compiled form of a schema, where it was compiled before.
    #[must_use]
    pub fn known(&self, schema: &Json) -> Option<Arc<Schema>> {
        self.lock().schemas.get(&Digest::of_json(schema)).cloned()
    }

    /// The compiled form of a schema. Compiling takes time: a large one may take a second.
    ///
    /// # Errors
    /// [`SchemaError::Unusable`].
    pub fn get(&self, schema: &Json) -> Result<Arc<Schema>, SchemaError> {
        if let Some(known) = self.known(schema) {
            return Ok(known);
        }
        let compiled = Arc::new(Schema::compile(schema)?);
        let mut known = self.lock();
        if known.bytes.saturating_add(compiled.bytes) > MAX_CACHED_BYTES {
            *known = Known::default();
        }
        known.bytes = known.bytes.saturating_add(compiled.bytes);
        known.schemas.insert(Digest::of_json(schema), compiled.clone());
        Ok(compiled)
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Schema {
    /// Compiles a schema.
    ///
    /// # Errors
    /// [`SchemaError::Unusable`]: an unknown dialect, a reference that leaves the document, or a schema that is invalid in its
    /// own dialect.
    pub fn compile(schema: &Json) -> Result<Self, SchemaError> {
        let draft = draft(schema)?;
        references::check_references(schema)?;
        unfold::check(schema)?;
        let patterns = patterns(schema);
        let share = (MAX_PATTERNS_BYTES / patterns.max(1)).min(MAX_PATTERN_BYTES);
        let value = schema.to_serde();
        let validator = stacker::grow(STACK_BYTES, || {
            jsonschema::options()
                .with_draft(draft)
                .offline()
                .should_validate_formats(false)
                .with_pattern_options(PatternOptions::regex().size_limit(share).dfa_size_limit(share))
                .build(&value)
                .map_err(|error| SchemaError::Unusable(explain(&error.to_string())))
        })?;
        let bytes = schema.to_string().len().saturating_mul(BYTES_PER_BYTE).saturating_add(patterns.saturating_mul(2 * share));
        Ok(Self { source: schema.clone(), validator, bytes })
    }

    /// Whether checking a value is quickly done. What is not belongs on a thread that may wait.
    #[must_use]
    pub fn is_quick(&self, value: &Json) -> bool {
        cost::bound(&self.source, value, cost::LIGHT_STEPS).is_ok()
    }

    /// Checks a value.
    ///
    /// # Errors
    /// [`SchemaError::TooCostly`] and [`SchemaError::Mismatch`], which says where and why, cleaned and capped. It never quotes the
    /// value: that may be a secret, or what a person answered, and who reads the error may be neither.
    pub fn check(&self, value: &Json) -> Result<(), SchemaError> {
        cost::bound(&self.source, value, cost::MAX_STEPS)?;
        let value = value.to_serde();
        stacker::grow(STACK_BYTES, || {
            self.validator.validate(&value).map_err(|error| {
                let place = error.instance_path().to_string();
                let place = if place.is_empty() { "the value".to_owned() } else { format!("`{place}`") };
                SchemaError::Mismatch(explain(&format!("{place}: {}", error.masked())))
            })
        })
    }
}

/// How many patterns a schema has, at most.
fn patterns(schema: &Json) -> usize {
    let (mut patterns, mut pending) = (0, vec![schema]);
    while let Some(value) = pending.pop() {
        match value {
            Json::Object(object) => {
                let named = object.get("patternProperties").and_then(Json::as_object).map_or(0, crate::json::Object::len);
                patterns += named + usize::from(object.contains_key("pattern"));
                pending.extend(object.values());
            }
            Json::Array(items) => pending.extend(items),
            _ => {}
        }
    }
    patterns
}

fn draft(schema: &Json) -> Result<Draft, SchemaError> {
    let Some(dialect) = schema.get("$schema") else { return Ok(Draft::Draft202012) };
    match dialect.as_str().map(|uri| uri.trim_end_matches('#')) {
        Some("https://json-schema.org/draft/2020-12/schema") => Ok(Draft::Draft202012),
        Some("https://json-schema.org/draft/2019-09/schema") => Ok(Draft::Draft201909),
        Some("http://json-schema.org/draft-07/schema" | "https://json-schema.org/draft-07/schema") => Ok(Draft::Draft7),
        Some("http://json-schema.org/draft-06/schema" | "https://json-schema.org/draft-06/schema") => Ok(Draft::Draft6),
        Some("http://json-schema.org/draft-04/schema" | "https://json-schema.org/draft-04/schema") => Ok(Draft::Draft4),
        _ => Err(SchemaError::Unusable("its `$schema` names no dialect from draft 4 to 2020-12".to_owned())),
    }
}

fn explain(text: &str) -> String {
    crate::shape::clean_text(text).text.chars().take(MAX_EXPLANATION_CHARS).collect()
}
