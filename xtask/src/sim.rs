//! `cargo xtask sim`: builds the simulation, and becomes it.

use std::os::unix::process::CommandExt as _;

use anyhow::{Context, Result};
use jiff::Zoned;

use crate::machine;
use crate::workspace::{cargo, run};

const SIMULATION: [&str; 3] = ["--package=cosi-simulation", "--bin=cosi-simulation", "--quiet"];

/// Builds the simulation, and runs it in place of this process.
///
/// # Errors
/// If it does not build or start.
pub fn sim(arguments: &[String]) -> Result<()> {
    // The million takes longer than a build that makes it faster by a quarter.
    let profile = arguments.iter().any(|argument| argument == "--full").then_some("--release");
    run(cargo(["build"]).args(SIMULATION).args(profile))?;
    eprintln!("{}, {}", Zoned::now().date(), machine::description());
    let error = cargo(["run"]).args(SIMULATION).args(profile).arg("--").args(arguments).exec();
    Err(error).context("start cosi-simulation")
}
