//! `cargo xtask …`: see `cargo xtask --help`.

use anyhow::Result;
use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Everything that is run in this repository", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run all tests, on a real Kubernetes API server started for the run
    Test {
        /// Passed on to `cargo test`; with `-p CRATE` only that crate is tested
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Run every check that a change must pass, tests included
    Ci,
    /// Check the house rules that neither the compiler nor clippy knows
    Tidy,
    /// Generate the wire types from proto/proto/cosi.proto
    Codegen(Check),
    /// Generate deploy/crds/ from the types in api/
    Manifests(Check),
}

#[derive(clap::Args)]
struct Check {
    /// Change nothing; fail if what is committed is not current
    #[arg(long)]
    check: bool,
}

fn main() -> Result<()> {
    cosi_tests::crypto();
    match Cli::parse().command {
        Command::Test { arguments } => xtask::test::test(&arguments),
        Command::Ci => xtask::ci::ci(),
        Command::Tidy => xtask::tidy::tidy(),
        Command::Codegen(Check { check }) => xtask::codegen::codegen(check),
        Command::Manifests(Check { check }) => xtask::manifests::manifests(check),
    }
}
