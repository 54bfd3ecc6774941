//! The error with which a call ended.

use serde_json::Value;

use crate::Delivery;
#[cfg(target_arch = "wasm32")]
use crate::bindings::imports::callgate::plugin::failure as host;
use crate::source::{from, read};

/// The error with which the call ended. Only its message and data can be changed.
#[derive(Debug, Clone)]
pub struct Failure {
    #[cfg(not(target_arch = "wasm32"))]
    pub(crate) data: crate::testing::FailureData,
}

impl Failure {
    /// `hook`, `invalid_arguments`, `denied`, `transport`, `upstream` or `invalid_result`; more words may come.
    pub fn kind(&self) -> String {
        from!(host::kind(), self.data.kind.clone())
    }

    /// A stable snake_case word, such as `no_rule`.
    pub fn reason(&self) -> String {
        from!(host::reason(), self.data.reason.clone())
    }

    /// The sentence for people. It may hold a server's own text.
    pub fn message(&self) -> String {
        from!(host::message(), self.data.message.clone())
    }

    /// What programs can use, if anything.
    pub fn data(&self) -> Option<Value> {
        self.data_text().map(|text| read("the error's data", &text))
    }

    /// The same as JSON text.
    pub fn data_text(&self) -> Option<String> {
        from!(host::data(), self.data.data.clone())
    }

    /// Whether the call may have had its effect.
    pub fn sent(&self) -> Delivery {
        from!(host::sent(), self.data.sent)
    }
}
