//! `cosi-sandbox`: see `--help`.

use std::process::ExitCode;

use clap::Parser as _;
use cosi_sandbox::run;
use cosi_sandbox::settings::Settings;
use cosi_sidecar::chain;

#[tokio::main]
async fn main() -> ExitCode {
    // The only fault is that another provider is installed already, and then that one serves.
    let _ = rustls::crypto::ring::default_provider().install_default();
    match run(&Settings::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cosi-sandbox: {}", chain(&error));
            ExitCode::FAILURE
        }
    }
}
