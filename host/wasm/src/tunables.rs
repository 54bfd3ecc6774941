//! How wasmtime is set up: which proposals exist, how traps and limits work, and where sandboxes live.
//!
//! INVARIANT: what is off here is off in the pre-scan too ([`features`]), so that a plugin is refused before the compiler sees it.

use wasmparser::WasmFeatures;
use wasmtime::{Config, Enabled, InstanceAllocationStrategy, OptLevel, PoolingAllocationConfig, Strategy};

use crate::limits::Class;

/// Bytes of a slot's memory that are cleared in place rather than given back: what a compact guest touches. Giving a page back and
/// faulting it in again costs five times as much as clearing it; clearing more than is used costs as well.
const KEEP_MEMORY: usize = 256 << 10;
/// The same for tables.
const KEEP_TABLE: usize = 16 << 10;
/// Slots that stay with the module that used them last. Three for each of some three hundred plugins; a cold slot costs 10 us more.
const WARM_SLOTS: u32 = 1_000;
/// Bytes of guest stack.
const WASM_STACK: usize = 512 << 10;
/// Bytes of an approver's fiber: what is above the guest's share is for host functions.
const FIBER_STACK: usize = 1 << 20;
/// Bytes of a memory image that is mapped copy-on-write: an interpreter's snapshot has 12 MB.
const DENSE_IMAGE: u64 = 64 << 20;

/// The proposals that plugins may use. Multi-memory stays on: off, wasmtime 48 panics while compiling components that contain
/// adapters, which QuickJS guests do.
pub(crate) fn features() -> WasmFeatures {
    WasmFeatures::WASM2 | WasmFeatures::EXTENDED_CONST | WasmFeatures::MULTI_MEMORY | WasmFeatures::COMPONENT_MODEL
}

/// The settings of an engine whose sandboxes come from a pool.
pub(crate) fn pooled(class: Class, sandboxes: u32) -> Config {
    let mut config = common();
    config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool(class, sandboxes)));
    config
}

/// The same where there is not address space enough for a pool: slower by 10 us a call, with the same limits.
pub(crate) fn on_demand() -> Config {
    let mut config = common();
    config.allocation_strategy(InstanceAllocationStrategy::OnDemand);
    config
}

fn common() -> Config {
    let mut config = Config::new();
    config
        .strategy(Strategy::Cranelift)
        .cranelift_opt_level(OptLevel::Speed)
        // One bit pattern for NaN, so that the same call burns the same fuel to the same end everywhere.
        .cranelift_nan_canonicalization(true)
        .consume_fuel(true)
        .epoch_interruption(true)
        .concurrency_support(false)
        .max_wasm_stack(WASM_STACK)
        .async_stack_size(FIBER_STACK)
        .async_stack_zeroing(true)
        .memory_guaranteed_dense_image_size(DENSE_IMAGE)
        .native_unwind_info(false)
        .generate_address_map(false);
    config
        .wasm_component_model(true)
        .wasm_multi_memory(true)
        .wasm_memory64(false)
        .wasm_relaxed_simd(false)
        .wasm_tail_call(false)
        .wasm_custom_page_sizes(false)
        .wasm_wide_arithmetic(false)
        .wasm_stack_switching(false)
        .wasm_component_model_error_context(false)
        .wasm_component_model_gc(false)
        .wasm_component_model_map(false)
        .wasm_component_model_memory64(false)
        .wasm_component_model_fixed_length_lists(false)
        .wasm_component_model_implements(false);
    // Threads, garbage collection and exceptions are not compiled into this build at all.
    config
}

/// The safe profile: slots are cleared by writing zeros. The faster way by page map scan leaves pages that were swapped out.
fn pool(class: Class, sandboxes: u32) -> PoolingAllocationConfig {
    let memories = sandboxes.saturating_mul(class.memories());
    let tables = sandboxes.saturating_mul(class.tables());
    let mut pool = PoolingAllocationConfig::new();
    pool.pagemap_scan(Enabled::No)
        .linear_memory_keep_resident(KEEP_MEMORY)
        .table_keep_resident(KEEP_TABLE)
        .max_unused_warm_slots(WARM_SLOTS)
        .decommit_batch_size(match class {
            Class::Compiled => 1,
            Class::Interpreted => 32,
        })
        .total_component_instances(sandboxes)
        .total_core_instances(sandboxes.saturating_mul(class.instances()))
        .total_memories(memories)
        .total_tables(tables)
        .total_stacks(sandboxes)
        .max_memories_per_component(class.memories())
        .max_tables_per_component(class.tables())
        .max_core_instances_per_component(class.instances())
        .max_memories_per_module(class.memories())
        .max_tables_per_module(class.tables())
        .max_component_instance_size(4 << 20)
        .max_core_instance_size(4 << 20)
        .max_memory_size(class.memory_cap())
        .table_elements(class.table_elements());
    pool
}
