//! Which server a call goes to.

use std::borrow::Borrow;
use std::fmt::{Display, Formatter};
use std::str::FromStr;

use crate::digest::Digest;

/// A server's name in the configuration: letters, digits, `_` and `-`, at most 64. No dot, so that a name joined from server and
/// tool can be taken apart again (T23).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServerName(String);

/// A text that cannot name a server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` cannot name a server: 1 to 64 of A-Z, a-z, 0-9, `_` and `-` are expected")]
pub struct InvalidServerName(String);

impl ServerName {
    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for ServerName {
    type Err = InvalidServerName;

    fn from_str(text: &str) -> Result<Self, InvalidServerName> {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
        if (1..=64).contains(&text.len()) && text.bytes().all(allowed) {
            Ok(Self(text.to_owned()))
        } else {
            Err(InvalidServerName(text.escape_default().take(80).collect()))
        }
    }
}

impl Display for ServerName {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl Borrow<str> for ServerName {
    fn borrow(&self) -> &str {
        &self.0
    }
}

/// What makes a server this server: its name, and a digest of its command line or URL, the names of its environment and its
/// credential's id. Whoever edits the command loses the grants and pins given under the old one (T4).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerIdentity {
    /// The name in the configuration.
    pub name: ServerName,
    /// The digest of everything that says where calls go.
    pub digest: Digest,
}

/// How a server speaks (MCP specification 2026-07-28, basic/versioning).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Era {
    /// `initialize` handshake: 2025-11-25 and before.
    Legacy,
    /// Per-request `_meta`: 2026-07-28 and after.
    Modern,
}

impl Era {
    /// `legacy` or `modern`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Era::Legacy => "legacy",
            Era::Modern => "modern",
        }
    }
}

impl Display for Era {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}
