//! Step 5: arguments that the tool's schema does not take are never sent.

use std::sync::Arc;
use std::time::Instant;

use crate::json::Json;
use crate::model::{Call, Error, Kind, Reason};
use crate::revision::Strictness;
use crate::run::{Run, work};
use crate::schema::{Schema, SchemaError};

/// Checks the final arguments, and that the output schema could be used: a call whose result could not be checked is not sent.
pub(crate) async fn check(run: &mut Run<'_>, call: &Call) -> Result<(), Error> {
    let since = Instant::now();
    let checked = checked(run, call).await.map_err(|error| into_error(&error));
    run.judged("arguments", since, checked)
}

async fn checked(run: &Run<'_>, call: &Call) -> Result<(), SchemaError> {
    let validation = run.revision.validation();
    if validation.arguments {
        let schema = compiled(run, call.tool.input_schema()).await?;
        check_in_time(run, schema, call.arguments.clone(), |arguments| arguments.value()).await?;
    }
    if let (Strictness::Strict, Some(schema)) = (validation.structured_content, call.tool.output_schema()) {
        compiled(run, schema).await?;
    }
    Ok(())
}

/// A schema, compiled where that holds up no other call, and no longer than plugins may take.
pub(super) async fn compiled(run: &Run<'_>, schema: &Json) -> Result<Arc<Schema>, SchemaError> {
    let schemas = run.pipeline.schemas.clone();
    if let Some(known) = schemas.known(schema) {
        return Ok(known);
    }
    let schema = schema.clone();
    work(true, run.revision.send.plugin_wall_clock, move || schemas.get(&schema)).await.unwrap_or(Err(SchemaError::TooCostly))
}

/// Checks a part of something against a schema: right here if that is quickly done, else where it holds up no other call, and no
/// longer than plugins may take.
pub(super) async fn check_in_time<T: Send + 'static>(
    run: &Run<'_>,
    schema: Arc<Schema>,
    whole: T,
    part: impl Fn(&T) -> &Json + Send + 'static,
) -> Result<(), SchemaError> {
    if schema.is_quick(part(&whole)) {
        return schema.check(part(&whole));
    }
    let job = move || schema.check(part(&whole));
    work(true, run.revision.send.plugin_wall_clock, job).await.unwrap_or(Err(SchemaError::TooCostly))
}

fn into_error(error: &SchemaError) -> Error {
    let (reason, message) = match error {
        SchemaError::Unusable(_) => (Reason::SchemaUnusable, format!("the tool's definition is at fault: {error}")),
        SchemaError::TooCostly => (Reason::SchemaTooCostly, error.to_string()),
        SchemaError::Mismatch(_) => (Reason::SchemaMismatch, format!("the arguments do not fit the tool's schema: {error}")),
    };
    Error::new(Kind::InvalidArguments, reason, message)
}
