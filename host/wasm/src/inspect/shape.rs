//! A component's kinds and permissions, and what is wrong with them.

use wasmparser::component_types::ComponentEntityType;

use crate::kind::{CONTRACT_VERSION, ContractName, Interface, Kind};
use crate::loader::LoadError;
use crate::scan::Scanned;

use super::Import;

/// The kinds that the exports make, in the order of the pipeline.
pub(super) fn kinds(exports: &[(&str, Option<ContractName<'_>>)], problems: &mut Vec<LoadError>) -> Vec<Kind> {
    let of_contract = || exports.iter().filter_map(|(full, name)| name.map(|name| (*full, name)));
    for (full, name) in of_contract().filter(|(_, name)| name.kind().is_some() || name.is_setup()) {
        check_version(full, name, problems);
    }
    let kinds: Vec<Kind> =
        Kind::ALL.into_iter().filter(|kind| of_contract().any(|(_, name)| name.kind() == Some(*kind) && name.in_track())).collect();
    // A wrong version was named already, and says more than that nothing is there.
    if kinds.is_empty() && problems.is_empty() {
        problems.push(LoadError::NoKind);
    } else if !of_contract().any(|(_, name)| name.is_setup()) && problems.is_empty() {
        problems.push(LoadError::NoSetup);
    }
    kinds
}

/// The permissions that the imports ask for.
pub(super) fn imports(scanned: &Scanned<'_>, kinds: &[Kind], problems: &mut Vec<LoadError>) -> Vec<Import> {
    scanned.imports.iter().map(|name| import(name, scanned, kinds, problems)).collect()
}

fn import(full: &str, scanned: &Scanned<'_>, kinds: &[Kind], problems: &mut Vec<LoadError>) -> Import {
    let functions = functions(full, scanned);
    let name = ContractName::parse(full);
    let interface = name.and_then(ContractName::imported);
    match (name, interface) {
        (Some(name), Some(interface)) => {
            check_version(full, name, problems);
            check_row(full, interface, kinds, problems);
            if name.in_track() {
                check_functions(full, interface, &functions, problems);
            }
        }
        _ if full.starts_with("wasi:") => problems.push(LoadError::Wasi(full.to_owned())),
        _ => problems.push(LoadError::ForeignImport(full.to_owned())),
    }
    let known = interface.map(Interface::functions).unwrap_or_default();
    let mut words: Vec<_> = known.iter().filter(|(name, _)| functions.iter().any(|has| has == name)).map(|(_, words)| *words).collect();
    words.dedup();
    Import { name: full.to_owned(), interface, functions, words }
}

fn check_version(full: &str, name: ContractName<'_>, problems: &mut Vec<LoadError>) {
    if !name.in_track() {
        problems.push(LoadError::Version { name: full.to_owned(), found: name.version.to_owned(), supported: CONTRACT_VERSION });
    }
}

fn check_row(full: &str, interface: Interface, kinds: &[Kind], problems: &mut Vec<LoadError>) {
    let allowed = interface == Interface::Types || kinds.is_empty() || kinds.iter().any(|kind| kind.row().contains(&interface));
    if !allowed {
        let kinds = kinds.iter().map(|kind| kind.as_str()).collect::<Vec<_>>().join(", ");
        problems.push(LoadError::ImportOfOtherKind { import: full.to_owned(), kinds });
    }
}

/// A newer contract of the same track may have functions that this host lacks: each is named.
fn check_functions(full: &str, interface: Interface, functions: &[String], problems: &mut Vec<LoadError>) {
    let known = interface.functions();
    let newer = functions.iter().filter(|function| !known.iter().any(|(name, _)| name == function));
    problems.extend(newer.map(|function| LoadError::NewerFunction { import: full.to_owned(), function: function.clone() }));
}

/// The functions of an imported instance.
fn functions(full: &str, scanned: &Scanned<'_>) -> Vec<String> {
    match scanned.types.as_ref().component_item_for_import(full).map(|item| &item.ty) {
        Some(ComponentEntityType::Instance(id)) => {
            let is_function = |ty: &ComponentEntityType| matches!(ty, ComponentEntityType::Func(_));
            scanned.types[*id].exports.iter().filter(|(_, item)| is_function(&item.ty)).map(|(name, _)| name.clone()).collect()
        }
        _ => Vec::new(),
    }
}
