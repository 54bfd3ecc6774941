//! Step 12: shaping for a model, where the call asks for it (PI-2).

use std::time::Instant;

use crate::model::{Reply, Shape, ToolResult};
use crate::run::Run;

/// The reply in the form that the call asked for.
pub(crate) fn shape(run: &mut Run<'_>, result: ToolResult) -> Reply {
    if run.options.shape == Shape::Raw {
        return Reply::Raw(result);
    }
    let since = Instant::now();
    let server = run.pipeline.upstream.identity();
    let shaped = crate::shape::shape_cleaned(&result, &server.name, run.revision.shape.max_bytes, std::mem::take(&mut run.cleaned));
    let provenance = shaped.provenance();
    let changed = provenance.truncated || !provenance.flags.is_empty();
    let note: Vec<_> = provenance.flags.iter().map(crate::shape::Flag::as_str).collect();
    run.step_with("shape", if changed { "changed" } else { "unchanged" }, since, (!note.is_empty()).then(|| note.join(", ")));
    Reply::Shaped(shaped)
}
