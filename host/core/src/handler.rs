//! Who answers a server's requests for input (MCP: elicitation, sampling, roots).

use async_trait::async_trait;

use crate::json::{Json, Object};
use crate::model::ServerName;
use crate::upstream::InputKinds;

/// Answers input requests that passed the pipeline's checks. Runs in the caller; only kinds that it names are declared to servers.
#[async_trait]
pub trait Handler: Send + Sync {
    /// What this handler answers.
    fn kinds(&self) -> InputKinds;

    /// A server asks the user something. Text is cleaned, the schema and URL are checked; the answer is checked against the schema.
    async fn elicit(&self, server: &ServerName, elicitation: Elicitation) -> ElicitAnswer {
        let _ = (server, elicitation);
        ElicitAnswer::Decline
    }

    /// A server asks for a model's completion: the raw, capped parameters in, the raw result out; none refuses.
    async fn sample(&self, server: &ServerName, params: Json) -> Option<Json> {
        let _ = (server, params);
        None
    }

    /// A server asks for the roots: `file://` URIs with optional names; none refuses.
    async fn roots(&self, server: &ServerName) -> Option<Vec<Root>> {
        let _ = server;
        None
    }
}

/// What a server asks the user.
#[derive(Clone, Debug, PartialEq)]
pub enum Elicitation {
    /// To fill in a form.
    Form {
        /// The server's words, cleaned.
        message: String,
        /// A flat object schema of primitives.
        schema: Json,
    },
    /// To visit a URL. It was not opened, and must not be without consent.
    Url {
        /// The server's words, cleaned.
        message: String,
        /// An `https` (or loopback `http`) URL without user name or password.
        url: String,
    },
}

/// What the user said.
#[derive(Clone, Debug, PartialEq)]
pub enum ElicitAnswer {
    /// Yes, with the form's content; for a URL without.
    Accept(Object),
    /// No.
    Decline,
    /// Neither.
    Cancel,
}

/// One root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root {
    /// A `file://` URI.
    pub uri: String,
    /// A name to show.
    pub name: Option<String>,
}
