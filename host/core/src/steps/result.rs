//! Step 10: structured content of results that are no errors must fit the tool's output schema.

use std::time::Instant;

use crate::json::Json;
use crate::model::{Call, Error, Kind, Reason, Sent, ToolResult};
use crate::revision::Strictness;
use crate::run::Run;
use crate::schema::SchemaError;

use super::arguments::{check_in_time, compiled};

/// Checks a server's result. The call was sent: it is never sent again for this.
pub(crate) async fn check(run: &mut Run<'_>, call: &Call, result: &ToolResult) -> Result<(), Error> {
    let since = Instant::now();
    let checked = checked(run, call, result).await;
    if let (Strictness::Warn, Err(error)) = (run.revision.validation().structured_content, &checked) {
        run.step_with("result", "warned", since, Some(error.message.clone()));
        tracing::warn!(target: "callgate::result", tool = call.tool.name(), reason = error.reason.as_str(), "structured content does not fit");
        return Ok(());
    }
    run.judged("result", since, checked)
}

/// Checks a result that a hook changed: what it made must fit too, and an error result keeps no unchecked structured content (T19).
pub(crate) async fn check_replaced(run: &Run<'_>, call: &Call, result: &ToolResult) -> Result<(), Error> {
    match run.revision.validation().structured_content {
        Strictness::Strict => checked(run, call, result).await,
        _ => Ok(()),
    }
}

async fn checked(run: &Run<'_>, call: &Call, result: &ToolResult) -> Result<(), Error> {
    if run.revision.validation().structured_content == Strictness::Off || result.is_error() {
        return Ok(());
    }
    let Some(schema) = call.tool.output_schema() else { return Ok(()) };
    if result.structured_content().is_none() {
        return Err(invalid(Reason::NoStructuredContent, "the result lacks the structured content that the tool's schema asks for"));
    }
    let checked = match compiled(run, schema).await {
        Ok(schema) => check_in_time(run, schema, result.clone(), content).await,
        Err(error) => Err(error),
    };
    checked.map_err(|error| match &error {
        SchemaError::TooCostly => invalid(Reason::SchemaTooCostly, &error.to_string()),
        SchemaError::Unusable(_) => invalid(Reason::SchemaUnusable, &error.to_string()),
        SchemaError::Mismatch(_) => invalid(Reason::SchemaMismatch, &format!("the result does not fit the tool's schema: {error}")),
    })
}

fn content(result: &ToolResult) -> &Json {
    result.structured_content().unwrap_or(&Json::Null)
}

fn invalid(reason: Reason, message: &str) -> Error {
    Error::new(Kind::InvalidResult, reason, message).with_sent(Sent::Yes)
}
