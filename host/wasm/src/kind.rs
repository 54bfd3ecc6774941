//! Kinds of plugins and what each may import: the contract's rows, in one place.

use std::fmt::{Display, Formatter};

/// The contract's package.
pub(crate) const PACKAGE: &str = "callgate:plugin";
/// The version of the contract that this host was built with.
pub const CONTRACT_VERSION: &str = "0.1.0";
/// The start of every version that this host takes: the track.
const TRACK: &str = "0.1.";

/// What a plugin is, by the interface that it exports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Says which tools exist for a caller.
    Filter,
    /// A condition in policy rules.
    Predicate,
    /// Sees a call before policy does.
    PreHook,
    /// Sees a result.
    PostHook,
    /// Sees an error.
    FailureHook,
    /// Decides asks.
    Approver,
}

impl Kind {
    /// All of them, in the order of the pipeline.
    pub const ALL: [Kind; 6] = [Kind::Filter, Kind::Predicate, Kind::PreHook, Kind::PostHook, Kind::FailureHook, Kind::Approver];

    /// The exported interface's name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Filter => "filter",
            Kind::Predicate => "predicate",
            Kind::PreHook => "pre-hook",
            Kind::PostHook => "post-hook",
            Kind::FailureHook => "failure-hook",
            Kind::Approver => "approver",
        }
    }

    /// The one function of that interface.
    pub(crate) fn function(self) -> &'static str {
        match self {
            Kind::Filter => "visible",
            Kind::Predicate => "matches",
            Kind::PreHook => "on-call",
            Kind::PostHook => "on-result",
            Kind::FailureHook => "on-failure",
            Kind::Approver => "review",
        }
    }

    /// What a plugin of this kind may read while it runs as this kind (T17).
    #[must_use]
    pub fn row(self) -> &'static [Interface] {
        use Interface::{CallArguments, Context, Failure, Log, Prompt, Question, Tool, ToolResult};
        match self {
            Kind::Filter => &[Tool, Context, Log],
            Kind::Predicate | Kind::PreHook => &[Tool, CallArguments, Context, Log],
            Kind::PostHook => &[Tool, CallArguments, Context, ToolResult, Log],
            Kind::FailureHook => &[Tool, CallArguments, Context, Failure, Log],
            Kind::Approver => &[Tool, CallArguments, Context, Question, Prompt, Log],
        }
    }

    fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}

impl Display for Kind {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// An interface that the host offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Interface {
    /// Types alone.
    Types,
    /// The tool.
    Tool,
    /// The arguments.
    CallArguments,
    /// The circumstances.
    Context,
    /// The result.
    ToolResult,
    /// The error.
    Failure,
    /// Why the call is asked about.
    Question,
    /// Asking a person.
    Prompt,
    /// Words for the operator.
    Log,
}

impl Interface {
    /// All of them.
    pub const ALL: [Interface; 9] = [
        Interface::Types,
        Interface::Tool,
        Interface::CallArguments,
        Interface::Context,
        Interface::ToolResult,
        Interface::Failure,
        Interface::Question,
        Interface::Prompt,
        Interface::Log,
    ];

    /// Its name in the contract.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Interface::Types => "types",
            Interface::Tool => "tool",
            Interface::CallArguments => "call-arguments",
            Interface::Context => "context",
            Interface::ToolResult => "tool-result",
            Interface::Failure => "failure",
            Interface::Question => "question",
            Interface::Prompt => "prompt",
            Interface::Log => "log",
        }
    }

    /// Its functions, and in plain words what each lets a plugin do.
    #[must_use]
    pub fn functions(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Interface::Types => &[],
            Interface::Tool => &[
                ("server", "reads the server's name"),
                ("name", "reads the tool's name"),
                ("definition", "reads the tool's definition"),
                ("annotation", "reads the tool's hints"),
                ("annotation-declared", "reads the tool's hints"),
                ("fingerprint", "reads the definition's fingerprint"),
                ("approved-fingerprints", "reads which definitions are approved"),
            ],
            Interface::CallArguments => &[
                ("get-arguments", "reads all arguments"),
                ("argument-at", "reads single arguments"),
                ("digest", "reads the arguments' digest"),
            ],
            Interface::Context => &[
                ("call-id", "reads the call's id"),
                ("now-ms", "reads the call's time"),
                ("era", "reads the protocol's generation"),
                ("principal", "reads on whose behalf the call is made"),
                ("taint", "reads which servers' output led to the call"),
                ("tainted", "reads whether other servers' output led to the call"),
                ("assigned", "reads values that the host program attached, as far as its entry lists them"),
                ("has-approver", "reads whether somebody can be asked"),
            ],
            Interface::ToolResult => &[
                ("get-result", "reads the whole result"),
                ("result-at", "reads parts of the result"),
                ("is-error", "reads whether the tool failed"),
                ("synthetic", "reads whether a hook made the result"),
            ],
            Interface::Failure => &[
                ("kind", "reads the error's kind"),
                ("reason", "reads the error's reason"),
                ("message", "reads the error's message"),
                ("data", "reads the error's data"),
                ("sent", "reads whether the call was sent"),
            ],
            Interface::Question => &[
                ("reason", "reads why the call is asked about"),
                ("rule", "reads which rule asks"),
                ("earlier-arguments", "reads the arguments approved last"),
                ("definition-changes", "reads what changed in the definition"),
            ],
            Interface::Prompt => &[("ask", "asks a person")],
            Interface::Log => &[("write", "writes to the log"), ("note", "notes why it answers so")],
        }
    }

    fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|interface| interface.as_str() == name)
    }
}

/// A name of the contract's package, as it stands in a component: `callgate:plugin/<interface>@<version>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ContractName<'a> {
    pub(crate) interface: &'a str,
    pub(crate) version: &'a str,
}

impl<'a> ContractName<'a> {
    /// None for names of other packages.
    pub(crate) fn parse(name: &'a str) -> Option<Self> {
        let rest = name.strip_prefix(PACKAGE)?.strip_prefix('/')?;
        let (interface, version) = rest.split_once('@').unwrap_or((rest, "none"));
        Some(Self { interface, version })
    }

    /// Whether the version is of this host's track. A pre-release matches nothing.
    pub(crate) fn in_track(self) -> bool {
        let patch = self.version.strip_prefix(TRACK).unwrap_or_default();
        !patch.is_empty() && patch.bytes().all(|byte| byte.is_ascii_digit())
    }

    pub(crate) fn kind(self) -> Option<Kind> {
        Kind::named(self.interface)
    }

    pub(crate) fn imported(self) -> Option<Interface> {
        Interface::named(self.interface)
    }

    pub(crate) fn is_setup(self) -> bool {
        self.interface == "setup"
    }
}

#[cfg(test)]
mod tests {
    use super::ContractName;

    #[test]
    fn versions_of_the_track_are_taken() {
        for (version, taken) in
            [("0.1.0", true), ("0.1.17", true), ("0.2.0", false), ("0.1.0-rc", false), ("0.1.", false), ("1.1.0", false), ("0.10.0", false)]
        {
            let name = format!("callgate:plugin/filter@{version}");
            assert_eq!(ContractName::parse(&name).unwrap().in_track(), taken, "{version}");
        }
        assert!(!ContractName::parse("callgate:plugin/filter").unwrap().in_track());
        assert_eq!(ContractName::parse("callgate:plugins/filter@0.1.0"), None);
    }
}
