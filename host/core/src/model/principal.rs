//! On whose behalf a call is made.

use std::fmt::{Display, Formatter};

/// Who calls, as an authenticator found it: two people with one name under two authenticators or issuers are two principals (T34).
///
/// Written as `authenticator:subject` or `authenticator:issuer:subject`, with `%` and `:` inside a part escaped, so that no two
/// principals share a text. A call without a principal has none; that is not the empty subject.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Principal {
    authenticator: String,
    issuer: Option<String>,
    subject: String,
}

impl Principal {
    /// A principal that `authenticator` found: `cli`, `stdio`, `jwt`, or the host program's own word.
    #[must_use]
    pub fn new(authenticator: impl Into<String>, subject: impl Into<String>) -> Self {
        Self { authenticator: authenticator.into(), issuer: None, subject: subject.into() }
    }

    /// The same, vouched for by an issuer.
    #[must_use]
    pub fn with_issuer(self, issuer: impl Into<String>) -> Self {
        Self { issuer: Some(issuer.into()), ..self }
    }

    /// The name under which the authenticator knows them.
    #[must_use]
    pub fn subject(&self) -> &str {
        &self.subject
    }
}

impl Display for Principal {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let escape = |part: &str| part.replace('%', "%25").replace(':', "%3A");
        write!(f, "{}:", escape(&self.authenticator))?;
        if let Some(issuer) = &self.issuer {
            write!(f, "{}:", escape(issuer))?;
        }
        f.write_str(&escape(&self.subject))
    }
}
