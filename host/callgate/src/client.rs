//! A client over one upstream: what a host program calls instead of its MCP client.

use std::sync::Arc;

use callgate_core::json::Json;
use callgate_core::model::{Arguments, ArgumentsError, CallOptions, Error, Reply, Tool, ToolCall};
use callgate_core::pipeline::Pipeline;
use callgate_core::revision::Revision;

/// Governed access to one MCP server.
///
/// Every call passes the pipeline that the client was made with. `Client` is cheap to clone; clones share the connection.
#[derive(Clone)]
pub struct Client(Arc<Pipeline>);

impl Client {
    /// A client over a pipeline.
    #[must_use]
    pub fn new(pipeline: Pipeline) -> Self {
        Self(Arc::new(pipeline))
    }

    /// Calls a tool.
    ///
    /// # Errors
    /// Whatever keeps the call from a result, the arguments' own faults included (kind `invalid_arguments`, before any hook).
    pub async fn call_tool(&self, name: &str, arguments: impl ToArguments, options: CallOptions) -> Result<Reply, Error> {
        let arguments = arguments.to_arguments()?;
        self.0.run(ToolCall::new(name, arguments).with(options)).await
    }

    /// The tools that exist for a caller of these options, read anew.
    ///
    /// # Errors
    /// The server cannot be reached, or its listing is over a cap.
    pub async fn list_tools(&self, options: &CallOptions) -> Result<Vec<Arc<Tool>>, Error> {
        self.0.list_tools(options).await
    }

    /// Every tool of the server, read anew, hidden ones included: for the operator.
    ///
    /// # Errors
    /// As [`Client::list_tools`].
    pub async fn list_all_tools(&self) -> Result<Vec<Arc<Tool>>, Error> {
        self.0.list_all_tools().await
    }

    /// The tools of the live listing that exist for a caller, listing first if there is none.
    ///
    /// # Errors
    /// As [`Client::list_tools`].
    pub async fn cached_tools(&self, options: &CallOptions) -> Result<Vec<Arc<Tool>>, Error> {
        self.0.cached_tools(options).await
    }

    /// The server's instructions, cleaned and capped for a model's context.
    ///
    /// # Errors
    /// The server cannot be reached.
    pub async fn instructions_for_llm(&self) -> Result<Option<String>, Error> {
        self.0.instructions_for_llm().await
    }

    /// Replaces policy, hooks and options for later calls.
    pub fn swap(&self, revision: Revision) {
        self.0.swap(revision);
    }

    /// The pipeline, for code that already holds a tool call or a resolved tool: a hub, or an adapter's loop.
    #[must_use]
    pub fn pipeline(&self) -> &Pipeline {
        &self.0
    }
}

/// What can be a call's arguments: they are read strictly, once.
pub trait ToArguments {
    /// The arguments.
    ///
    /// # Errors
    /// See [`ArgumentsError`].
    fn to_arguments(self) -> Result<Arguments, ArgumentsError>;
}

impl ToArguments for Arguments {
    fn to_arguments(self) -> Result<Arguments, ArgumentsError> {
        Ok(self)
    }
}

impl ToArguments for &str {
    fn to_arguments(self) -> Result<Arguments, ArgumentsError> {
        Arguments::parse(self)
    }
}

impl ToArguments for Json {
    fn to_arguments(self) -> Result<Arguments, ArgumentsError> {
        Arguments::from_json(self)
    }
}

impl ToArguments for serde_json::Value {
    fn to_arguments(self) -> Result<Arguments, ArgumentsError> {
        Arguments::try_from(self)
    }
}
