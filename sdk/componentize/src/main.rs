//! Turns a guest's core module into a component.
//!
//! The module's own description of its interfaces (a custom section that the bindings left in it) decides what the
//! component imports and exports; the settings schema goes in beside it. The `name` section stays, so that a trap in
//! the plugin has readable frames.

mod schema;
mod summary;

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Parser;
use wit_component::ComponentEncoder;

/// Make a component of a core WebAssembly module.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// The core module that cargo built.
    module: PathBuf,
    /// Where the component goes. Left alone if it would not change.
    #[arg(short, long)]
    output: PathBuf,
    /// A JSON Schema of the plugin's settings, to be carried in the component.
    #[arg(long)]
    settings_schema: Option<PathBuf>,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let component = encode(&arguments)?;
    let changed = fs::read(&arguments.output).map_or(true, |old| old != component);
    if changed {
        write(&arguments.output, &component)?;
    }
    let name = arguments.output.file_stem().unwrap_or_default().to_string_lossy();
    let state = if changed { "" } else { "  (unchanged)" };
    eprintln!("{name:20} {}{state}", summary::of(&component)?);
    Ok(())
}

fn encode(arguments: &Arguments) -> Result<Vec<u8>> {
    let path = arguments.module.display();
    let module = fs::read(&arguments.module).with_context(|| format!("cannot read `{path}`"))?;
    let mut component = ComponentEncoder::default()
        .module(&module)
        .with_context(|| format!("`{path}` is no module that a component can be made of"))?
        .validate(true)
        .encode()
        .with_context(|| format!("cannot make a component of `{path}`"))?;
    if let Some(path) = &arguments.settings_schema {
        schema::append(&mut component, path)?;
    }
    Ok(component)
}

/// Writes beside the target and renames: whoever reads meanwhile sees the old component or the new one.
fn write(output: &PathBuf, component: &[u8]) -> Result<()> {
    if let Some(folder) = output.parent() {
        fs::create_dir_all(folder)?;
    }
    let unfinished = output.with_extension("wasm.new");
    fs::write(&unfinished, component)
        .and_then(|()| fs::rename(&unfinished, output))
        .with_context(|| format!("cannot write `{}`", output.display()))
}
