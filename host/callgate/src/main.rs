//! The `callgate` command.

mod cli;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let arguments = cli::Arguments::parse();
    cli::log(&arguments);
    match tokio::runtime::Runtime::new() {
        Ok(runtime) => {
            let code = runtime.block_on(cli::run(arguments));
            // A question that nobody answered may still wait on the terminal; it must not hold the process.
            runtime.shutdown_background();
            code
        }
        Err(error) => {
            eprintln!("callgate: the runtime cannot start: {error}");
            ExitCode::FAILURE
        }
    }
}
