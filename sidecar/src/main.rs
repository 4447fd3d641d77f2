//! Entry point: settings, logging, run, exit code. The last line of the log is the reason for a failure (C28).

use std::process::ExitCode;

use cosi_sidecar::settings::Settings;
use cosi_sidecar::{chain, logging, run};

fn main() -> ExitCode {
    // The only fault is that another provider is installed already, and then that one serves.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let settings = Settings::from_command_line();
    if let Err(error) = logging::init(&settings) {
        eprintln!("cosi-sidecar: {}", chain(&error));
        return ExitCode::from(2);
    }
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            tracing::error!("cannot start the async runtime: {error}");
            return ExitCode::FAILURE;
        }
    };
    let result = runtime.block_on(run(settings));
    // A call that hangs must not keep the process from ending.
    runtime.shutdown_background();
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!("stopped: {}", chain(&error));
            ExitCode::FAILURE
        }
    }
}
