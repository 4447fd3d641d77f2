//! `cargo xtask …`: see `cargo xtask --help`.

use std::process::ExitCode;

fn main() -> ExitCode {
    cosi_tests::crypto();
    match xtask::cli::run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Not by returning it: that would print a backtrace, too, where one is asked for.
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
