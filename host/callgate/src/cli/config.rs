//! `callgate config`

use callgate::config::{self, raw};
use callgate::core::json::Json;
use clap::Subcommand;

use super::{Failed, Format, Global, output, setup};

/// The configuration.
#[derive(Debug, Subcommand)]
pub(crate) enum Config {
    /// Reads the configuration and its plugins, and says what is wrong or doubtful. Starts no server.
    Check,
    /// Prints the JSON Schema of the configuration.
    Schema,
}

impl Config {
    pub(crate) fn run(self, global: &Global) -> Result<(), Failed> {
        match self {
            Config::Schema => {
                let schema = schemars::schema_for!(raw::Config);
                let text = serde_json::to_string_pretty(&schema).map_err(|error| Failed::Other(error.to_string()))?;
                output::line(&text);
                Ok(())
            }
            Config::Check => {
                let host = setup::host(global)?;
                host.revision().map_err(|error| Failed::Config(error.to_string()))?;
                let warnings = config::warnings(host.config());
                if global.format == Format::Json {
                    let warnings: Vec<Json> = warnings.into_iter().map(Json::from).collect();
                    let body: Json =
                        [("version", Json::from(1u64)), ("ok", true.into()), ("warnings", warnings.into())].into_iter().collect();
                    output::line(&body);
                } else {
                    for warning in &warnings {
                        output::line(&format!("warning: {warning}"));
                    }
                    output::line(&format!("{}: ok, revision {}", host.config().file.display(), host.config().revision));
                }
                Ok(())
            }
        }
    }
}
