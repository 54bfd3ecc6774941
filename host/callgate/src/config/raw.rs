//! What the user wrote. Every key has its meaning here, and its JSON Schema is printed by `callgate config schema`.

use std::collections::BTreeMap;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, MapAccess, Visitor};

/// callgate.toml
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// MCP servers, by name: letters, digits, `_` and `-`.
    #[serde(default)]
    pub server: BTreeMap<String, Server>,
    /// Plugins, by name.
    #[serde(default)]
    pub plugin: BTreeMap<String, Plugin>,
    /// Which plugins run where.
    #[serde(default)]
    pub pipeline: Pipeline,
    /// Rules: deny > pin > ask > allow > default. Left out, calls are asked about where there is an approver, else denied.
    /// `"none"` for no policy at all.
    pub policy: Option<PolicyOrNone>,
    /// What is checked against the tools' schemas.
    pub validate: Option<Validate>,
    /// How asks are settled.
    pub ask: Option<Ask>,
    /// Which definitions of tools are approved.
    pub pins: Option<Pins>,
    /// How results are shaped for a model.
    pub shape: Option<Shape>,
    /// Bounds of sending.
    pub send: Option<Send>,
    /// What telemetry captures.
    pub telemetry: Option<Telemetry>,
    /// Where grants and pins are kept.
    pub store: Option<Store>,
    /// Logs.
    pub log: Option<Log>,
    /// Values for hooks, approver and policy of calls that bring none of their own.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, serde_json::Value>")]
    pub assigns: BTreeMap<String, toml::Value>,
}

/// An MCP server over stdio.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Server {
    /// The program and its arguments. No shell reads it. `${VAR}` and `${VAR:-default}` are expanded.
    pub command: Vec<String>,
    /// The child's environment: it gets these, PATH and HOME, and nothing else. `${VAR}` is expanded.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// The child's working folder, relative to this file. Default: this file's folder.
    pub cwd: Option<String>,
    /// Believe the server's own annotations. Default false: every hint has the protocol's worst value.
    pub trust_annotations: Option<bool>,
}

/// A plugin: a WebAssembly component.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Plugin {
    /// The component, relative to this file. `${VAR}` is expanded.
    pub path: String,
    /// SHA-256 of the component, in hexadecimal. Required without `--dev`.
    pub sha256: Option<String>,
    /// Limits that differ from the kind's defaults.
    pub limits: Option<Limits>,
    /// Settings, checked by the plugin when it is loaded. `${VAR}` is expanded in strings.
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    pub settings: Option<toml::Table>,
}

/// A plugin's limits.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Instructions, roughly. 5 million for predicates and filters, 50 million for hooks and approvers.
    pub fuel: Option<u64>,
    /// Running time, such as `250ms`.
    pub deadline: Option<String>,
    /// Bytes of all its memories, such as `32MiB`.
    pub memory: Option<String>,
}

/// Which plugins run where.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pipeline {
    /// Which tools exist for a caller.
    #[serde(default)]
    pub filters: Vec<Entry>,
    /// Before policy, in this order. May: `deny`, `ask`, `halt`, `{ rewrite = ["/pointer"] }`.
    #[serde(default)]
    pub pre_hooks: Vec<Entry>,
    /// On results, in this order. May: `replace`, `withhold`.
    #[serde(default)]
    pub post_hooks: Vec<Entry>,
    /// On errors, in this order. May: `replace`.
    #[serde(default)]
    pub failure_hooks: Vec<Entry>,
    /// Decides asks. May: `decide` without asking a person, `always` for good.
    pub approver: Option<Entry>,
}

/// A plugin's name, or a table.
#[derive(Debug, JsonSchema)]
#[schemars(untagged)]
pub enum Entry {
    /// The plugin, with no powers.
    Name(String),
    /// The plugin, with more to say.
    Table(Box<EntryTable>),
}

/// One place in the pipeline.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EntryTable {
    /// Which plugin.
    pub plugin: String,
    /// What it may do; nothing said means nothing.
    #[serde(default)]
    pub may: Vec<Power>,
    /// Which calls it is about; all where nothing is said.
    pub r#match: Option<Match>,
    /// Which assigns it sees; none where nothing is said.
    #[serde(default)]
    pub assigns: Vec<String>,
}

/// Which calls an entry is about.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Match {
    /// A glob on the server's name.
    pub server: Option<String>,
    /// A glob on the tool's name.
    pub tool: Option<String>,
}

/// One power.
#[derive(Debug, JsonSchema)]
#[schemars(untagged)]
pub enum Power {
    /// By its word.
    Word(PowerWord),
    /// To change arguments.
    Rewrite(Rewrite),
}

/// A power without a parameter.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PowerWord {
    /// A pre-hook may deny.
    Deny,
    /// A pre-hook may ask.
    Ask,
    /// A pre-hook may end the call with a result of its own; policy is skipped then.
    Halt,
    /// A post- or failure hook may replace.
    Replace,
    /// A post-hook may withhold.
    Withhold,
    /// An approver may allow without asking a person.
    Decide,
    /// An approver may allow for good.
    Always,
}

/// Which arguments may be changed.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rewrite {
    /// JSON pointers: what is at or below them may change.
    pub rewrite: Vec<String>,
}

/// Rules, or none.
#[derive(Debug, JsonSchema)]
#[schemars(untagged)]
pub enum PolicyOrNone {
    /// `"none"`: hooks and schemas alone govern.
    #[schemars(schema_with = "none")]
    None,
    /// Rules.
    Policy(Box<Policy>),
}

/// Rules.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Policy {
    /// What becomes of a call that no rule matches; left out: ask where there is an approver, else deny.
    pub default: Option<DefaultEffect>,
    /// Rules that deny.
    #[serde(default)]
    pub deny: Vec<Rule>,
    /// Rules that ask.
    #[serde(default)]
    pub ask: Vec<Rule>,
    /// Rules that allow.
    #[serde(default)]
    pub allow: Vec<Rule>,
}

/// What becomes of a call that no rule matches.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DefaultEffect {
    /// It is not sent.
    Deny,
    /// It is sent.
    Allow,
    /// A grant or the approver decides.
    Ask,
}

macro_rules! with_condition {
    ($(#[$doc:meta])* $name:ident { $($field:tt)* }) => {
        $(#[$doc])*
        #[derive(Debug, Default, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            $($field)*
            /// A glob on the tool's name.
            pub tool: Option<String>,
            /// A glob on the server's name.
            pub server: Option<String>,
            /// One hint's value.
            pub annotation: Option<Annotation>,
            /// A test on one argument. A missing or wrongly typed value counts as a match in deny and ask rules.
            pub argument: Option<Argument>,
            /// A glob on the principal, such as `cli:alice`.
            pub principal: Option<String>,
            /// `legacy` or `modern`.
            pub era: Option<Era>,
            /// A test on one assign.
            pub assign: Option<Assign>,
            /// Output of another server is in the turn.
            pub tainted: Option<Tainted>,
            /// A predicate plugin says so.
            pub predicate: Option<String>,
            /// All of these hold.
            pub all: Option<Vec<Condition>>,
            /// One of these holds.
            pub any: Option<Vec<Condition>>,
            /// This does not hold.
            pub not: Option<Box<Condition>>,
        }
    };
}

with_condition!(
    /// A rule: a name and one condition.
    Rule {
        /// The name, as decisions and records give it.
        pub name: String,
        /// For ask rules: whether a grant may settle the ask. Default true.
        pub grantable: Option<bool>,
    }
);
with_condition!(
    /// One condition: exactly one of these.
    Condition {}
);

impl Rule {
    /// The rule's condition by itself.
    pub fn condition(self) -> (String, Option<bool>, Condition) {
        let Rule { name, grantable, tool, server, annotation, argument, principal, era, assign, tainted, predicate, all, any, not } = self;
        (name, grantable, Condition { tool, server, annotation, argument, principal, era, assign, tainted, predicate, all, any, not })
    }
}

/// One hint's value.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Annotation {
    /// Changes nothing.
    pub read_only: Option<bool>,
    /// May destroy or overwrite.
    pub destructive: Option<bool>,
    /// A second call changes nothing more.
    pub idempotent: Option<bool>,
    /// Reaches what is outside the server.
    pub open_world: Option<bool>,
}

macro_rules! with_value_test {
    ($(#[$doc:meta])* $name:ident { $($field:tt)* }) => {
        $(#[$doc])*
        #[derive(Debug, Default, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            $($field)*
            /// Equals this value.
            #[schemars(with = "Option<serde_json::Value>")]
            pub equals: Option<toml::Value>,
            /// Is one of these values.
            #[schemars(with = "Option<Vec<serde_json::Value>>")]
            pub one_of: Option<Vec<toml::Value>>,
            /// A string that matches whole.
            pub glob: Option<String>,
            /// A string in which this is found.
            pub regex: Option<String>,
            /// A number within these bounds, both included.
            pub range: Option<Range>,
            /// Whether there is a value at all.
            pub exists: Option<bool>,
            /// So many characters, items or members.
            pub length: Option<Length>,
        }

        impl $name {
            /// The test by itself.
            pub fn test(&mut self) -> ValueTest {
                ValueTest {
                    equals: self.equals.take(),
                    one_of: self.one_of.take(),
                    glob: self.glob.take(),
                    regex: self.regex.take(),
                    range: self.range.take(),
                    exists: self.exists.take(),
                    length: self.length.take(),
                }
            }
        }
    };
}

with_value_test!(
    /// A test on one argument.
    Argument {
        /// Where, as a JSON pointer.
        pub pointer: String,
    }
);
with_value_test!(
    /// A test on one assign.
    Assign {
        /// Which.
        pub key: String,
    }
);

/// A test on one value: exactly one of these.
#[derive(Debug, Default)]
pub struct ValueTest {
    /// Equals this value.
    pub equals: Option<toml::Value>,
    /// Is one of these values.
    pub one_of: Option<Vec<toml::Value>>,
    /// A string that matches whole.
    pub glob: Option<String>,
    /// A string in which this is found.
    pub regex: Option<String>,
    /// A number within these bounds.
    pub range: Option<Range>,
    /// Whether there is a value at all.
    pub exists: Option<bool>,
    /// So many characters, items or members.
    pub length: Option<Length>,
}

/// Bounds of a number, both included.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Range {
    /// At least this.
    #[schemars(with = "Option<f64>")]
    pub min: Option<toml::Value>,
    /// At most this.
    #[schemars(with = "Option<f64>")]
    pub max: Option<toml::Value>,
}

/// Bounds of a length, both included.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Length {
    /// At least so many.
    pub min: Option<u64>,
    /// At most so many.
    pub max: Option<u64>,
}

/// How a server speaks.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Era {
    /// 2025-11-25 and before.
    Legacy,
    /// 2026-07-28 and after.
    Modern,
}

/// Output of a server other than the tool's own is in the turn.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tainted {
    /// Servers that do not count.
    #[serde(default)]
    pub ignore: Vec<String>,
}

/// What is checked against the tools' schemas.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Validate {
    /// Arguments that do not fit are never sent. Default true.
    pub arguments: Option<bool>,
    /// Structured content that does not fit. Default `strict`.
    pub structured_content: Option<Strictness>,
}

/// What becomes of structured content that does not fit.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Strictness {
    /// The caller gets an error.
    Strict,
    /// It is reported and passes.
    Warn,
    /// It is not looked at.
    Off,
}

/// How asks are settled.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ask {
    /// How long an approver may take. Default `60s`.
    pub timeout: Option<String>,
    /// How long a grant lives. Default `24h`.
    pub grant_ttl: Option<String>,
    /// Whether calls without a principal make and use grants. Default false.
    pub allow_anonymous_grants: Option<bool>,
}

/// Which definitions of tools are approved.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pins {
    /// `"first_listing"`, or a table of tool names and fingerprints. Default `"first_listing"`.
    pub approved: Option<ApprovedPins>,
    /// Whether a tool that appears later passes the pin. Default false.
    pub allow_new_tools: Option<bool>,
}

/// What counts as approved.
#[derive(Debug, JsonSchema)]
#[schemars(untagged)]
pub enum ApprovedPins {
    /// The first complete listing.
    #[schemars(schema_with = "first_listing")]
    FirstListing,
    /// Exactly these.
    Fingerprints(BTreeMap<String, String>),
}

fn none(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "const": "none" })
}

fn first_listing(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "const": "first_listing" })
}

/// How results are shaped for a model.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Shape {
    /// Bytes of a whole shaped result. Default 102400.
    pub max_bytes: Option<usize>,
}

/// Bounds of sending.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Send {
    /// For the whole call, without the wait for an approver; also for a server's start and listing. Default `60s`.
    pub timeout: Option<String>,
    /// Input rounds. Default 10.
    pub max_rounds: Option<usize>,
    /// Running time that all plugins of one call share. Default `2s`.
    pub plugin_budget: Option<String>,
}

/// What telemetry captures.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Telemetry {
    /// Payloads of the stop event. Default none.
    #[serde(default)]
    pub capture_payloads: Vec<Payload>,
}

/// A payload.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Payload {
    /// Arguments as the caller gave them.
    Arguments,
    /// The result as the caller got it.
    Result,
}

/// Where grants and pins are kept.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Store {
    /// The SQLite file, relative to this file. Default: in the user's state folder.
    pub path: Option<String>,
}

/// Logs.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Log {
    /// A file for decisions, one JSON object a line: codes and digests, no arguments. Default: `decisions.jsonl` beside the store;
    /// `"none"` for no log.
    pub decisions: Option<String>,
}

/// Deserializes a word or a table, with the table's own errors where it is one.
macro_rules! word_or_table {
    ($type:ident, $expecting:literal, |$word:ident| $from_word:expr, |$access:ident| $from_table:expr) => {
        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Either;
                impl<'de> Visitor<'de> for Either {
                    type Value = $type;

                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str($expecting)
                    }

                    fn visit_str<E: serde::de::Error>(self, $word: &str) -> Result<$type, E> {
                        $from_word
                    }

                    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<$type, A::Error> {
                        let $access = MapAccessDeserializer::new(map);
                        $from_table
                    }
                }
                deserializer.deserialize_any(Either)
            }
        }
    };
}

word_or_table!(Entry, "a plugin's name or a table with `plugin`", |word| Ok(Entry::Name(word.to_owned())), |table| {
    EntryTable::deserialize(table).map(|table| Entry::Table(Box::new(table)))
});
word_or_table!(
    Power,
    "a power's name or `{ rewrite = [\"/pointer\"] }`",
    |word| match word {
        "rewrite" => Err(E::custom("`rewrite` needs its pointers: `{ rewrite = [\"/pointer\"] }`")),
        _ => PowerWord::deserialize(serde::de::value::StrDeserializer::<E>::new(word)).map(Power::Word),
    },
    |table| Rewrite::deserialize(table).map(Power::Rewrite)
);
word_or_table!(
    PolicyOrNone,
    "`\"none\"` or a table of rules",
    |word| if word == "none" { Ok(PolicyOrNone::None) } else { Err(E::custom("`policy` is a table of rules, or \"none\"")) },
    |table| Policy::deserialize(table).map(|policy| PolicyOrNone::Policy(Box::new(policy)))
);
word_or_table!(
    ApprovedPins,
    "`\"first_listing\"` or a table of fingerprints",
    |word| if word == "first_listing" {
        Ok(ApprovedPins::FirstListing)
    } else {
        Err(E::custom("`approved` is \"first_listing\", or a table of tool names and fingerprints"))
    },
    |table| BTreeMap::deserialize(table).map(ApprovedPins::Fingerprints)
);
