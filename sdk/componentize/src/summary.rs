//! One line about a component: its size, what it is, and what it reads.

use anyhow::Result;
use wasmparser::{Parser, Payload};

/// Names of imported and exported interfaces without the package, which is the same for all of ours.
pub(crate) fn of(component: &[u8]) -> Result<String> {
    let (mut exports, mut imports, mut depth) = (Vec::new(), Vec::new(), 0_usize);
    for payload in Parser::new(0).parse_all(component) {
        match payload? {
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => depth += 1,
            Payload::End(_) => depth = depth.saturating_sub(1),
            Payload::ComponentExportSection(section) if depth == 0 => {
                for export in section {
                    exports.push(short(export?.name.name));
                }
            }
            Payload::ComponentImportSection(section) if depth == 0 => {
                for import in section {
                    imports.push(short(import?.name.name));
                }
            }
            _ => {}
        }
    }
    let kilobytes = component.len().div_ceil(1024);
    Ok(format!("{kilobytes:>6} KiB  is {}; reads {}", exports.join(", "), imports.join(", ")))
}

fn short(name: &str) -> String {
    let name = name.strip_prefix("callgate:plugin/").unwrap_or(name);
    name.split_once('@').map_or(name, |(name, _)| name).to_owned()
}
