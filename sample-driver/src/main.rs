//! `cosi-sample-driver`: see `--help`.

use std::process::ExitCode;

use clap::Parser as _;
use cosi_sample_driver::{chain::chain, log, run, settings::Settings};
use tokio::signal::unix::{SignalKind, signal};

#[tokio::main]
async fn main() -> ExitCode {
    let settings = Settings::parse();
    log::start(&settings);
    // Before anything is made, so that a signal finds somebody who cleans up.
    let (mut terminate, mut interrupt) =
        match (signal(SignalKind::terminate()), signal(SignalKind::interrupt())) {
            (Ok(terminate), Ok(interrupt)) => (terminate, interrupt),
            (Err(e), _) | (_, Err(e)) => return fail(&e),
        };
    let stop = async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    };
    match run::run(&settings, stop).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => fail(&e),
    }
}

/// The reason is the last line that the process prints (C28).
fn fail(error: &dyn std::error::Error) -> ExitCode {
    eprintln!("cosi-sample-driver: {}", chain(error));
    ExitCode::FAILURE
}
