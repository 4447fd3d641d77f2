//! `cosi-conformance`: see `--help`.

use std::process::ExitCode;

#[tokio::main]
async fn main() -> ExitCode {
    cosi_conformance::cli::main().await
}
