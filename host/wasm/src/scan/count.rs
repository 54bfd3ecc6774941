//! Counts what the compiler's cost grows with.

use wasmparser::{FunctionBody, Payload};

use crate::limits::{MAX_CUSTOM_BYTES, MAX_FUNCTION_BYTES, MAX_FUNCTION_COST, MAX_FUNCTIONS, MAX_ITEMS, MAX_NESTING, MAX_PARTS, MAX_TYPES};

use super::{ScanError, is_module, malformed};

/// Sums over all parts of a file.
#[derive(Default)]
pub(super) struct Counter {
    depth: usize,
    parts: usize,
    modules: usize,
    types: u64,
    functions: u64,
    items: u64,
}

impl Counter {
    /// Whether the payload that was counted last belongs to the outermost component.
    pub(super) fn at_top(&self) -> bool {
        self.depth == 1
    }

    pub(super) fn modules(&self) -> usize {
        self.modules
    }

    pub(super) fn count(&mut self, payload: &Payload<'_>) -> Result<(), ScanError> {
        match payload {
            Payload::Version { encoding, .. } => self.open(is_module(*encoding)),
            Payload::End(_) => {
                self.depth = self.depth.saturating_sub(1);
                Ok(())
            }
            Payload::TypeSection(section) => self.add_types(section.count()),
            Payload::CoreTypeSection(section) => self.add_types(section.count()),
            Payload::ComponentTypeSection(section) => self.add_types(section.count()),
            Payload::FunctionSection(section) => self.add_functions(section.count()),
            Payload::ComponentCanonicalSection(section) => self.add_functions(section.count()),
            Payload::ImportSection(section) => self.add_items(section.count()),
            Payload::ExportSection(section) => self.add_items(section.count()),
            Payload::GlobalSection(section) => self.add_items(section.count()),
            Payload::TableSection(section) => self.add_items(section.count()),
            Payload::MemorySection(section) => self.add_items(section.count()),
            Payload::ElementSection(section) => self.add_items(section.count()),
            Payload::DataSection(section) => self.add_items(section.count()),
            Payload::InstanceSection(section) => self.add_items(section.count()),
            Payload::ComponentInstanceSection(section) => self.add_items(section.count()),
            Payload::ComponentAliasSection(section) => self.add_items(section.count()),
            Payload::ComponentImportSection(section) => self.add_items(section.count()),
            Payload::ComponentExportSection(section) => self.add_items(section.count()),
            Payload::CodeSectionEntry(body) => function(body),
            Payload::CustomSection(section) => at_most(section.data().len() as u64, MAX_CUSTOM_BYTES as u64, "bytes in one custom section"),
            _ => Ok(()),
        }
    }

    fn open(&mut self, module: bool) -> Result<(), ScanError> {
        self.depth += 1;
        self.parts += 1;
        self.modules += usize::from(module);
        // A module is a leaf: only components nest.
        at_most(self.depth.saturating_sub(1) as u64, MAX_NESTING as u64 + 1, "levels of nesting")?;
        at_most(self.parts as u64, MAX_PARTS as u64, "modules and components in it")
    }

    fn add_types(&mut self, count: u32) -> Result<(), ScanError> {
        self.types = self.types.saturating_add(u64::from(count));
        at_most(self.types, MAX_TYPES, "types")
    }

    fn add_functions(&mut self, count: u32) -> Result<(), ScanError> {
        self.functions = self.functions.saturating_add(u64::from(count));
        at_most(self.functions, MAX_FUNCTIONS, "functions")
    }

    fn add_items(&mut self, count: u32) -> Result<(), ScanError> {
        self.items = self.items.saturating_add(u64::from(count));
        at_most(self.items, MAX_ITEMS, "imports, exports and other items")
    }
}

fn function(body: &FunctionBody<'_>) -> Result<(), ScanError> {
    let bytes = body.range().len() as u64;
    at_most(bytes, MAX_FUNCTION_BYTES as u64, "bytes in one function")?;
    let mut locals: u64 = 0;
    for group in body.get_locals_reader().map_err(malformed)? {
        let (count, _) = group.map_err(malformed)?;
        locals = locals.saturating_add(u64::from(count));
    }
    at_most(locals.saturating_mul(bytes), MAX_FUNCTION_COST, "locals times bytes in one function")
}

fn at_most(count: u64, most: u64, what: &'static str) -> Result<(), ScanError> {
    if count > most { Err(ScanError::TooComplex { count, what, most }) } else { Ok(()) }
}
