//! Every limit of a plugin, with its default and the reason for it. One table: nothing else in this crate holds a bound on what a
//! plugin may use.
//!
//! Fuel is the deterministic bound and bites first. Time is the backstop for what fuel prices too low. Memory and tables are summed
//! over everything that a plugin instantiates. All are set before the first instruction of a plugin runs.

use std::time::Duration;

use crate::kind::Kind;

/// Time between two ticks of the epoch: a deadline is kept to within two of them.
pub(crate) const TICK: Duration = Duration::from_millis(5);

/// Bytes of a component: 32 MiB. CPython with its library has 18 MiB; the scan and the compiler hold all of it in memory.
pub const MAX_COMPONENT_BYTES: usize = 32 << 20;
/// Bytes from which a component counts as interpreted: 512 KiB. Compiled plugins have tens of KiB, the smallest script engine 1 MiB.
pub(crate) const INTERPRETED_FROM_BYTES: usize = 512 << 10;
/// Core modules from which a component counts as interpreted. A compiled plugin has up to three, CPython about thirty.
pub(crate) const INTERPRETED_FROM_MODULES: usize = 8;
/// Bytes of settings as JSON text: 256 KiB. They are written into the sandbox for every call.
pub const MAX_SETTINGS_BYTES: usize = 256 << 10;
/// Bytes of a settings schema: 256 KiB.
pub const MAX_SETTINGS_SCHEMA_BYTES: usize = 256 << 10;

/// Components inside components: 4. Toolchains nest once; what is deeper only costs the compiler.
pub(crate) const MAX_NESTING: usize = 4;
/// Core modules and components in one file: 128. CPython has about 60.
pub(crate) const MAX_PARTS: usize = 128;
/// Types, in all parts: 50 000. The largest engine tried has a tenth of that.
pub(crate) const MAX_TYPES: u64 = 50_000;
/// Functions, in all parts: 65 536. 200 000 empty ones take the compiler 12 s and 1.2 GB; StarlingMonkey has 32 000.
pub(crate) const MAX_FUNCTIONS: u64 = 65_536;
/// Bytes of one function's body: 512 KiB. A single one of 6 MB takes the compiler 6 s; CPython's largest has about 100 KiB.
pub(crate) const MAX_FUNCTION_BYTES: usize = 512 << 10;
/// Locals of one function times its bytes: the compiler's memory grows with both. 2 000 locals in 326 KB took it 2.1 GB.
pub(crate) const MAX_FUNCTION_COST: u64 = 1 << 27;
/// Imports, exports, aliases and instances on all levels: 50 000, and types included in [`MAX_TYPES`].
pub(crate) const MAX_ITEMS: u64 = 50_000;
/// Bytes of one custom section: 8 MiB, room for an engine's names. They are never run, only carried.
pub(crate) const MAX_CUSTOM_BYTES: usize = 8 << 20;

/// Characters of a plugin's own text in a failure, and of its note.
pub(crate) const MAX_TEXT_CHARS: usize = 1_000;
/// Characters of an approver's headline.
pub(crate) const MAX_HEADLINE_CHARS: usize = 200;
/// Characters of an approver's details.
pub(crate) const MAX_DETAILS_CHARS: usize = 4_000;
/// Characters of one log line.
pub(crate) const MAX_LOG_LINE_CHARS: usize = 1_000;

/// How a plugin's code came to be: by a compiler, or carried out by an interpreter inside it. Interpreters need more of everything,
/// so they have sandboxes of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// Rust, C, Go: small, quick to start.
    Compiled,
    /// JavaScript, Python: an engine with a script in it.
    Interpreted,
}

impl Class {
    /// The stable word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Class::Compiled => "compiled",
            Class::Interpreted => "interpreted",
        }
    }

    /// The most memory that an override may give: what a sandbox of the pool can hold.
    #[must_use]
    pub fn memory_cap(self) -> usize {
        match self {
            Class::Compiled => 64 << 20,
            Class::Interpreted => 256 << 20,
        }
    }

    /// Memories of one plugin together: one is usual, adapters and composed parts bring their own.
    pub(crate) fn memories(self) -> u32 {
        match self {
            Class::Compiled => 4,
            Class::Interpreted => 8,
        }
    }

    /// Tables: one for each core module that calls through pointers, one for the adapters.
    pub(crate) fn tables(self) -> u32 {
        match self {
            Class::Compiled => 8,
            Class::Interpreted => 64,
        }
    }

    /// Elements of one table. CPython and JavaScript engines need up to 40 000.
    pub(crate) fn table_elements(self) -> usize {
        match self {
            Class::Compiled => 20_000,
            Class::Interpreted => 50_000,
        }
    }

    /// Core instances: each core module once. CPython has about 31.
    pub(crate) fn instances(self) -> u32 {
        match self {
            Class::Compiled => 20,
            Class::Interpreted => 100,
        }
    }
}

/// What one invocation of a plugin may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Instructions of the kind's function. Compiled code burns about 5 million a millisecond; a path check takes 10 000.
    pub fuel: u64,
    /// Running time of the kind's function; the wait for a person is not counted. Backstop for what fuel prices too low.
    pub deadline: Duration,
    /// Instructions of `setup.configure`, which precedes every invocation. Settings may hold patterns to compile.
    pub setup_fuel: u64,
    /// Running time of `setup.configure`.
    pub setup_deadline: Duration,
    /// Bytes of all linear memories together. A whole result is read, parsed and written in it.
    pub memory: usize,
    /// Elements of all tables together are `tables` times this.
    pub table_elements: usize,
    /// Tables.
    pub tables: usize,
    /// Linear memories.
    pub memories: usize,
    /// Core instances.
    pub instances: usize,
    /// Bytes that one answer, or what one host call hands over, may have: arguments may have 4 MiB, and JSON escapes add to it.
    pub answer_bytes: usize,
    /// Calls of host functions.
    pub host_calls: u32,
    /// Bytes through host functions, both ways, in sum: each is copied by the host, which fuel does not price.
    pub host_bytes: usize,
    /// Lines of log that are kept.
    pub log_lines: usize,
    /// Bytes of log that are kept.
    pub log_bytes: usize,
}

/// What an operator may set for one plugin; what is not set has its default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LimitOverrides {
    /// See [`Limits::fuel`].
    pub fuel: Option<u64>,
    /// See [`Limits::deadline`].
    pub deadline: Option<Duration>,
    /// See [`Limits::setup_fuel`].
    pub setup_fuel: Option<u64>,
    /// See [`Limits::setup_deadline`].
    pub setup_deadline: Option<Duration>,
    /// See [`Limits::memory`]; at most [`Class::memory_cap`].
    pub memory: Option<usize>,
    /// See [`Limits::answer_bytes`].
    pub answer_bytes: Option<usize>,
    /// See [`Limits::host_calls`].
    pub host_calls: Option<u32>,
    /// See [`Limits::host_bytes`].
    pub host_bytes: Option<usize>,
    /// See [`Limits::log_lines`].
    pub log_lines: Option<usize>,
    /// See [`Limits::log_bytes`].
    pub log_bytes: Option<usize>,
}

impl Limits {
    /// What a plugin of that class gets for an invocation as that kind.
    #[must_use]
    pub fn of(kind: Kind, class: Class, overrides: &LimitOverrides) -> Self {
        // Filters and predicates run once per tool or rule, so they get a tenth of what runs once per call.
        let (fuel, deadline, answer_bytes) = match kind {
            Kind::Filter | Kind::Predicate => (5_000_000, Duration::from_millis(100), 256 << 10),
            Kind::PreHook | Kind::PostHook | Kind::FailureHook | Kind::Approver => (50_000_000, Duration::from_millis(250), 8 << 20),
        };
        // An interpreter burns ten times the fuel for the same work, and hundreds of times for its own start.
        let (fuel, setup_fuel, memory) = match class {
            Class::Compiled => (fuel, 50_000_000, 16 << 20),
            Class::Interpreted => (500_000_000, 500_000_000, 64 << 20),
        };
        Self {
            fuel: overrides.fuel.unwrap_or(fuel),
            deadline: overrides.deadline.unwrap_or(deadline),
            setup_fuel: overrides.setup_fuel.unwrap_or(setup_fuel),
            setup_deadline: overrides.setup_deadline.unwrap_or(Duration::from_millis(250)),
            memory: overrides.memory.unwrap_or(memory).min(class.memory_cap()),
            table_elements: class.table_elements(),
            tables: class.tables() as usize,
            memories: class.memories() as usize,
            instances: class.instances() as usize,
            answer_bytes: overrides.answer_bytes.unwrap_or(answer_bytes),
            host_calls: overrides.host_calls.unwrap_or(10_000),
            host_bytes: overrides.host_bytes.unwrap_or(64 << 20),
            log_lines: overrides.log_lines.unwrap_or(100),
            log_bytes: overrides.log_bytes.unwrap_or(16 << 10),
        }
    }
}
