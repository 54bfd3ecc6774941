//! A look at a component's bytes before the compiler sees them. Compiling is the open door: a small file can take it gigabytes, so
//! everything that its cost grows with is bounded here first.
//!
//! One pass over the file. Each payload is counted before wasmparser validates it; function bodies are measured and left to the
//! engine, which validates them again anyway.

mod count;

use wasmparser::types::Types;
use wasmparser::{Encoding, KnownCustom, Parser, Payload, ValidPayload, Validator};

use crate::limits::{MAX_COMPONENT_BYTES, MAX_SETTINGS_SCHEMA_BYTES};
use crate::tunables;

use count::Counter;

/// The custom section that holds a plugin's settings schema.
const SETTINGS_SCHEMA: &str = "callgate:settings-schema";

/// What a scan finds out.
pub(crate) struct Scanned<'a> {
    /// The types of everything.
    pub(crate) types: Types,
    /// What the component imports, by name.
    pub(crate) imports: Vec<&'a str>,
    /// What it exports, by name.
    pub(crate) exports: Vec<&'a str>,
    /// Core modules in it.
    pub(crate) modules: usize,
    /// Its settings schema, unread.
    pub(crate) settings_schema: Option<&'a [u8]>,
    /// Tools that made it, as it says itself.
    pub(crate) producers: Vec<String>,
}

/// Why bytes are no component that is worth compiling.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScanError {
    /// Nothing there.
    #[error("the file is empty")]
    Empty,
    /// Over the size limit.
    #[error("the file has {0} bytes, more than {MAX_COMPONENT_BYTES}")]
    TooLarge(usize),
    /// A core module.
    #[error("this is a core WebAssembly module, and a plugin is a component: make one of it with `wasm-tools component new`")]
    CoreModule,
    /// Compiled code.
    #[error("this is compiled machine code, which is never taken from outside: give the component that it was made from")]
    Artifact,
    /// The text format.
    #[error("this is WebAssembly text: make a component of it with `wasm-tools parse`")]
    Text,
    /// Something else.
    #[error("this is no WebAssembly component: it starts with {0}")]
    NotWasm(String),
    /// Broken, or it uses a proposal that is off.
    #[error("the component is malformed, or uses a WebAssembly proposal that plugins may not use: {0}")]
    Malformed(String),
    /// Over a bound of the scan.
    #[error("the component is not compiled: it has {count} {what}, more than {most}")]
    TooComplex {
        /// How much there is.
        count: u64,
        /// What there is too much of.
        what: &'static str,
        /// How much there may be.
        most: u64,
    },
    /// Two settings schemas, or one that is too large.
    #[error("the section `{SETTINGS_SCHEMA}` is there twice, or has more than {MAX_SETTINGS_SCHEMA_BYTES} bytes")]
    SettingsSchema,
}

/// Reads all of a component but its function bodies.
pub(crate) fn scan(bytes: &[u8]) -> Result<Scanned<'_>, ScanError> {
    recognise(bytes)?;
    let mut counter = Counter::default();
    let mut validator = Validator::new_with_features(tunables::features());
    let mut found = Found::default();
    let mut types = None;
    for payload in Parser::new(0).parse_all(bytes) {
        let payload = payload.map_err(malformed)?;
        counter.count(&payload)?;
        if counter.at_top() {
            found.note(&payload)?;
        }
        // A function to validate is dropped: its body is the engine's matter.
        if let ValidPayload::End(end) = validator.payload(&payload).map_err(malformed)? {
            types = Some(end);
        }
    }
    let types = types.ok_or_else(|| ScanError::Malformed("it ends too early".to_owned()))?;
    Ok(Scanned {
        types,
        imports: found.imports,
        exports: found.exports,
        modules: counter.modules(),
        settings_schema: found.settings_schema,
        producers: found.producers,
    })
}

/// What the outermost component says of itself.
#[derive(Default)]
struct Found<'a> {
    imports: Vec<&'a str>,
    exports: Vec<&'a str>,
    settings_schema: Option<&'a [u8]>,
    producers: Vec<String>,
}

impl<'a> Found<'a> {
    fn note(&mut self, payload: &Payload<'a>) -> Result<(), ScanError> {
        match payload {
            Payload::ComponentImportSection(section) => {
                for import in section.clone() {
                    self.imports.push(import.map_err(malformed)?.name.name);
                }
            }
            Payload::ComponentExportSection(section) => {
                for export in section.clone() {
                    self.exports.push(export.map_err(malformed)?.name.name);
                }
            }
            Payload::CustomSection(section) if section.name() == SETTINGS_SCHEMA => self.keep_schema(section.data())?,
            Payload::CustomSection(section) => {
                if let KnownCustom::Producers(fields) = section.as_known() {
                    // What cannot be read here is only left out: nothing depends on it.
                    let values = fields.into_iter().flatten().flat_map(|field| field.values.into_iter().flatten());
                    self.producers
                        .extend(values.take(16).map(|value| format!("{} {}", value.name, value.version).chars().take(80).collect()));
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn keep_schema(&mut self, schema: &'a [u8]) -> Result<(), ScanError> {
        let is_first = self.settings_schema.replace(schema).is_none();
        if is_first && schema.len() <= MAX_SETTINGS_SCHEMA_BYTES { Ok(()) } else { Err(ScanError::SettingsSchema) }
    }
}

/// Says what bytes are, by how they start.
fn recognise(bytes: &[u8]) -> Result<(), ScanError> {
    if bytes.len() > MAX_COMPONENT_BYTES {
        return Err(ScanError::TooLarge(bytes.len()));
    }
    if Parser::is_component(bytes) {
        return Ok(());
    }
    if Parser::is_core_wasm(bytes) {
        return Err(ScanError::CoreModule);
    }
    let text = bytes.trim_ascii_start();
    match bytes {
        [] => Err(ScanError::Empty),
        [0x7f, b'E', b'L', b'F', ..] => Err(ScanError::Artifact),
        _ if text.starts_with(b"(component") || text.starts_with(b"(module") || text.starts_with(b";;") => Err(ScanError::Text),
        _ => Err(ScanError::NotWasm(bytes.iter().take(4).map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" "))),
    }
}

fn malformed(error: wasmparser::BinaryReaderError) -> ScanError {
    ScanError::Malformed(crate::log::one_line(&error.to_string(), 300))
}

/// Whether a header names an encoding that may start a part.
fn is_module(encoding: Encoding) -> bool {
    encoding == Encoding::Module
}
