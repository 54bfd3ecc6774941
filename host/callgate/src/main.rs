//! The `callgate` command.

mod cli;

use std::process::ExitCode;
use std::time::Duration;

/// The exit code of a command that was told to stop, as shells have it.
const INTERRUPTED: u8 = 130;

/// Waits for Ctrl-C or SIGTERM. What runs is dropped then, and takes its servers with it: they have process groups of their own, so
/// the terminal's signal does not reach them.
async fn interrupted() {
    let terminate = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate());
    match terminate {
        Ok(mut terminate) => {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = terminate.recv() => {}
            }
        }
        Err(_) => std::future::pending().await,
    }
}

fn main() -> ExitCode {
    let arguments = match cli::arguments() {
        Ok(arguments) => arguments,
        Err(code) => return code,
    };
    cli::log(&arguments);
    match tokio::runtime::Runtime::new() {
        Ok(runtime) => {
            let code = runtime.block_on(async {
                tokio::select! {
                    // First, so that it listens before anything is started.
                    biased;
                    () = interrupted() => ExitCode::from(INTERRUPTED),
                    code = cli::run(arguments) => code,
                }
            });
            // Ends what is left of servers. A question that nobody answered may still wait on the terminal; it must not hold the process.
            runtime.shutdown_timeout(Duration::from_secs(1));
            code
        }
        Err(error) => {
            eprintln!("callgate: the runtime cannot start: {error}");
            ExitCode::FAILURE
        }
    }
}
