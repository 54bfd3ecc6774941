//! The `callgate` command.

mod cli;

use std::process::ExitCode;
use std::time::Duration;

fn main() -> ExitCode {
    let arguments = match cli::arguments() {
        Ok(arguments) => arguments,
        Err(code) => return code,
    };
    cli::log(&arguments);
    match tokio::runtime::Runtime::new() {
        Ok(runtime) => {
            let code = runtime.block_on(cli::run(arguments));
            // Ends what is left of servers. A question that nobody answered may still wait on the terminal; it must not hold the process.
            runtime.shutdown_timeout(Duration::from_secs(1));
            code
        }
        Err(error) => {
            cli::say(&format!("callgate: the runtime cannot start: {error}"));
            ExitCode::FAILURE
        }
    }
}
