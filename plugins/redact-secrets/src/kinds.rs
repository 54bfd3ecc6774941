//! The kinds of credentials.

use serde::Deserialize;

/// What a credential is for. Its name is what stands in its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Kind {
    Anthropic,
    /// `password=`, `api_key:` and the like, and JSON members with such names.
    Assignment,
    Aws,
    /// Found by a prefix from the settings. Not a kind that can be named.
    #[serde(skip)]
    Extra,
    Github,
    Gitlab,
    Google,
    Jwt,
    Npm,
    Openai,
    PrivateKey,
    Pypi,
    Slack,
    Stripe,
    UrlPassword,
}

impl Kind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::Assignment => "assignment",
            Self::Aws => "aws",
            Self::Extra => "extra",
            Self::Github => "github",
            Self::Gitlab => "gitlab",
            Self::Google => "google",
            Self::Jwt => "jwt",
            Self::Npm => "npm",
            Self::Openai => "openai",
            Self::PrivateKey => "private-key",
            Self::Pypi => "pypi",
            Self::Slack => "slack",
            Self::Stripe => "stripe",
            Self::UrlPassword => "url-password",
        }
    }
}

/// Some kinds.
#[derive(Debug, Clone, Deserialize)]
#[serde(transparent)]
pub(crate) struct Kinds(Vec<Kind>);

impl Kinds {
    pub(crate) fn has(&self, kind: Kind) -> bool {
        kind == Kind::Extra || self.0.contains(&kind)
    }
}
