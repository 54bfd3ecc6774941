//! How much work checking a value can be, counted before it is done.
//!
//! References and in-place applicators (`allOf` and its kin) can double the work at every level, and references can go round in a
//! circle, so a schema of 2 KB may ask for 2^30 steps. Each pair of a subschema and a value is costed once, whatever the number of
//! ways that lead to it, so that the count itself stays cheap; what a validator does is never more than what is counted here.

use std::collections::HashMap;

use crate::json::{Json, Object, Pointer};

use super::SchemaError;

/// Steps that one check may take: some tens of milliseconds of a validator's time.
pub(super) const MAX_STEPS: u64 = 1_000_000;
/// Levels of subschemas that a check may stand in at once; bounds the validator's stack.
const MAX_LEVELS: usize = 1_024;

/// Keywords whose value is one subschema for the same instance.
const IN_PLACE: &[&str] = &["not", "if", "then", "else"];
/// Keywords whose value is a list of subschemas for the same instance.
const IN_PLACE_LISTS: &[&str] = &["allOf", "anyOf", "oneOf"];
/// Keywords whose value is a map of subschemas for the same instance.
const IN_PLACE_MAPS: &[&str] = &["dependentSchemas", "dependencies"];
/// Keywords whose value is one subschema for every child of the instance.
const CHILDREN: &[&str] =
    &["additionalProperties", "unevaluatedProperties", "additionalItems", "unevaluatedItems", "items", "contains", "propertyNames"];

/// Refuses references that leave the document, before anything resolves them.
pub(super) fn check_references(schema: &Json) -> Result<(), SchemaError> {
    let document = Document { root: schema };
    let mut pending = vec![schema];
    while let Some(value) = pending.pop() {
        match value {
            Json::Object(object) => {
                for keyword in ["$ref", "$dynamicRef", "$recursiveRef"] {
                    if let Some(Json::String(reference)) = object.get(keyword) {
                        document.resolve(reference)?;
                    }
                }
                pending.extend(object.values());
            }
            Json::Array(items) => pending.extend(items),
            _ => {}
        }
    }
    Ok(())
}

/// Refuses a check that would take more than [`MAX_STEPS`] or stand in more than [`MAX_LEVELS`] levels, or would never end.
pub(super) fn bound(schema: &Json, value: &Json) -> Result<(), SchemaError> {
    let mut count = Count { document: Document { root: schema }, known: HashMap::new(), visits: 0 };
    let steps = stacker::grow(super::STACK_BYTES, || count.steps(schema, value, 0))?;
    if steps > MAX_STEPS { Err(SchemaError::TooCostly) } else { Ok(()) }
}

struct Count<'a> {
    document: Document<'a>,
    /// Steps by the addresses of subschema and value; none while they are being counted.
    known: HashMap<(*const Json, *const Json), Option<u64>>,
    visits: u64,
}

impl<'a> Count<'a> {
    fn steps(&mut self, schema: &'a Json, value: &'a Json, level: usize) -> Result<u64, SchemaError> {
        let Json::Object(keywords) = schema else { return Ok(1) };
        let key = (std::ptr::from_ref(schema), std::ptr::from_ref(value));
        match self.known.get(&key) {
            Some(Some(steps)) => return Ok(*steps),
            Some(None) => return Err(SchemaError::Unusable("its references go round in a circle".to_owned())),
            None => {}
        }
        self.visits += 1;
        if self.visits > MAX_STEPS || level > MAX_LEVELS {
            return Err(SchemaError::TooCostly);
        }
        self.known.insert(key, None);
        let mut steps = own_steps(keywords, value);
        for subschema in self.in_place(keywords)? {
            steps = steps.saturating_add(self.steps(subschema, value, level + 1)?);
        }
        // Unevaluated keywords may run the in-place applicators a second time.
        if keywords.contains_key("unevaluatedProperties") || keywords.contains_key("unevaluatedItems") {
            steps = steps.saturating_mul(2);
        }
        for (subschema, child) in children(keywords, value) {
            steps = steps.saturating_add(self.steps(subschema, child, level + 1)?);
        }
        self.known.insert(key, Some(steps));
        Ok(steps)
    }

    fn in_place(&self, keywords: &'a Object) -> Result<Vec<&'a Json>, SchemaError> {
        let mut subschemas: Vec<&Json> = IN_PLACE.iter().filter_map(|keyword| keywords.get(*keyword)).collect();
        for list in IN_PLACE_LISTS.iter().filter_map(|keyword| keywords.get(*keyword)) {
            subschemas.extend(list.as_array().unwrap_or_default());
        }
        for map in IN_PLACE_MAPS.iter().filter_map(|keyword| keywords.get(*keyword)) {
            subschemas.extend(map.as_object().into_iter().flat_map(Object::values));
        }
        for keyword in ["$ref", "$dynamicRef", "$recursiveRef"] {
            if let Some(Json::String(reference)) = keywords.get(keyword) {
                subschemas.extend(self.document.resolve(reference)?);
            }
        }
        Ok(subschemas)
    }
}

/// Steps of the keywords that look at this value alone: its size, as often as there are keywords; for `uniqueItems`, its square.
fn own_steps(keywords: &Object, value: &Json) -> u64 {
    let size = match value {
        Json::Array(items) => items.len(),
        Json::Object(object) => object.len(),
        _ => 1,
    };
    let choices = keywords.get("enum").and_then(Json::as_array).map_or(0, <[Json]>::len);
    let patterns = keywords.get("patternProperties").and_then(Json::as_object).map_or(0, Object::len);
    let unique = if keywords.get("uniqueItems") == Some(&Json::Bool(true)) { size.saturating_mul(size) } else { 0 };
    let steps = keywords.len().saturating_add(size.saturating_mul(1 + patterns)).saturating_add(choices).saturating_add(unique);
    u64::try_from(steps).unwrap_or(u64::MAX)
}

/// Each subschema with each child that it could be about.
fn children<'a>(keywords: &'a Object, value: &'a Json) -> Vec<(&'a Json, &'a Json)> {
    let mut pairs = Vec::new();
    let values: Vec<&Json> = match value {
        Json::Array(items) => items.iter().collect(),
        Json::Object(object) => object.values().collect(),
        _ => return pairs,
    };
    if let (Some(properties), Json::Object(object)) = (keywords.get("properties").and_then(Json::as_object), value) {
        pairs.extend(properties.iter().filter_map(|(key, schema)| Some((schema, object.get(key)?))));
    }
    if let Some(patterns) = keywords.get("patternProperties").and_then(Json::as_object) {
        pairs.extend(patterns.values().flat_map(|schema| values.iter().map(move |child| (schema, *child))));
    }
    for keyword in ["prefixItems", "items"] {
        if let (Some(schemas), Json::Array(items)) = (keywords.get(keyword).and_then(Json::as_array), value) {
            pairs.extend(schemas.iter().zip(items));
        }
    }
    for schema in CHILDREN.iter().filter_map(|keyword| keywords.get(*keyword)).filter(|schema| schema.as_object().is_some()) {
        pairs.extend(values.iter().map(|child| (schema, *child)));
    }
    pairs
}

struct Document<'a> {
    root: &'a Json,
}

impl<'a> Document<'a> {
    /// What a reference may lead to. Only references within the document are followed: pointers, anchors, and embedded ids.
    fn resolve(&self, reference: &str) -> Result<Vec<&'a Json>, SchemaError> {
        let outside = || SchemaError::Unusable("it refers to something outside itself, and nothing is fetched".to_owned());
        let (id, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let resource = if id.is_empty() { Some(self.root) } else { self.find(|object| is(object, &["$id", "id"], id)) };
        let resource = resource.ok_or_else(outside)?;
        if fragment.is_empty() {
            return Ok(vec![resource]);
        }
        if fragment.starts_with('/') {
            let target = decode(fragment).and_then(|pointer| pointer.parse::<Pointer>().ok()).and_then(|pointer| resource.at(&pointer));
            return target.map(|target| vec![target]).ok_or_else(outside);
        }
        let anchored: Vec<_> =
            self.all(|object| is(object, &["$anchor", "$dynamicAnchor"], fragment) || is(object, &["$id", "id"], reference));
        if anchored.is_empty() { Err(outside()) } else { Ok(anchored) }
    }

    fn find(&self, wanted: impl Fn(&Object) -> bool) -> Option<&'a Json> {
        self.all(wanted).into_iter().next()
    }

    fn all(&self, wanted: impl Fn(&Object) -> bool) -> Vec<&'a Json> {
        let (mut found, mut pending) = (Vec::new(), vec![self.root]);
        while let Some(value) = pending.pop() {
            match value {
                Json::Object(object) => {
                    if wanted(object) {
                        found.push(value);
                    }
                    pending.extend(object.values());
                }
                Json::Array(items) => pending.extend(items),
                _ => {}
            }
        }
        found
    }
}

fn is(object: &Object, keywords: &[&str], value: &str) -> bool {
    keywords.iter().any(|keyword| object.get(*keyword).and_then(Json::as_str) == Some(value))
}

/// Percent-decodes a fragment.
fn decode(fragment: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(fragment.len());
    let mut rest = fragment.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let mut digit = || rest.next().and_then(|digit| char::from(digit).to_digit(16)).and_then(|digit| u8::try_from(digit).ok());
            bytes.push(digit()? << 4 | digit()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::super::{Schema, SchemaError};
    use crate::json::Json;

    fn check(schema: &str, value: &str) -> Result<(), SchemaError> {
        Schema::compile(&Json::parse(schema).unwrap())?.check(&Json::parse(value).unwrap())
    }

    #[test]
    fn doubling_compositions_are_refused_before_they_run() {
        let definitions: Vec<String> =
            (0..30).map(|n| format!(r##""a{n}":{{"allOf":[{{"$ref":"#/$defs/a{m}"}},{{"$ref":"#/$defs/a{m}"}}]}}"##, m = n + 1)).collect();
        let schema = format!(r##"{{"$ref":"#/$defs/a0","$defs":{{{},"a30":{{"type":"object"}}}}}}"##, definitions.join(","));
        assert_eq!(check(&schema, "{}"), Err(SchemaError::TooCostly));
        let deep = r##"{"properties":{"a":{"allOf":[{"$ref":"#"},{"$ref":"#"}]}}}"##;
        let value = format!("{}{{}}{}", r#"{"a":"#.repeat(60), "}".repeat(60));
        assert_eq!(check(deep, &value), Err(SchemaError::TooCostly));
        assert_eq!(check(deep, r#"{"a":{"a":{}}}"#), Ok(()));
    }

    #[test]
    fn circles_are_refused_and_recursion_is_not() {
        for circle in
            [r##"{"$ref":"#"}"##, r##"{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"allOf":[{"$ref":"#/$defs/a"}]}}}"##]
        {
            assert!(matches!(check(circle, "{}"), Err(SchemaError::Unusable(_))), "{circle}");
        }
        let tree = r##"{"type":"object","properties":{"nodes":{"type":"array","items":{"$ref":"#"}}}}"##;
        assert_eq!(check(tree, r#"{"nodes":[{"nodes":[]},{}]}"#), Ok(()));
        assert!(matches!(check(tree, r#"{"nodes":[1]}"#), Err(SchemaError::Mismatch(_))));
    }

    #[test]
    fn nothing_is_fetched() {
        for outside in ["http://127.0.0.1:1/x", "file:///etc/hostname", "ftp://x/y", "//host/x", "other.json", "#/nope", "#nope"] {
            let schema = format!(r#"{{"properties":{{"a":{{"$ref":"{outside}"}}}}}}"#);
            assert!(matches!(check(&schema, "{}"), Err(SchemaError::Unusable(_))), "{outside}");
        }
        let dynamic = r#"{"properties":{"a":{"$dynamicRef":"http://127.0.0.1:1/x"}}}"#;
        assert!(matches!(check(dynamic, "{}"), Err(SchemaError::Unusable(_))));
    }

    #[test]
    fn dialects() {
        for (dialect, known) in [
            ("http://json-schema.org/draft-07/schema#", true),
            ("http://json-schema.org/draft-04/schema#", true),
            ("https://json-schema.org/draft/2020-12/schema", true),
            ("https://example.com/mine", false),
            ("http://json-schema.org/draft-03/schema#", false),
        ] {
            assert_eq!(check(&format!(r#"{{"$schema":"{dialect}"}}"#), "{}").is_ok(), known, "{dialect}");
        }
    }

    #[test]
    fn patterns_are_linear_and_bounded() {
        let bomb = r#"{"properties":{"a":{"pattern":"^((a{1,100}b?){1,100}c?){1,100}$"}}}"#;
        assert!(matches!(check(bomb, "{}"), Err(SchemaError::Unusable(_))));
        let look_around = r#"{"properties":{"a":{"pattern":"(?=x)x"}}}"#;
        assert!(matches!(check(look_around, "{}"), Err(SchemaError::Unusable(_))));
    }

    #[test]
    fn an_invalid_schema_is_unusable() {
        for schema in [r#"{"type":"any"}"#, r#"{"properties":1}"#, r#"{"required":true}"#] {
            assert!(matches!(check(schema, "{}"), Err(SchemaError::Unusable(_))), "{schema}");
        }
    }
}
