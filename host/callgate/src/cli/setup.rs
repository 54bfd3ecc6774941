//! From the command line to a host, a client and a store.

use std::path::PathBuf;
use std::sync::Arc;

use callgate::config::Config;
use callgate::core::handler::Handler;
use callgate::core::model::ServerName;
use callgate::core::store::{Baseline, BaselineKey, StoreError};
use callgate::store::SqliteStore;
use callgate::{Client, Host, HostOptions};

use super::answers::Answers;
use super::call::kinds;
use super::terminal::Terminal;
use super::{Failed, Global};

/// The configuration file: the one named, or the user's. Never one that happens to lie in the working folder (T35).
pub(crate) fn config_path(global: &Global) -> Result<PathBuf, Failed> {
    if let Some(path) = &global.config {
        return Ok(path.clone());
    }
    let folder = std::env::var_os("XDG_CONFIG_HOME").filter(|folder| !folder.is_empty()).map(PathBuf::from);
    let folder = folder.or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".config")));
    let folder =
        folder.ok_or_else(|| Failed::Usage("neither XDG_CONFIG_HOME nor HOME is set; name the configuration with --config".to_owned()))?;
    Ok(folder.join("callgate").join("callgate.toml"))
}

/// A host for the configuration.
pub(crate) fn host(global: &Global) -> Result<Host, Failed> {
    let config = Config::read(&config_path(global)?).map_err(|error| Failed::Config(error.to_string()))?;
    Ok(Host::new(config, HostOptions { dev: global.dev }))
}

/// A configured server by its name.
pub(crate) fn server(host: &Host, name: &str) -> Result<ServerName, Failed> {
    let servers = &host.config().servers;
    servers.keys().find(|known| known.as_str() == name).cloned().ok_or_else(|| {
        let known = servers.keys().map(ServerName::as_str).collect::<Vec<_>>().join("`, `");
        Failed::NotFound(format!("{}: there is no server `{name}`; there is `{known}`", host.config().file.display()))
    })
}

/// A client over one server.
pub(crate) async fn client(host: &Host, name: &ServerName, answers: Option<Arc<Answers>>) -> Result<Client, Failed> {
    let declared = kinds(answers.as_ref());
    let builder = host.pipeline(name, declared).await.map_err(|error| Failed::Config(error.to_string()))?;
    let builder = builder.prompter(Arc::new(Terminal { grant_ttl: host.config().ask.grant_ttl }));
    let builder = match answers {
        Some(answers) => builder.handler(answers as Arc<dyn Handler>),
        None => builder,
    };
    Ok(Client::new(builder.build()))
}

/// The store of grants and pins.
pub(crate) async fn store(host: &Host) -> Result<Arc<SqliteStore>, Failed> {
    host.store().await.map_err(store_failed)
}

/// What is approved for a server, and what it lists now.
pub(crate) async fn pins(host: &Host, server_name: &str) -> Result<(BaselineKey, Option<Baseline>, Baseline), Failed> {
    let name = server(host, server_name)?;
    let pipeline = host.pipeline(&name, kinds(None)).await.map_err(|error| Failed::Config(error.to_string()))?.build();
    let pins = pipeline.pins().await;
    close(host).await;
    Ok(pins?)
}

/// Ends every server, so that none outlives the command.
pub(crate) async fn close(host: &Host) {
    host.shutdown().await;
}

pub(crate) fn store_failed(error: StoreError) -> Failed {
    Failed::Other(error.to_string())
}
