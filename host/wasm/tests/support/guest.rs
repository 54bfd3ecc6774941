//! A component of any kind from a snippet of text format.
//!
//! One core module `libc` has the memory and a `realloc`; another has the snippet, a `configure` and a `run`, which is exported as
//! the function of every kind that the guest is. Both return a pointer to their answer: `[result tag][answer, from offset 4]`.

use callgate_wasm::Kind;

/// A guest to be.
#[derive(Clone)]
pub(crate) struct Guest {
    kinds: Vec<Kind>,
    reads: Vec<&'static str>,
    defs: String,
    run: String,
    configure: String,
    realloc: String,
    memory: String,
    extra: String,
    version: &'static str,
    setup: bool,
}

/// A bump allocator that grows the memory when it must.
const REALLOC: &str = "(local $at i32)
    (local.set $at (i32.and (i32.add (global.get $next) (i32.const 7)) (i32.const -8)))
    (global.set $next (i32.add (local.get $at) (local.get $size)))
    (block $room
      (br_if $room (i32.le_u (global.get $next) (i32.mul (memory.size) (i32.const 65536))))
      (br_if $room (i32.ne (memory.grow (i32.const 64)) (i32.const -1)))
      unreachable)
    (local.get $at)";

/// Where answers that are data stand.
pub(crate) const ANSWER: usize = 1024;

impl Guest {
    /// Answers with zeros: the most refusing answer there is.
    pub(crate) fn new(kind: Kind) -> Self {
        Self::of(&[kind])
    }

    pub(crate) fn of(kinds: &[Kind]) -> Self {
        Self {
            kinds: kinds.to_vec(),
            reads: Vec::new(),
            defs: String::new(),
            run: format!("(i32.const {ANSWER})"),
            configure: "(i32.const 512)".to_owned(),
            realloc: REALLOC.to_owned(),
            memory: "1".to_owned(),
            extra: String::new(),
            version: "0.1.0",
            setup: true,
        }
    }

    /// Runs this; it must leave the answer's address.
    pub(crate) fn run(self, run: &str) -> Self {
        Self { run: run.to_owned(), ..self }
    }

    /// Runs this and then answers what stands at [`ANSWER`].
    pub(crate) fn first(self, run: &str) -> Self {
        Self { run: format!("{run} (i32.const {ANSWER})"), ..self }
    }

    /// Answers these bytes.
    pub(crate) fn answers(self, bytes: &[u8]) -> Self {
        let data = data(ANSWER, bytes);
        self.defs(&data)
    }

    /// More of the core module.
    pub(crate) fn defs(mut self, defs: &str) -> Self {
        self.defs.push_str(defs);
        self
    }

    /// Takes settings by this: `$ptr` and `$len` are its text.
    pub(crate) fn configure(self, configure: &str) -> Self {
        Self { configure: configure.to_owned(), ..self }
    }

    pub(crate) fn realloc(self, realloc: &str) -> Self {
        Self { realloc: realloc.to_owned(), ..self }
    }

    pub(crate) fn memory(self, memory: &str) -> Self {
        Self { memory: memory.to_owned(), ..self }
    }

    /// Imports these host functions, each as `$interface.function`.
    pub(crate) fn reads(mut self, functions: &[&'static str]) -> Self {
        self.reads.extend(functions);
        self
    }

    /// More of the component's top level.
    pub(crate) fn extra(self, extra: &str) -> Self {
        Self { extra: extra.to_owned(), ..self }
    }

    /// Built against this version of the contract.
    pub(crate) fn version(self, version: &'static str) -> Self {
        Self { version, ..self }
    }

    /// Without the export that every plugin must have.
    pub(crate) fn without_setup(self) -> Self {
        Self { setup: false, ..self }
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let text = self.text();
        wat::parse_str(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
    }

    fn text(&self) -> String {
        let interfaces = self.interfaces();
        let version = self.version;
        let imports: String = interfaces.iter().map(|(interface, functions)| import(interface, functions, version)).collect();
        let options = r#"(memory (core memory $libc "mem")) (realloc (core func $libc "realloc"))"#;
        let lowered: String = self
            .reads
            .iter()
            .map(|name| {
                let (interface, function) = name.split_once('.').unwrap();
                format!("(core func ${name} (canon lower (func ${interface} \"{function}\") {options}))\n")
            })
            .collect();
        let host: String = self.reads.iter().map(|name| format!("(export \"{name}\" (func ${name}))\n")).collect();
        let core_imports: String =
            self.reads.iter().map(|name| format!("(import \"host\" \"{name}\" (func ${name} {}))\n", core_type(name))).collect();
        let kinds: String = self.kinds.iter().map(|kind| export(*kind, version)).collect();
        let setup = if self.setup {
            format!(
                r#"(func $configure (param "settings" string) (result (result (error string)))
                     (canon lift (core func $main "configure") {options}))
                   (instance $setup (export "configure" (func $configure)))
                   (export "callgate:plugin/setup@{version}" (instance $setup))"#
            )
        } else {
            String::new()
        };
        format!(
            r#"(component
  {TYPES}
  {imports}
  (core module $libc-module
    (memory (export "mem") {memory})
    (global $next (mut i32) (i32.const 8192))
    (func (export "realloc") (param $old i32) (param $old-size i32) (param $align i32) (param $size i32) (result i32)
      {realloc}))
  (core instance $libc (instantiate $libc-module))
  {lowered}
  (core instance $host {host})
  (core module $main-module
    (import "libc" "mem" (memory 0))
    {core_imports}
    {defs}
    (func (export "configure") (param $ptr i32) (param $len i32) (result i32) {configure})
    (func (export "run") (result i32) {run}))
  (core instance $main (instantiate $main-module (with "libc" (instance $libc)) (with "host" (instance $host))))
  {setup}
  {kinds}
  {extra}
)"#,
            memory = self.memory,
            realloc = self.realloc,
            defs = self.defs,
            configure = self.configure,
            run = self.run,
            extra = self.extra,
        )
    }

    fn interfaces(&self) -> Vec<(&'static str, Vec<&'static str>)> {
        let mut interfaces: Vec<(&'static str, Vec<&'static str>)> = Vec::new();
        for name in &self.reads {
            let (interface, function) = name.split_once('.').unwrap();
            match interfaces.iter_mut().find(|(known, _)| *known == interface) {
                Some((_, functions)) => functions.push(function),
                None => interfaces.push((interface, vec![function])),
            }
        }
        interfaces
    }
}

/// The contract's types, as every component that the SDK makes imports them.
const TYPES: &str = r#"(import "callgate:plugin/types@0.1.0" (instance $types
    (type $refusal' (record (field "reason" string) (field "message" string) (field "data" (option string))))
    (export "refusal" (type $refusal (eq $refusal')))
    (type $pre' (variant (case "deny" $refusal) (case "ask" $refusal) (case "proceed") (case "rewrite" string) (case "halt" string)))
    (export "pre-outcome" (type (eq $pre')))
    (type $post' (variant (case "withhold" $refusal) (case "keep") (case "replace" string)))
    (export "post-outcome" (type (eq $post')))
    (type $text' (record (field "message" string) (field "data" (option string))))
    (export "failure-text" (type $text (eq $text')))
    (type $failure' (variant (case "keep") (case "replace" $text)))
    (export "failure-outcome" (type (eq $failure')))
    (type $visibility' (enum "hidden" "visible"))
    (export "visibility" (type (eq $visibility')))
    (type $finding' (enum "undecided" "no-match" "match"))
    (export "finding" (type (eq $finding')))
    (type $verdict' (variant (case "deny" $refusal) (case "deny-and-halt" $refusal) (case "allow-once") (case "allow-always" (option string))))
    (export "verdict" (type (eq $verdict')))))
  (alias export $types "verdict" (type $verdict))"#;

fn import(interface: &str, functions: &[&str], version: &str) -> String {
    let before = match interface {
        "log" => r#"(type $l (enum "trace" "debug" "info" "warn" "error")) (export "level" (type $level (eq $l)))"#,
        "prompt" => {
            r#"(alias outer 1 $verdict (type $v)) (export "verdict" (type $verdict' (eq $v)))
               (type $e (variant (case "unavailable") (case "unanswered") (case "other" string)))
               (export "prompt-error" (type $error (eq $e)))"#
        }
        _ => "",
    };
    let functions: String =
        functions.iter().map(|function| format!("(export \"{function}\" (func {}))", type_of(interface, function))).collect();
    format!("(import \"callgate:plugin/{interface}@{version}\" (instance ${interface} {before} {functions}))\n")
}

/// The functions that tests use.
fn type_of(interface: &str, function: &str) -> &'static str {
    match (interface, function) {
        ("log", "write") => r#"(param "level" $level) (param "message" string)"#,
        ("log", "note") => r#"(param "text" string)"#,
        ("prompt", "ask") => r#"(param "headline" string) (param "details" string) (result (result $verdict' (error $error)))"#,
        ("call-arguments", "argument-at") => r#"(param "pointer" string) (result (option string))"#,
        ("context", "assigned") => r#"(param "key" string) (result (option string))"#,
        ("context", "now-ms") => "(result u64)",
        _ => "(result string)",
    }
}

fn core_type(name: &str) -> &'static str {
    match name {
        "log.write" => "(param i32 i32 i32)",
        "log.note" => "(param i32 i32)",
        "prompt.ask" => "(param i32 i32 i32 i32 i32)",
        "call-arguments.argument-at" | "context.assigned" => "(param i32 i32 i32)",
        "context.now-ms" => "(result i64)",
        _ => "(param i32)",
    }
}

fn export(kind: Kind, version: &str) -> String {
    let (function, answer) = match kind {
        Kind::Filter => ("visible", "visibility"),
        Kind::Predicate => ("matches", "finding"),
        Kind::PreHook => ("on-call", "pre-outcome"),
        Kind::PostHook => ("on-result", "post-outcome"),
        Kind::FailureHook => ("on-failure", "failure-outcome"),
        Kind::Approver => ("review", "verdict"),
    };
    let alias = if answer == "verdict" { String::new() } else { format!("(alias export $types \"{answer}\" (type ${answer}))\n") };
    format!(
        r#"{alias}
  (func ${kind} (result (result ${answer} (error string)))
    (canon lift (core func $main "run") (memory (core memory $libc "mem"))))
  (instance $i-{kind} (export "{function}" (func ${kind})))
  (export "callgate:plugin/{kind}@{version}" (instance $i-{kind}))
"#
    )
}

/// Data at an address.
pub(crate) fn data(at: usize, bytes: &[u8]) -> String {
    let escaped: String = bytes.iter().map(|byte| format!("\\{byte:02x}")).collect();
    format!("(data (i32.const {at}) \"{escaped}\")\n")
}

/// `ok` with this as the answer's first byte.
pub(crate) fn answer(tag: u8) -> Vec<u8> {
    vec![0, 0, 0, 0, tag, 0, 0, 0]
}

/// `ok` with a case that has a text.
pub(crate) fn text_answer(tag: u8, text: &str) -> Vec<u8> {
    let mut bytes = answer(tag);
    bytes.extend((ANSWER as u32 + 64).to_le_bytes());
    bytes.extend((text.len() as u32).to_le_bytes());
    // Zeros up to the text: no data beside it.
    bytes.resize(64, 0);
    bytes.extend(text.as_bytes());
    bytes
}

/// `err` with a text.
pub(crate) fn err(text: &[u8]) -> Vec<u8> {
    let mut bytes = vec![1, 0, 0, 0];
    bytes.extend((ANSWER as u32 + 12).to_le_bytes());
    bytes.extend((text.len() as u32).to_le_bytes());
    bytes.extend(text);
    bytes
}

/// The answer of each kind that lets a call go on.
pub(crate) fn yes(kind: Kind) -> Vec<u8> {
    match kind {
        Kind::Filter | Kind::PostHook => answer(1),
        Kind::Predicate | Kind::PreHook | Kind::Approver => answer(2),
        Kind::FailureHook => answer(0),
    }
}

/// Nothing at all.
pub(crate) fn zero() -> Vec<u8> {
    vec![0; 64]
}
