//! How much work checking a value can be, counted before it is done.
//!
//! References and in-place applicators (`allOf` and its kin) can double the work at every level, and references can go round in a
//! circle, so a schema of 2 KB may ask for 2^30 steps. Each pair of a subschema and a value is costed once, whatever the number of
//! ways that lead to it, so that the count itself stays cheap; what a validator does is never more than what is counted here.

use std::collections::HashMap;

use crate::json::{Json, Object};

use super::SchemaError;
use super::references::Document;
use super::work;

/// Steps that one check may take: some hundred milliseconds of a validator's time at most.
pub(super) const MAX_STEPS: u64 = 1_000_000;
/// Steps that are quickly done: some hundred microseconds.
pub(super) const LIGHT_STEPS: u64 = 2_000;
/// Levels of subschemas that a check may stand in at once; bounds the validator's stack.
pub(super) const MAX_LEVELS: usize = 1_024;

/// Keywords whose value is one subschema for the same instance.
const IN_PLACE: &[&str] = &["not", "if", "then", "else"];
/// Keywords whose value is a list of subschemas for the same instance.
const IN_PLACE_LISTS: &[&str] = &["allOf", "anyOf", "oneOf"];
/// Keywords whose value is a map of subschemas for the same instance.
const IN_PLACE_MAPS: &[&str] = &["dependentSchemas", "dependencies"];
/// Keywords whose value is one subschema for every child of the instance.
const CHILDREN: &[&str] = &["additionalProperties", "unevaluatedProperties", "additionalItems", "unevaluatedItems", "items", "contains"];

/// Refuses a check that would take more than so many steps or stand in more than [`MAX_LEVELS`] levels, or would never end.
pub(super) fn bound(schema: &Json, value: &Json, max_steps: u64) -> Result<(), SchemaError> {
    let mut count = Count { document: Document::new(schema), known: HashMap::new(), spent: 0, max_steps };
    let steps = stacker::grow(super::STACK_BYTES, || count.steps(schema, Instance::Value(value), 0))?;
    if steps > max_steps { Err(SchemaError::TooCostly) } else { Ok(()) }
}

/// What a subschema is about: a value, or for `propertyNames` a key.
#[derive(Clone, Copy)]
pub(super) enum Instance<'a> {
    Value(&'a Json),
    Name(&'a str),
}

impl Instance<'_> {
    fn address(self) -> *const u8 {
        match self {
            Instance::Value(value) => std::ptr::from_ref(value).cast(),
            Instance::Name(name) => name.as_ptr(),
        }
    }
}

struct Count<'a> {
    document: Document<'a>,
    /// Steps by the addresses of subschema and instance; none while they are being counted.
    known: HashMap<(*const Json, *const u8), Option<u64>>,
    /// Steps of all pairs so far, each once: what counting itself has cost.
    spent: u64,
    max_steps: u64,
}

impl<'a> Count<'a> {
    fn steps(&mut self, schema: &'a Json, instance: Instance<'a>, level: usize) -> Result<u64, SchemaError> {
        let Json::Object(keywords) = schema else { return Ok(1) };
        let key = (std::ptr::from_ref(schema), instance.address());
        match self.known.get(&key) {
            Some(Some(steps)) => return Ok(*steps),
            Some(None) => return Err(SchemaError::Unusable("its references go round in a circle".to_owned())),
            None => {}
        }
        let mut steps = work::own_steps(keywords, instance);
        self.spent = self.spent.saturating_add(steps);
        if self.spent > self.max_steps || level > MAX_LEVELS {
            return Err(SchemaError::TooCostly);
        }
        self.known.insert(key, None);
        for subschema in self.in_place(keywords)? {
            steps = steps.saturating_add(self.steps(subschema, instance, level + 1)?);
        }
        // Unevaluated keywords may run the in-place applicators a second time.
        if keywords.contains_key("unevaluatedProperties") || keywords.contains_key("unevaluatedItems") {
            steps = steps.saturating_mul(2);
        }
        for (subschema, child) in children(keywords, instance) {
            steps = steps.saturating_add(self.steps(subschema, child, level + 1)?);
        }
        self.known.insert(key, Some(steps));
        Ok(steps)
    }

    fn in_place(&mut self, keywords: &'a Object) -> Result<Vec<&'a Json>, SchemaError> {
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

/// Each subschema with each child that it could be about.
fn children<'a>(keywords: &'a Object, instance: Instance<'a>) -> Vec<(&'a Json, Instance<'a>)> {
    let Instance::Value(value) = instance else { return Vec::new() };
    let mut pairs = Vec::new();
    let values: Vec<&Json> = match value {
        Json::Array(items) => items.iter().collect(),
        Json::Object(object) => object.values().collect(),
        _ => return Vec::new(),
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
    let pairs = pairs.into_iter().map(|(schema, child)| (schema, Instance::Value(child)));
    let names = keywords.get("propertyNames").zip(value.as_object());
    let names = names.into_iter().flat_map(|(schema, object)| object.keys().map(move |name| (schema, Instance::Name(name))));
    pairs.chain(names).collect()
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

    /// What a check does with bytes counts as much as what it does with values.
    #[test]
    fn bytes_are_counted_too() {
        let long = "x".repeat(1 << 20);
        let items = |item: &str, count: usize| format!("[{}]", vec![item; count].join(","));
        let nested: Vec<String> = (0..2_000).map(|n| format!("[{}]", items("[]", n % 40))).collect();
        for (name, schema, value, fits) in [
            ("a plain pattern on long text", r#"{"pattern":"^x*$"}"#.to_owned(), format!("\"{long}\""), true),
            ("a wide pattern on long text", r#"{"pattern":"(x{0,100}y?){0,100}$"}"#.to_owned(), format!("\"{long}\""), false),
            ("a wide pattern on short text", r#"{"pattern":"^(x{0,100}y?){0,10}$"}"#.to_owned(), r#""xxx""#.to_owned(), true),
            (
                "a pattern on long names",
                r#"{"propertyNames":{"pattern":"(x{0,99}y?){0,99}$"}}"#.to_owned(),
                format!("{{\"{long}\":1}}"),
                false,
            ),
            (
                "a pattern by which long names choose",
                r#"{"patternProperties":{"(x{0,99}y?){0,99}$":{}}}"#.to_owned(),
                format!("{{\"{long}\":1}}"),
                false,
            ),
            ("names without a pattern", r#"{"propertyNames":{"maxLength":2000000}}"#.to_owned(), format!("{{\"{long}\":1}}"), true),
            ("a long name for each of many", format!(r#"{{"items":{{"properties":{{"{long}":{{}}}}}}}}"#), items("{}", 1_000), false),
            (
                "many choices for each of many",
                format!(r#"{{"items":{{"enum":{}}}}}"#, items("1", 2_000).replace("1,1", "2,3")),
                items("1", 2_000),
                false,
            ),
            (
                "many requirements for each of many",
                format!(r#"{{"items":{{"required":[{}]}}}}"#, (0..2_000).map(|n| format!("\"{n}\"")).collect::<Vec<_>>().join(",")),
                items("{}", 2_000),
                false,
            ),
            (
                "unique scalars",
                r#"{"uniqueItems":true}"#.to_owned(),
                format!("[{}]", (0..9_000).map(|n| n.to_string()).collect::<Vec<_>>().join(",")),
                true,
            ),
            (
                "unique values whose hashes can be made equal",
                r#"{"uniqueItems":true}"#.to_owned(),
                format!("[{}]", nested.join(",")),
                false,
            ),
        ] {
            let checked = check(&schema, &value);
            assert_eq!(checked != Err(SchemaError::TooCostly), fits, "{name}: {checked:?}");
        }
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

    /// All patterns of a schema together are bounded: each gets its share.
    #[test]
    fn many_large_patterns_are_refused_and_many_small_ones_are_not() {
        let schema = |pattern: &str| format!(r#"{{"anyOf":[{}]}}"#, vec![format!(r#"{{"pattern":"{pattern}"}}"#); 2_000].join(","));
        assert_eq!(check(&schema("^[a-z]{1,20}$"), "\"a\""), Ok(()));
        assert!(matches!(check(&schema("^([a-z]{1,50}){1,50}$"), "\"a\""), Err(SchemaError::Unusable(_))));
    }

    #[test]
    fn anchors_and_ids_are_found_however_many_there_are() {
        let anchors: Vec<String> = (0..3_000).map(|n| format!(r##""a{n}":{{"$anchor":"x{n}","type":"integer"}}"##)).collect();
        let references: Vec<String> = (0..3_000).map(|n| format!(r##""p{n}":{{"$ref":"#x{n}"}}"##)).collect();
        let schema = format!(r#"{{"properties":{{{}}},"$defs":{{{}}}}}"#, references.join(","), anchors.join(","));
        assert_eq!(check(&schema, r#"{"p7":1}"#), Ok(()));
        assert!(matches!(check(&schema, r#"{"p7":"x"}"#), Err(SchemaError::Mismatch(_))));
    }

    #[test]
    fn an_invalid_schema_is_unusable() {
        for schema in [r#"{"type":"any"}"#, r#"{"properties":1}"#, r#"{"required":true}"#] {
            assert!(matches!(check(schema, "{}"), Err(SchemaError::Unusable(_))), "{schema}");
        }
    }
}
