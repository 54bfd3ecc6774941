//! How large a schema becomes when it is compiled.
//!
//! What is unevaluated is what all subschemas at the same place leave over, so for each `unevaluatedProperties` and
//! `unevaluatedItems` a validator compiles those once more, references and all, and in them again for each such keyword. A schema of
//! 2 KB can become 4^16 validators. The size is counted before anything is compiled.

use std::collections::HashMap;

use crate::json::Json;

use super::SchemaError;
use super::references::{Document, REFERENCES};

/// Subschemas that a schema may unfold to: some ten milliseconds of compiling.
const MAX_UNFOLDED: u64 = 100_000;
/// Keywords that unfold what is beside them.
const UNEVALUATED: [&str; 2] = ["unevaluatedProperties", "unevaluatedItems"];

/// Refuses a schema that would unfold to more than [`MAX_UNFOLDED`].
pub(super) fn check(schema: &Json) -> Result<(), SchemaError> {
    // Without such a keyword each subschema is compiled once, however many references lead to it.
    if !any(schema, &UNEVALUATED) {
        return Ok(());
    }
    let mut unfold = Unfold { document: Document::new(schema), known: HashMap::new() };
    if stacker::grow(super::STACK_BYTES, || unfold.size(schema, 0))? > MAX_UNFOLDED {
        return Err(SchemaError::Unusable("its `unevaluated` keywords unfold without bound".to_owned()));
    }
    Ok(())
}

struct Unfold<'a> {
    document: Document<'a>,
    /// Sizes by address; one, as a recursion's end, while a schema is being counted.
    known: HashMap<*const Json, u64>,
}

impl<'a> Unfold<'a> {
    fn size(&mut self, schema: &'a Json, level: usize) -> Result<u64, SchemaError> {
        let address = std::ptr::from_ref(schema);
        if let Some(known) = self.known.get(&address) {
            return Ok(*known);
        }
        if level > super::cost::MAX_LEVELS {
            return Err(SchemaError::TooCostly);
        }
        self.known.insert(address, 1);
        let mut size = 1_u64;
        for part in self.parts(schema)? {
            size = size.saturating_add(self.size(part, level + 1)?);
        }
        let times = UNEVALUATED.iter().filter(|keyword| schema.get(keyword).is_some()).count();
        for _ in 0..times {
            size = size.saturating_mul(2);
        }
        self.known.insert(address, size);
        Ok(size)
    }

    /// Everything within a value, and what a reference leads to.
    fn parts(&mut self, value: &'a Json) -> Result<Vec<&'a Json>, SchemaError> {
        let Json::Object(object) = value else { return Ok(value.as_array().unwrap_or_default().iter().collect()) };
        let mut parts: Vec<&Json> = object.values().collect();
        for reference in REFERENCES.iter().filter_map(|keyword| object.get(*keyword)) {
            if let Json::String(reference) = reference {
                parts.extend(self.document.resolve(reference)?);
            }
        }
        Ok(parts)
    }
}

fn any(value: &Json, keywords: &[&str]) -> bool {
    match value {
        Json::Object(object) => {
            keywords.iter().any(|keyword| object.contains_key(*keyword)) || object.values().any(|item| any(item, keywords))
        }
        Json::Array(items) => items.iter().any(|item| any(item, keywords)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Schema, SchemaError};
    use crate::json::Json;

    fn compile(schema: &str) -> Result<(), SchemaError> {
        Schema::compile(&Json::parse(schema).unwrap()).map(|_| ())
    }

    /// Each level doubles by its two references, and again by its keyword.
    fn chain(levels: usize, keyword: &str, reference: &str) -> String {
        let level = |k: usize| {
            let to = if reference == "$ref" { format!("#/$defs/a{}", k + 1) } else { format!("#z{}", k + 1) };
            format!(r#""a{k}":{{"$dynamicAnchor":"z{k}","allOf":[{{"{reference}":"{to}"}},{{"{reference}":"{to}"}}],"{keyword}":false}}"#)
        };
        let levels_text: Vec<String> = (0..levels).map(level).collect();
        format!(r##"{{"$ref":"#/$defs/a0","$defs":{{{},"a{levels}":{{"$dynamicAnchor":"z{levels}"}}}}}}"##, levels_text.join(","))
    }

    #[test]
    fn what_unfolds_without_bound_is_never_compiled() {
        for keyword in super::UNEVALUATED {
            for reference in ["$ref", "$dynamicRef"] {
                assert!(matches!(compile(&chain(30, keyword, reference)), Err(SchemaError::Unusable(_))), "{keyword} {reference}");
                assert_eq!(compile(&chain(4, keyword, reference)), Ok(()), "{keyword} {reference}");
            }
        }
    }

    #[test]
    fn recursion_ends() {
        let tree = r##"{"type":"object","properties":{"left":{"$ref":"#"},"right":{"$ref":"#"}},"unevaluatedProperties":false}"##;
        assert_eq!(compile(tree), Ok(()));
    }
}
