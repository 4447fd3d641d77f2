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
    run(cargo(["build"]).args(SIMULATION))?;
    eprintln!("{}, {}", Zoned::now().date(), machine::description());
    let error = cargo(["run"]).args(SIMULATION).arg("--").args(arguments).exec();
    Err(error).context("start cosi-simulation")
}
