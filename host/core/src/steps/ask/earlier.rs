//! Arguments that were approved before: an approver sees what is different this time.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use crate::digest::Digest;
use crate::model::{Arguments, Call};
use crate::run::Run;

/// Principals and tools that are remembered; when there are more, all are forgotten.
const MAX_REMEMBERED: usize = 10_000;

/// The last approved arguments by principal, server and tool, for as long as the process lives. Never those of another principal
/// (T21); nobody in particular has none.
#[derive(Default)]
pub(crate) struct Earlier(Mutex<HashMap<Digest, Arguments>>);

impl Earlier {
    pub(super) fn remember(&self, run: &Run<'_>, call: &Call) {
        if let Some(key) = key(run, call) {
            let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if known.len() >= MAX_REMEMBERED {
                known.clear();
            }
            known.insert(key, call.arguments.clone());
        }
    }

    pub(super) fn recall(&self, run: &Run<'_>, call: &Call) -> Option<Arguments> {
        let key = key(run, call)?;
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&key).cloned()
    }
}

fn key(run: &Run<'_>, call: &Call) -> Option<Digest> {
    let principal = run.options.principal.as_ref()?.to_string();
    let server = call.tool.server().digest.to_string();
    Some(Digest::of_parts([principal.as_str(), server.as_str(), call.tool.name()]))
}
