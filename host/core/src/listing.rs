//! What a client may list: tools that its filters leave visible, and instructions cleaned for a model.

use std::sync::Arc;

use crate::model::{CallOptions, Context, Error, PluginBudget, Tool};
use crate::pipeline::Pipeline;
use crate::run::now_ms;
use crate::shape::clean_text;
use crate::steps::{fingerprint, resolve, select};
use crate::store::{Baseline, BaselineKey};

/// Characters of instructions that a model sees.
const MAX_INSTRUCTION_CHARS: usize = 8_000;

impl Pipeline {
    /// The tools that exist for a caller, read anew. Filters run once per tool.
    ///
    /// # Errors
    /// The server cannot be reached, or its listing is over a cap: never a partial list.
    pub async fn list_tools(&self, options: &CallOptions) -> Result<Vec<Arc<Tool>>, Error> {
        self.catalog.forget().await;
        self.cached_tools(options).await
    }

    /// As [`Pipeline::list_tools`], from the live listing where there is one: what a call would be resolved from.
    ///
    /// # Errors
    /// As [`Pipeline::list_tools`].
    pub async fn cached_tools(&self, options: &CallOptions) -> Result<Vec<Arc<Tool>>, Error> {
        let revision = self.revision();
        let listing = resolve::listing(self, &revision).await?;
        let context = Context {
            call_id: None,
            now_ms: now_ms(),
            server: self.upstream.identity().name.clone(),
            era: listing.connection.era(),
            principal: options.principal.clone(),
            taint: options.taint.clone(),
            assigns: options.assigns.clone().unwrap_or_else(|| self.assigns.clone()),
            has_approver: revision.approver.is_some(),
            approved_fingerprints: Vec::new(),
            budget: PluginBudget::new(revision.send.plugin_budget),
        };
        let tools: Vec<_> = listing.tools.values().cloned().collect();
        let (visible, _) = select::filter(revision, tools.clone(), Arc::new(context)).await;
        Ok(tools.into_iter().zip(visible).filter_map(|(tool, visible)| visible.then_some(tool)).collect())
    }

    /// Every tool of the server, hidden ones included, read anew: for the operator, never for a caller.
    ///
    /// # Errors
    /// As [`Pipeline::list_tools`].
    pub async fn list_all_tools(&self) -> Result<Vec<Arc<Tool>>, Error> {
        self.catalog.forget().await;
        let listing = resolve::listing(self, &self.revision()).await?;
        Ok(listing.tools.values().cloned().collect())
    }

    /// What stands in the store as approved, and what the server lists now: for showing and accepting changes.
    ///
    /// # Errors
    /// The server or the store cannot answer.
    pub async fn pins(&self) -> Result<(BaselineKey, Option<Baseline>, Baseline), Error> {
        let (listing, _) = self.catalog.listing(&*self.upstream).await?;
        let key = fingerprint::key(self, &*listing.connection);
        let baselines = self.pins.baselines(&self.upstream.identity()).await.map_err(|error| fingerprint::store_failed(&error))?;
        let listed = fingerprint::baseline_of(&listing);
        Ok((key.clone(), baselines.standing(&key, &listed), listed))
    }

    /// The server's instructions, cleaned and capped for a model's context; none where it gave none.
    ///
    /// # Errors
    /// The server cannot be reached.
    pub async fn instructions_for_llm(&self) -> Result<Option<String>, Error> {
        let instructions = self.upstream.connect().await?.instructions();
        Ok(instructions.map(|text| clean_text(&text).text.chars().take(MAX_INSTRUCTION_CHARS).collect()))
    }
}
