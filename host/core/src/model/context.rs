//! What every extension point may see.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::digest::Fingerprint;
use crate::json::{Json, Object};

use super::{Arguments, CallId, Era, Principal, Reason, ServerName, Tool};

/// Values that the host program attaches to a call or client.
pub type Assigns = Arc<Object>;

/// A call's circumstances, the same for every extension point.
#[derive(Clone, Debug)]
pub struct Context {
    /// The call's id; none while tools are listed.
    pub call_id: Option<CallId>,
    /// The call's own time, milliseconds since the Unix epoch: taken once, so that a decision can be replayed.
    pub now_ms: u64,
    /// The server that the call goes to.
    pub server: ServerName,
    /// How the server speaks.
    pub era: Era,
    /// Who calls.
    pub principal: Option<Principal>,
    /// Servers whose output is in the turn that leads to this call (HB-3).
    pub taint: BTreeSet<String>,
    /// The call's assigns, else the client's; for a plugin only those that its entry lists (T21).
    pub assigns: Assigns,
    /// Whether an ask can reach an approver.
    pub has_approver: bool,
    /// Fingerprints approved for this tool and principal: the pinned one and those of live grants. Gathered in step 3.
    pub approved_fingerprints: Vec<Fingerprint>,
    /// What all plugins of this call together may still take.
    pub budget: PluginBudget,
}

/// Running time that all plugins of one logical call share. Clones share it too.
#[derive(Clone, Debug)]
pub struct PluginBudget(Arc<AtomicU64>);

impl PluginBudget {
    /// A budget of that much.
    #[must_use]
    pub fn new(total: Duration) -> Self {
        Self(Arc::new(AtomicU64::new(u64::try_from(total.as_micros()).unwrap_or(u64::MAX))))
    }

    /// What is left.
    #[must_use]
    pub fn left(&self) -> Duration {
        Duration::from_micros(self.0.load(Ordering::Relaxed))
    }

    /// Takes what a plugin used.
    pub fn spend(&self, used: Duration) {
        let used = u64::try_from(used.as_micros()).unwrap_or(u64::MAX);
        let _always_some = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| Some(left.saturating_sub(used)));
    }
}

impl Context {
    /// Whether the taint holds a server other than the tool's own and those ignored.
    #[must_use]
    pub fn is_tainted<'a>(&self, ignore: impl IntoIterator<Item = &'a str> + Clone) -> bool {
        self.taint.iter().any(|server| server != self.server.as_str() && !ignore.clone().into_iter().any(|other| other == server))
    }
}

/// The current call: all that hooks, predicates and the approver are about. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Call {
    /// The tool that is called.
    pub tool: Arc<Tool>,
    /// The arguments as they are now; after step 4, as they will be sent.
    pub arguments: Arguments,
    /// The circumstances.
    pub context: Arc<Context>,
}

/// Why the approver is asked.
#[derive(Clone, Debug)]
pub struct Question {
    /// The decision's reason.
    pub reason: Reason,
    /// The rule that decided, where one did.
    pub rule: Option<String>,
    /// Everything that makes this a call to ask about, the reason included, in the words of [`Cause`](super::Cause): what an approval
    /// for good is for.
    pub causes: BTreeSet<String>,
    /// What a pre-hook said when it asked for approval: plugin and message, as that plugin's words.
    pub hook_messages: Vec<(String, String)>,
    /// Arguments of the last call of this tool that was approved for this principal while this host runs.
    pub earlier_arguments: Option<Arguments>,
    /// For a changed definition: a JSON Patch from the approved one.
    pub definition_changes: Option<Json>,
    /// Until when an answer counts, milliseconds since the Unix epoch.
    pub expires_ms: u64,
    /// `_meta` that will be sent along, as JSON text; part of what is approved (T3).
    pub meta: Json,
}
