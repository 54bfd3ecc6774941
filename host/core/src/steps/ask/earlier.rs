//! Arguments that were approved before: an approver sees what is different this time.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use crate::digest::Digest;
use crate::model::{Arguments, Call};
use crate::run::Run;

/// Bytes of arguments that are remembered; when there are more, all are forgotten.
const MAX_REMEMBERED_BYTES: usize = 16 << 20;
/// What remembering costs besides, and a value's tree takes more than its text.
const OVERHEAD: usize = 8;

/// The last approved arguments by principal, server and tool, for as long as the process lives. Never those of another principal
/// (T21); nobody in particular has none.
#[derive(Default)]
pub(crate) struct Earlier(Mutex<Known>);

#[derive(Default)]
struct Known {
    arguments: HashMap<Digest, Arguments>,
    bytes: usize,
}

impl Earlier {
    pub(super) fn remember(&self, run: &Run<'_>, call: &Call) {
        if let Some(key) = key(run, call) {
            let bytes = OVERHEAD * (32 + call.arguments.canonical().len());
            let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if known.bytes + bytes > MAX_REMEMBERED_BYTES {
                *known = Known::default();
            }
            if bytes <= MAX_REMEMBERED_BYTES {
                known.bytes += bytes;
                known.arguments.insert(key, call.arguments.clone());
            }
        }
    }

    pub(super) fn recall(&self, run: &Run<'_>, call: &Call) -> Option<Arguments> {
        let key = key(run, call)?;
        self.0.lock().unwrap_or_else(PoisonError::into_inner).arguments.get(&key).cloned()
    }
}

fn key(run: &Run<'_>, call: &Call) -> Option<Digest> {
    let principal = run.options.principal.as_ref()?.to_string();
    let server = call.tool.server().digest.to_string();
    Some(Digest::of_parts([principal.as_str(), server.as_str(), call.tool.name()]))
}
