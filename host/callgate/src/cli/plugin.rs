//! `callgate plugin`

use std::path::PathBuf;

use callgate::core::json::Json;
use callgate::core::shape::show_text;
use callgate::wasm::{Inspection, inspect};
use clap::Subcommand;

use super::{Failed, Format, Global, output};

/// Plugins.
#[derive(Debug, Subcommand)]
pub(crate) enum Plugin {
    /// Says what a component is and may do. Runs nothing of it.
    Inspect {
        /// The component.
        file: PathBuf,
    },
}

impl Plugin {
    pub(crate) fn run(self, global: &Global) -> Result<(), Failed> {
        let Plugin::Inspect { file } = self;
        let bytes =
            callgate::read_component(&file).map_err(|error| Failed::NotFound(format!("{} cannot be read: {error}", file.display())))?;
        let inspection = inspect(&bytes).map_err(|error| Failed::Config(format!("{}: {error}", file.display())))?;
        if global.format == Format::Json {
            output::line(&to_json(&inspection))
        } else {
            print(&inspection)
        }
        match inspection.problems.first() {
            None => Ok(()),
            Some(problem) => Err(Failed::Inspected(format!("{} would not load: {problem}", file.display()))),
        }
    }
}

fn print(inspection: &Inspection) {
    let row = |label: &str, text: String| output::line(&format!("{label:<14}{}", show_text(&text)));
    let kinds: Vec<_> = inspection.kinds.iter().map(ToString::to_string).collect();
    row("sha256", inspection.digest.to_string());
    row("size", format!("{} bytes, {}", inspection.size, inspection.class.as_str()));
    row("kinds", kinds.join(", "));
    row("contract", inspection.version.clone().unwrap_or_else(|| "none".to_owned()));
    for import in &inspection.imports {
        let words = match import.interface {
            None => "is refused: not part of the contract".to_owned(),
            Some(_) if import.words.is_empty() => "nothing by itself: names of types".to_owned(),
            Some(_) => import.words.join("; "),
        };
        row("permission", format!("{words}  ({})", import.name));
    }
    for (kind, limits) in &inspection.limits {
        row("limits", format!("as {kind}: {} fuel, {} ms, {} MiB", limits.fuel, limits.deadline.as_millis(), limits.memory >> 20));
    }
    for export in &inspection.extra_exports {
        row("never bound", export.clone());
    }
    for producer in &inspection.producers {
        row("made by", producer.clone());
    }
    if let Some(schema) = &inspection.settings_schema {
        row("settings", schema.to_string());
    }
}

fn to_json(inspection: &Inspection) -> Json {
    let list = |texts: Vec<String>| Json::Array(texts.into_iter().map(Json::from).collect());
    let import = |import: &callgate::wasm::Import| -> Json {
        let words = import.words.iter().map(|word| (*word).to_owned()).collect();
        [("name", Json::from(import.name.as_str())), ("functions", list(import.functions.clone())), ("words", list(words))]
            .into_iter()
            .collect()
    };
    [
        ("version", Json::from(1u64)),
        ("sha256", inspection.digest.to_string().into()),
        ("size", u64::try_from(inspection.size).unwrap_or(u64::MAX).into()),
        ("class", inspection.class.as_str().into()),
        ("kinds", list(inspection.kinds.iter().map(ToString::to_string).collect())),
        ("contract", inspection.version.clone().into()),
        ("imports", Json::Array(inspection.imports.iter().map(import).collect())),
        ("extra_exports", list(inspection.extra_exports.clone())),
        ("producers", list(inspection.producers.clone())),
        ("settings_schema", inspection.settings_schema.clone().into()),
        ("problems", list(inspection.problems.iter().map(ToString::to_string).collect())),
    ]
    .into_iter()
    .collect()
}
