//! How a command ends. Exit codes are part of the contract: 0 result, 2 usage, 3 denied, 4 approval needed or refused, 5 not found,
//! 7 hook failed, 8 configuration, 130 stopped by a signal, 1 anything else.

use std::process::ExitCode;

use callgate::core::json::Json;
use callgate::core::model::{Error, Kind, Reason, Sent};
use callgate::core::shape::show_text;

use super::{Format, Global, output};

/// A command that did not do what it was asked.
#[derive(Debug)]
pub(crate) enum Failed {
    /// The call gave no result. In the JSON format it has been printed already, as the one object on standard output.
    Call(Error),
    /// The server could not be used, for something else than a call.
    Server(Error),
    /// The configuration, or a plugin that it names, cannot be used.
    Config(String),
    /// The plugin that was inspected cannot be used; in the JSON format its problems have been printed with the rest.
    Inspected(String),
    /// The command's own words are off.
    Usage(String),
    /// Something was not found.
    NotFound(String),
    /// A signal ended it.
    Stopped(String),
    /// Anything else.
    Other(String),
}

impl Failed {
    /// Says what went wrong and gives the exit code.
    pub(crate) fn report(&self, global: &Global) -> ExitCode {
        match self {
            Failed::Call(error) if global.format == Format::Text => say(&error.to_string()),
            Failed::Call(_) => {}
            Failed::Inspected(what) => say(what),
            Failed::Server(error) => {
                say(&error.to_string());
                if global.format == Format::Json {
                    output::line(&output::failure_json(output::error_json(error)));
                }
            }
            Failed::Config(what) | Failed::Usage(what) | Failed::NotFound(what) | Failed::Stopped(what) | Failed::Other(what) => {
                say(what);
                if global.format == Format::Json {
                    output::line(&self.to_json(what));
                }
            }
        }
        ExitCode::from(self.code())
    }

    fn code(&self) -> u8 {
        match self {
            Failed::Call(error) | Failed::Server(error) => code(error),
            Failed::Usage(_) => 2,
            Failed::NotFound(_) => 5,
            Failed::Config(_) | Failed::Inspected(_) => 8,
            // As shells have it.
            Failed::Stopped(_) => 130,
            Failed::Other(_) => 1,
        }
    }

    pub(crate) fn to_json(&self, message: &str) -> Json {
        let kind = match self {
            Failed::Config(_) | Failed::Inspected(_) => "config",
            Failed::Usage(_) => "usage",
            Failed::NotFound(_) => "not_found",
            Failed::Stopped(_) => "stopped",
            Failed::Call(_) | Failed::Server(_) | Failed::Other(_) => "internal",
        };
        let error: Json = [("kind", Json::from(kind)), ("message", message.into())].into_iter().collect();
        output::failure_json(error)
    }
}

fn say(what: &str) {
    output::say(&format!("callgate: {}", show_text(what)));
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        // A listing may have been sent, but no call was.
        Failed::Server(error.with_sent(Sent::No))
    }
}

/// The exit code for a call that gave no result.
fn code(error: &Error) -> u8 {
    match (error.kind, error.reason) {
        (Kind::NotFound, _) => 5,
        (Kind::Hook, _) => 7,
        (
            Kind::Denied,
            Reason::AskDenied
            | Reason::AskHalt
            | Reason::AskFailed
            | Reason::AskRule
            | Reason::HookAsk
            | Reason::ToolChanged
            | Reason::ToolNew
            | Reason::AnonymousGrant,
        ) => 4,
        (Kind::Denied, _) => 3,
        _ => 1,
    }
}
