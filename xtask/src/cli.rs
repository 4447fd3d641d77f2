//! The command line of `cargo xtask`.

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
    /// Show the main job and the worst moment on a real Kubernetes API server
    Demo {
        /// Leave everything running until Ctrl-C, and print how to reach it
        #[arg(long)]
        keep: bool,
    },
    /// Measure speed and memory of the sidecar against a real API server
    Bench {
        /// How many Buckets in all
        #[arg(long, default_value_t = 10_000)]
        buckets: u32,
        /// Fail if a number is worse than expected
        #[arg(long)]
        check: bool,
    },
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

/// Does what the command line says.
///
/// # Errors
/// Whatever the command's own are.
pub fn run() -> Result<()> {
    match Cli::parse().command {
        Command::Test { arguments } => crate::test::test(&arguments),
        Command::Ci => crate::ci::ci(),
        Command::Demo { keep } => crate::demo::demo(keep),
        Command::Bench { buckets, check } => crate::bench::bench(buckets, check),
        Command::Tidy => crate::tidy::tidy(),
        Command::Codegen(Check { check }) => crate::codegen::codegen(check),
        Command::Manifests(Check { check }) => crate::manifests::manifests(check),
    }
}
