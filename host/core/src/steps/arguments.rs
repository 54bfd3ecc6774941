//! Step 5: arguments that the tool's schema does not take are never sent.

use std::time::Instant;

use crate::model::{Call, Error, Kind, Reason};
use crate::revision::Strictness;
use crate::run::Run;
use crate::schema::SchemaError;

/// Checks the final arguments, and that the output schema could be used: a call whose result could not be checked is not sent.
pub(crate) async fn check(run: &mut Run<'_>, call: &Call) -> Result<(), Error> {
    let since = Instant::now();
    let checked = checked(run, call).map_err(|error| into_error(&error));
    run.judged("arguments", since, checked)
}

fn checked(run: &Run<'_>, call: &Call) -> Result<(), SchemaError> {
    let validation = run.revision.validation();
    let schemas = &run.pipeline.schemas;
    if validation.arguments {
        schemas.get(call.tool.input_schema())?.check(call.arguments.value())?;
    }
    if let (Strictness::Strict, Some(schema)) = (validation.structured_content, call.tool.output_schema()) {
        schemas.get(schema)?;
    }
    Ok(())
}

fn into_error(error: &SchemaError) -> Error {
    let (reason, message) = match error {
        SchemaError::Unusable(_) => (Reason::SchemaUnusable, format!("the tool's definition is at fault: {error}")),
        SchemaError::TooCostly => (Reason::SchemaTooCostly, error.to_string()),
        SchemaError::Mismatch(_) => (Reason::SchemaMismatch, format!("the arguments do not fit the tool's schema: {error}")),
    };
    Error::new(Kind::InvalidArguments, reason, message)
}
