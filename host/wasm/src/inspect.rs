//! What a component is and may do, read from its type. Nothing is compiled and nothing runs.

mod shape;

use callgate_core::digest::Digest;
use callgate_core::json::Json;

use crate::kind::{ContractName, Interface, Kind};
use crate::limits::{Class, INTERPRETED_FROM_BYTES, INTERPRETED_FROM_MODULES, LimitOverrides, Limits};
use crate::loader::{Capability, LoadError};
use crate::scan::{Scanned, scan};

/// What can be said of a component before it is loaded.
#[derive(Clone, Debug)]
pub struct Inspection {
    /// SHA-256 of its bytes.
    pub digest: Digest,
    /// Its bytes.
    pub size: usize,
    /// What it offers to be.
    pub kinds: Vec<Kind>,
    /// The version of the contract that it was built for, as its first kind says.
    pub version: Option<String>,
    /// What it may read and do, by interface.
    pub imports: Vec<Import>,
    /// What it exports besides; never bound.
    pub extra_exports: Vec<String>,
    /// What an operator must grant before it loads.
    pub needs: Vec<Capability>,
    /// How its code came to be, as far as can be told.
    pub class: Class,
    /// The limits it gets for each kind where nothing is set.
    pub limits: Vec<(Kind, Limits)>,
    /// The JSON Schema of its settings.
    pub settings_schema: Option<Json>,
    /// Tools that made it, as it says itself.
    pub producers: Vec<String>,
    /// Why it would not load, in the order in which loading would say so.
    pub problems: Vec<LoadError>,
}

/// One interface that a component imports: a permission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// The full name.
    pub name: String,
    /// Which of the contract's interfaces that is; none for a foreign one, which is refused.
    pub interface: Option<Interface>,
    /// The functions that it names.
    pub functions: Vec<String>,
    /// In plain words, what they let it do.
    pub words: Vec<&'static str>,
}

/// Looks at a component.
///
/// # Errors
/// [`LoadError::Scan`] for bytes that are no usable component. Everything else that stands in the way of loading is among
/// [`Inspection::problems`].
pub fn inspect(bytes: &[u8]) -> Result<Inspection, LoadError> {
    let scanned = scan(bytes)?;
    let mut problems = Vec::new();
    let exports: Vec<_> = scanned.exports.iter().map(|name| (*name, ContractName::parse(name))).collect();
    let kinds = shape::kinds(&exports, &mut problems);
    let imports = shape::imports(&scanned, &kinds, &mut problems);
    let settings_schema = schema(&scanned).unwrap_or_else(|error| {
        problems.push(error);
        None
    });
    let class = class(bytes, &scanned);
    let asks = imports.iter().any(|import| import.interface == Some(Interface::Prompt));
    Ok(Inspection {
        digest: Digest::of(bytes),
        size: bytes.len(),
        version: exports.iter().filter_map(|(_, name)| *name).find(|name| name.kind().is_some()).map(|name| name.version.to_owned()),
        extra_exports: exports
            .iter()
            .filter(|(_, name)| name.is_none_or(|name| name.kind().is_none() && !name.is_setup()))
            .map(|(name, _)| (*name).to_owned())
            .collect(),
        needs: if asks { vec![Capability::Prompt] } else { Vec::new() },
        limits: kinds.iter().map(|kind| (*kind, Limits::of(*kind, class, &LimitOverrides::default()))).collect(),
        kinds,
        imports,
        class,
        settings_schema,
        producers: scanned.producers,
        problems,
    })
}

/// A guess from the outside, which an operator may overrule: it decides limits and sandboxes, never permissions.
fn class(bytes: &[u8], scanned: &Scanned<'_>) -> Class {
    if bytes.len() >= INTERPRETED_FROM_BYTES || scanned.modules >= INTERPRETED_FROM_MODULES { Class::Interpreted } else { Class::Compiled }
}

fn schema(scanned: &Scanned<'_>) -> Result<Option<Json>, LoadError> {
    let parse = |bytes| Json::parse_bytes(bytes).map_err(|error| LoadError::SettingsSchema(error.to_string()));
    scanned.settings_schema.map(parse).transpose()
}
