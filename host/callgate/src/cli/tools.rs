//! `callgate tools`

use callgate::core::json::Json;
use callgate::core::model::{CallOptions, Hint, Principal, Tool};
use callgate::core::shape::show_text;
use clap::Args;

use super::{Failed, Format, Global, output, setup};

/// Lists a server's tools, as a caller would see them.
#[derive(Debug, Args)]
pub(crate) struct Tools {
    /// The server, as the configuration names it.
    server: String,
    /// As this principal sees them.
    #[arg(long, value_name = "NAME")]
    principal: Option<String>,
    /// Hidden ones, too.
    #[arg(long)]
    all: bool,
}

impl Tools {
    pub(crate) async fn run(self, global: &Global) -> Result<(), Failed> {
        let host = setup::host(global)?;
        let name = setup::server(&host, &self.server)?;
        let client = setup::client(&host, &name, None).await?;
        let principal = self.principal.as_ref().map(|name| Principal::new("cli", name));
        let listed = if self.all {
            client.list_all_tools().await
        } else {
            client.list_tools(&CallOptions { principal, ..CallOptions::default() }).await
        };
        setup::close(&host).await;
        let tools = listed?;
        if global.format == Format::Json {
            let tools: Vec<Json> = tools.iter().map(|tool| entry(tool)).collect();
            let body: Json = [("version", Json::from(1u64)), ("server", self.server.into()), ("tools", tools.into())].into_iter().collect();
            output::line(&body);
        } else {
            for tool in &tools {
                let hints: Vec<_> = Hint::ALL.into_iter().filter_map(|hint| said(tool, hint)).collect();
                let description = tool.definition().get("description").and_then(Json::as_str).unwrap_or_default();
                let description: String = show_text(description.lines().next().unwrap_or_default()).chars().take(100).collect();
                output::line(&format!("{:<32}  {:<24}  {description}", tool.name(), hints.join(",")));
            }
        }
        Ok(())
    }
}

/// A hint that the server gives; with a question mark where it does not count, because the server is not trusted (T9).
fn said(tool: &Tool, hint: Hint) -> Option<String> {
    let declared = tool.declared(hint)?;
    let doubt = if tool.hint(hint) == declared { "" } else { "?" };
    declared.then(|| format!("{}{doubt}", hint.name()))
}

fn entry(tool: &Tool) -> Json {
    [("name", Json::from(tool.name())), ("fingerprint", tool.fingerprint().to_string().into()), ("definition", tool.definition().clone())]
        .into_iter()
        .collect()
}
