//! References within a schema. None of them leads out of the document: nothing is ever fetched.

use std::collections::HashMap;

use crate::json::{Json, Pointer};

use super::SchemaError;

/// Keywords that refer to another schema.
pub(super) const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

/// A schema document, with what its references lead to.
pub(super) struct Document<'a> {
    root: &'a Json,
    /// Schemas by their `$id`, `$anchor` or `$dynamicAnchor`; read when the first reference needs it.
    named: Option<HashMap<&'a str, Vec<&'a Json>>>,
    /// References that were resolved, by the address of their text.
    resolved: HashMap<*const String, Vec<&'a Json>>,
}

/// Refuses references that leave the document, before anything resolves them.
pub(super) fn check_references(schema: &Json) -> Result<(), SchemaError> {
    let mut document = Document::new(schema);
    let mut pending = vec![schema];
    while let Some(value) = pending.pop() {
        match value {
            Json::Object(object) => {
                for keyword in REFERENCES {
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

impl<'a> Document<'a> {
    pub(super) fn new(root: &'a Json) -> Self {
        Self { root, named: None, resolved: HashMap::new() }
    }

    /// What a reference may lead to: by pointer, by anchor, or by an embedded id.
    pub(super) fn resolve(&mut self, reference: &'a String) -> Result<Vec<&'a Json>, SchemaError> {
        let address = std::ptr::from_ref(reference);
        if let Some(known) = self.resolved.get(&address) {
            return Ok(known.clone());
        }
        let targets = self.targets(reference);
        if targets.is_empty() {
            return Err(SchemaError::Unusable("it refers to something outside itself, and nothing is fetched".to_owned()));
        }
        self.resolved.insert(address, targets.clone());
        Ok(targets)
    }

    fn targets(&mut self, reference: &'a str) -> Vec<&'a Json> {
        let (id, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let resource = if id.is_empty() { Some(self.root) } else { self.named(id).first().copied() };
        match resource {
            None => Vec::new(),
            Some(resource) if fragment.is_empty() => vec![resource],
            Some(resource) if fragment.starts_with('/') => {
                let pointer = decode(fragment).and_then(|pointer| pointer.parse::<Pointer>().ok());
                pointer.and_then(|pointer| resource.at(&pointer)).into_iter().collect()
            }
            Some(_) => [self.named(fragment).to_vec(), self.named(reference).to_vec()].concat(),
        }
    }

    fn named(&mut self, name: &str) -> &[&'a Json] {
        let root = self.root;
        self.named.get_or_insert_with(|| named(root)).get(name).map_or(&[], Vec::as_slice)
    }
}

fn named(root: &Json) -> HashMap<&str, Vec<&Json>> {
    let (mut named, mut pending) = (HashMap::<&str, Vec<&Json>>::new(), vec![root]);
    while let Some(value) = pending.pop() {
        match value {
            Json::Object(object) => {
                for name in ["$id", "id", "$anchor", "$dynamicAnchor"].into_iter().filter_map(|keyword| object.get(keyword)?.as_str()) {
                    named.entry(name).or_default().push(value);
                }
                pending.extend(object.values());
            }
            Json::Array(items) => pending.extend(items),
            _ => {}
        }
    }
    named
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
