//! The settings schema, as a custom section of the component.

use std::borrow::Cow;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use wasm_encoder::{ComponentSection, CustomSection};

/// The section's name, as the contract fixes it.
const SECTION: &str = "callgate:settings-schema";

/// Appends the schema in `path`, without its layout, to a component.
pub(crate) fn append(component: &mut Vec<u8>, path: &Path) -> Result<()> {
    let shown = path.display();
    let text = fs::read_to_string(path).with_context(|| format!("cannot read `{shown}`"))?;
    let schema: Value = serde_json::from_str(&text).with_context(|| format!("`{shown}` is not JSON"))?;
    ensure!(schema.is_object(), "`{shown}` is no schema: settings are an object, so their schema is one");
    let data = schema.to_string().into_bytes();
    CustomSection { name: Cow::Borrowed(SECTION), data: Cow::Owned(data) }.append_to_component(component);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn appended(text: &str) -> Result<Vec<u8>> {
        let path = std::env::temp_dir().join(format!("componentize-{}-{}.json", std::process::id(), text.len()));
        fs::write(&path, text)?;
        let mut component = wasm_encoder::Component::new().finish();
        let outcome = append(&mut component, &path);
        fs::remove_file(path)?;
        outcome.map(|()| component)
    }

    #[test]
    fn a_schema_becomes_a_custom_section() {
        let component = appended(r#"{ "type" : "object" }"#).unwrap();
        let found = wasmparser::Parser::new(0).parse_all(&component).find_map(|payload| match payload.unwrap() {
            wasmparser::Payload::CustomSection(section) => Some((section.name().to_owned(), section.data().to_vec())),
            _ => None,
        });
        assert_eq!(found, Some((SECTION.to_owned(), br#"{"type":"object"}"#.to_vec())));
    }

    #[test]
    fn what_is_no_schema_is_refused() {
        assert!(appended("{").is_err());
        assert!(appended("[1,2]").is_err());
    }
}
