//! Step 2: a tool that a filter hides fails exactly like an unknown one (PO-7).

use std::sync::Arc;
use std::time::Instant;

use crate::extension::Visibility;
use crate::model::{Context, Error, Metered, Tool};
use crate::revision::Revision;
use crate::run::{Ran, Run, guard, work};

/// Passes if every filter says that the tool is visible.
pub(crate) async fn select(run: &mut Run<'_>, name: &str, resolved: &(Arc<Tool>, Context)) -> Result<(), Error> {
    let since = Instant::now();
    let (tool, context) = resolved;
    let (revision, tool, context) = (run.revision.clone(), tool.clone(), Arc::new(context.clone()));
    let (visible, ran) = filter(revision, vec![tool], context).await;
    run.ran("select", ran);
    if visible.first() == Some(&true) {
        run.step("select", "visible", since);
        Ok(())
    } else {
        run.step("select", "hidden", since);
        Err(Error::unknown_tool(name))
    }
}

/// Which of these tools are visible. A filter that fails hides; all filters are asked for each tool, so that what hid it cannot be
/// told from the time it took.
pub(crate) async fn filter(revision: Arc<Revision>, tools: Vec<Arc<Tool>>, context: Arc<Context>) -> (Vec<bool>, Vec<Ran>) {
    let hidden = vec![false; tools.len()];
    let needs_worker = revision.filters.iter().any(|entry| entry.extension.needs_worker());
    let wall_clock = revision.send.plugin_wall_clock;
    let judged = work(needs_worker, wall_clock, move || {
        let mut ran = Vec::new();
        let visible = tools.iter().map(|tool| is_visible(&revision, tool, &context, &mut ran)).collect();
        (visible, ran)
    });
    judged.await.unwrap_or((hidden, Vec::new()))
}

fn is_visible(revision: &Revision, tool: &Arc<Tool>, context: &Arc<Context>, ran: &mut Vec<Ran>) -> bool {
    let mut visible = true;
    for entry in revision.filters.iter().filter(|entry| entry.scope.concerns(context.server.as_str(), tool.name())) {
        let since = Instant::now();
        let context = entry.assigns.narrow(context);
        let Metered { answer, fuel, note } = guard(|| entry.extension.visible(tool, &context));
        visible &= answer == Ok(Visibility::Visible);
        let verdict = answer.map(|answer| if answer == Visibility::Visible { "visible" } else { "hidden" });
        ran.push(Ran { plugin: entry.name.clone(), verdict, fuel, note, duration: since.elapsed() });
    }
    visible
}
