//! Why a call gave no result.

use std::fmt::{Display, Formatter};

use crate::json::Json;

use super::{Decision, Failure};

/// A call that gave no result: what went wrong, in words for programs and for people, and whether the call may have had its effect.
#[derive(Clone, Debug)]
pub struct Error {
    /// Which part of the system says no.
    pub kind: Kind,
    /// A stable snake_case word.
    pub reason: Reason,
    /// One lowercase clause for the person who must act.
    pub message: String,
    /// What belongs to the reason: see the table in `host/ARCHITECTURE.md`.
    pub data: Json,
    /// Whether the server may have acted.
    pub sent: Sent,
}

/// Which part of the system says no.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// No such tool, or none that this caller may see.
    NotFound,
    /// A hook broke or went beyond its powers.
    Hook,
    /// The arguments are not what the tool takes.
    InvalidArguments,
    /// Policy, a hook or a person said no, or nobody said yes.
    Denied,
    /// The server could not be reached or did not answer.
    Transport,
    /// The server answered with an error, or broke the protocol.
    Upstream,
    /// The server's result is not what a result must be.
    InvalidResult,
}

/// Whether the call may have had its effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// It never left.
    No,
    /// It left and was answered.
    Yes,
    /// It left, or may have, and nobody knows what became of it.
    Unknown,
}

macro_rules! reasons {
    ($($(#[$doc:meta])* $name:ident = $word:literal,)*) => {
        /// A stable word for why; the words are part of the contract and never change their meaning.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Reason { $($(#[$doc])* $name,)* }

        impl Reason {
            /// Every reason there is.
            pub const ALL: &[Reason] = &[$(Reason::$name,)*];

            /// The word.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Reason::$name => $word,)* }
            }
        }
    };
}

reasons! {
    /// `not_found`: unknown, or hidden from this caller; nobody can tell which (PO-7).
    UnknownTool = "unknown_tool",

    /// `hook`: an extension point gave no answer; data has the plugin, failure and limit.
    HookFailed = "hook_failed",
    /// `hook`: it did what its `may` line does not grant; data has the plugin and what it did.
    PowerExceeded = "power_exceeded",
    /// `hook`: something that will be sent is not what was decided on; data says what.
    ArgsChanged = "args_changed",

    /// `invalid_arguments`, `invalid_result`, `transport`: not JSON.
    NotJson = "not_json",
    /// `invalid_arguments`, `invalid_result`: an object is needed.
    NotAnObject = "not_an_object",
    /// `invalid_arguments`, `invalid_result`: a key twice.
    DuplicateKey = "duplicate_key",
    /// `invalid_arguments`, `invalid_result`: half of a surrogate pair.
    LoneSurrogate = "lone_surrogate",
    /// `invalid_arguments`, `invalid_result`: nested too deep.
    TooDeep = "too_deep",
    /// `invalid_arguments`, `transport`, `upstream`: over a size limit.
    TooLarge = "too_large",
    /// `invalid_arguments`: a number that would be sent with another value.
    InexactNumber = "inexact_number",
    /// `invalid_arguments`, `invalid_result`: not what the tool's schema asks for.
    SchemaMismatch = "schema_mismatch",
    /// `invalid_arguments`: the tool's own schema cannot be used.
    SchemaUnusable = "schema_unusable",
    /// `invalid_arguments`, `invalid_result`: checking would cost more than the bound.
    SchemaTooCostly = "schema_too_costly",

    /// `denied`: a deny rule matched; data is the decision.
    DenyRule = "deny_rule",
    /// `denied`: the definition is not the approved one, and nobody was there to ask.
    ToolChanged = "tool_changed",
    /// `denied`: the tool appeared after the baseline, and nobody was there to ask.
    ToolNew = "tool_new",
    /// `denied`: an ask rule matched, and nobody was there to ask.
    AskRule = "ask_rule",
    /// `denied`: a pre-hook wants a person to decide, and nobody was there to ask.
    HookAsk = "hook_ask",
    /// `denied`: an allow rule matched. Never a denial's reason; a decision's only.
    AllowRule = "allow_rule",
    /// `denied`: no rule matched; data is the decision.
    NoRule = "no_rule",
    /// A decision's only: there is no policy.
    NoPolicy = "no_policy",
    /// `denied`: a pre-hook said no; data has the plugin and its reason.
    HookDenied = "hook_denied",
    /// `denied`: a post-hook keeps the result back; the call was sent.
    ResultWithheld = "result_withheld",
    /// `denied`: the approver said no; data is its reason.
    AskDenied = "ask_denied",
    /// `denied`: the approver said no and to stop the agent; data is its reason.
    AskHalt = "ask_halt",
    /// `denied`: the approver gave no answer; data has the failure and limit.
    AskFailed = "ask_failed",
    /// `denied`: the store of grants or pins could not answer or write.
    StoreFailed = "store_failed",
    /// `denied`: the grant that settled the ask was revoked before the call left.
    GrantRevoked = "grant_revoked",
    /// `denied`: "always" for nobody in particular needs `allow_anonymous_grants`.
    AnonymousGrant = "anonymous_grant",
    /// `denied`: policy changed while the call waited, and now denies it.
    PolicyChanged = "policy_changed",

    /// `transport`: the server could not be started or reached.
    NotConnected = "not_connected",
    /// `transport`: the connection ended.
    Closed = "closed",
    /// `transport`: no answer in time.
    Timeout = "timeout",
    /// `transport`, `denied`: the caller is gone or has cancelled.
    Cancelled = "cancelled",
    /// `transport`: the connection that listed the tool is not the one that would be sent to.
    Reconnected = "reconnected",

    /// `upstream`: the server answered with a JSON-RPC error; data has code, message and data.
    ErrorReply = "error_reply",
    /// `upstream`: the server broke the protocol.
    Protocol = "protocol",
    /// `upstream`: a listing repeats its cursor.
    RepeatedCursor = "repeated_cursor",
    /// `upstream`: a listing is over the caps on pages, tools or bytes.
    ListingTooLarge = "listing_too_large",
    /// `upstream`: the server asked for input that was not declared, or that fails a check.
    InputRefused = "input_refused",
    /// `upstream`: nobody answered the server's request for input.
    InputFailed = "input_failed",
    /// `upstream`: more input rounds than are allowed.
    TooManyRounds = "too_many_rounds",

    /// `invalid_result`: a `resultType` that this host does not know or did not ask for.
    UnknownResultType = "unknown_result_type",
    /// `invalid_result`: a result without the structured content that its schema asks for.
    NoStructuredContent = "no_structured_content",
}

impl Error {
    /// An error of a call that was not sent.
    #[must_use]
    pub fn new(kind: Kind, reason: Reason, message: impl Into<String>) -> Self {
        Self { kind, reason, message: message.into(), data: Json::Null, sent: Sent::No }
    }

    /// The one answer for a tool that is unknown and for one that is hidden (PO-7). It depends on nothing but the name that the
    /// caller gave.
    #[must_use]
    pub fn unknown_tool(name: &str) -> Self {
        let shown: String = name.chars().take(128).flat_map(char::escape_default).collect();
        Self::new(Kind::NotFound, Reason::UnknownTool, format!("there is no tool `{shown}`"))
    }

    /// A denial by policy; its data is the decision.
    #[must_use]
    pub fn denied(decision: &Decision) -> Self {
        let by = decision.rule.as_ref().map(|rule| format!(" by rule `{rule}`")).unwrap_or_default();
        let message = format!("the call is not allowed{by}: {}", decision.reason.explain());
        Self::new(Kind::Denied, decision.reason, message).with_data(decision.to_json())
    }

    /// An extension point that gave no answer.
    #[must_use]
    pub fn hook_failed(plugin: &str, failure: &Failure) -> Self {
        Self::new(Kind::Hook, Reason::HookFailed, format!("`{plugin}` failed: {failure}")).with_data(failure.to_json(Some(plugin)))
    }

    /// With data.
    #[must_use]
    pub fn with_data(self, data: Json) -> Self {
        Self { data, ..self }
    }

    /// With another answer to whether the call was sent.
    #[must_use]
    pub fn with_sent(self, sent: Sent) -> Self {
        Self { sent, ..self }
    }
}

impl Failure {
    /// `{"plugin","failure","limit"}`, in the host's words only (T22).
    #[must_use]
    pub fn to_json(&self, plugin: Option<&str>) -> Json {
        let limit = self.limit.map(|limit| ("limit", limit.as_str()));
        plugin.map(|name| ("plugin", name)).into_iter().chain([("failure", self.kind.as_str())]).chain(limit).collect()
    }
}

impl Reason {
    fn explain(self) -> &'static str {
        match self {
            Reason::DenyRule => "a deny rule matches",
            Reason::ToolChanged => "the tool's definition has changed since it was approved",
            Reason::ToolNew => "the tool was not there when the server was first listed",
            Reason::AskRule => "an ask rule matches and there is no approver",
            Reason::HookAsk => "a hook asks for approval and there is no approver",
            Reason::NoRule => "no rule matches and there is no approver",
            other => other.as_str(),
        }
    }
}

impl Kind {
    /// The stable word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::NotFound => "not_found",
            Kind::Hook => "hook",
            Kind::InvalidArguments => "invalid_arguments",
            Kind::Denied => "denied",
            Kind::Transport => "transport",
            Kind::Upstream => "upstream",
            Kind::InvalidResult => "invalid_result",
        }
    }
}

impl Sent {
    /// The stable word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Sent::No => "no",
            Sent::Yes => "yes",
            Sent::Unknown => "unknown",
        }
    }
}

impl Display for Error {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({}, {})", self.message, self.kind.as_str(), self.reason.as_str())?;
        match self.sent {
            Sent::No => Ok(()),
            Sent::Yes => f.write_str("; the call was sent"),
            Sent::Unknown => f.write_str("; the call may have been sent"),
        }
    }
}

impl std::error::Error for Error {}
