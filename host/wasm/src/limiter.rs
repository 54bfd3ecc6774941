//! Counts what a sandbox takes from the host's memory, and says no. What it refused decides what a later trap is called.

use wasmtime::{ResourceLimiter, Result};

use crate::limits::Limits;

/// The limiter of one Store. It also sees initial sizes, so a plugin that starts too large is refused before it runs.
#[derive(Debug)]
pub(crate) struct Limiter {
    memory_left: usize,
    table_elements_left: usize,
    table_elements: usize,
    tables: usize,
    memories: usize,
    instances: usize,
    refused: bool,
}

impl Limiter {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            memory_left: limits.memory,
            table_elements_left: limits.table_elements.saturating_mul(limits.tables),
            table_elements: limits.table_elements,
            tables: limits.tables,
            memories: limits.memories,
            instances: limits.instances,
            refused: false,
        }
    }

    /// Whether anything was refused. A guest that goes on without may still answer; one that traps then ran out of memory.
    pub(crate) fn refused(&self) -> bool {
        self.refused
    }

    /// Takes `wanted` from what is left.
    fn take(left: &mut usize, refused: &mut bool, wanted: usize) -> bool {
        let rest = left.checked_sub(wanted);
        match rest {
            Some(rest) => *left = rest,
            None => *refused = true,
        }
        rest.is_some()
    }
}

impl ResourceLimiter for Limiter {
    fn memory_growing(&mut self, current: usize, desired: usize, _maximum: Option<usize>) -> Result<bool> {
        Ok(Self::take(&mut self.memory_left, &mut self.refused, desired.saturating_sub(current)))
    }

    fn memory_grow_failed(&mut self, _error: wasmtime::Error) -> Result<()> {
        self.refused = true;
        Ok(())
    }

    fn table_growing(&mut self, current: usize, desired: usize, _maximum: Option<usize>) -> Result<bool> {
        if desired > self.table_elements {
            self.refused = true;
            return Ok(false);
        }
        Ok(Self::take(&mut self.table_elements_left, &mut self.refused, desired.saturating_sub(current)))
    }

    fn table_grow_failed(&mut self, _error: wasmtime::Error) -> Result<()> {
        self.refused = true;
        Ok(())
    }

    fn instances(&self) -> usize {
        self.instances
    }

    fn tables(&self) -> usize {
        self.tables
    }

    fn memories(&self) -> usize {
        self.memories
    }
}
