//! The errors of this crate, each in one place, so that one cause always reads the same.

use callgate_core::json::{Json, ParseError, ParseErrorKind};
use callgate_core::model::{Error, Kind, Reason, Sent, ServerName};

use crate::stderr::shown;

/// Why a whole connection can serve nobody any more, or why everybody who waits on it fails. Cloned to each of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) kind: Kind,
    pub(crate) reason: Reason,
    pub(crate) message: String,
}

impl Fault {
    pub(crate) fn transport(reason: Reason, message: String) -> Self {
        Self { kind: Kind::Transport, reason, message }
    }

    pub(crate) fn error(&self, sent: Sent) -> Error {
        Error::new(self.kind, self.reason, self.message.clone()).with_sent(sent)
    }
}

/// The server could not be started, or does not speak MCP.
pub(crate) fn not_connected(server: &ServerName, cause: impl std::fmt::Display) -> Error {
    Error::new(Kind::Transport, Reason::NotConnected, format!("`{server}` cannot be used: {cause}"))
}

/// The server's own error. Its words are its data; in the message they are cut and on one line.
pub(crate) fn error_reply(server: &ServerName, code: i64, error: Json) -> Error {
    let words: String = error.get("message").and_then(Json::as_str).unwrap_or_default().chars().take(300).collect();
    let message = format!("`{server}` answered with error {code}: `{}`", shown(&words));
    Error::new(Kind::Upstream, Reason::ErrorReply, message).with_data(error).with_sent(Sent::Yes)
}

/// The server broke the protocol.
pub(crate) fn protocol(server: &ServerName, what: impl std::fmt::Display) -> Error {
    Error::new(Kind::Upstream, Reason::Protocol, format!("`{server}` answered {what}")).with_sent(Sent::Yes)
}

/// The reply to a call is not strict JSON.
pub(crate) fn not_strict(server: &ServerName, error: &ParseError) -> Error {
    let reason = match error.kind {
        ParseErrorKind::DuplicateKey => Reason::DuplicateKey,
        ParseErrorKind::LoneSurrogate => Reason::LoneSurrogate,
        ParseErrorKind::Depth => Reason::TooDeep,
        ParseErrorKind::Size => Reason::TooLarge,
        _ => Reason::NotJson,
    };
    let message = format!("`{server}` answered with what is not strict JSON: {error}");
    Error::new(Kind::InvalidResult, reason, message).with_sent(Sent::Yes)
}
