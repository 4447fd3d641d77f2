//! `cargo xtask sandbox`: builds the sandbox and becomes it.

use std::os::unix::process::CommandExt as _;
use std::process::Command;

use anyhow::{Context, Result};
use cosi_tests::sidecar::beside_us;

use crate::workspace::{cargo, root, run};

/// Builds the sandbox in a quiet way, and runs it in place of this process.
///
/// # Errors
/// If it does not build or start.
pub fn sandbox(arguments: &[String]) -> Result<()> {
    run(&mut cargo(["build", "-p", "cosi-sandbox", "--bins"]))?;
    // The commands that it tells a newcomer name files from here.
    let error = Command::new(beside_us("cosi-sandbox")).current_dir(root()).args(arguments).exec();
    Err(error).context("start cosi-sandbox")
}
