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
    /// Show the main job and the worst moment, with real processes
    Demo {
        /// On a real Kubernetes API server, which is built with Go the first time, instead of the embedded one
        #[arg(long)]
        real: bool,
        /// Leave everything running until Ctrl-C, and print how to reach it
        #[arg(long)]
        keep: bool,
    },
    /// Run API server, controller, sidecar and driver in one process to try things out; needs no cluster
    Sandbox {
        /// Passed on to cosi-sandbox; `cargo xtask sandbox --help` lists what there is
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Look for schedules of faults that break an invariant, in virtual time
    #[command(disable_help_flag = true)]
    Sim {
        /// Passed on to cosi-simulation; `cargo xtask sim --help` lists what there is
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Keep the sandbox busy with users who come and go, and watch its memory
    Soak {
        /// How long
        #[arg(long, default_value_t = 60)]
        minutes: u32,
        /// How many users there are at a time
        #[arg(long, default_value_t = 16)]
        users: u32,
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
    /// Follow the guide for driver authors to the letter, up to a driver that passes the conformance suite, and time it
    Newcomer,
    /// Check the house rules that neither the compiler nor clippy knows
    Tidy,
    /// Generate the wire types from proto/sigs/k8s/io/cosi/v1alpha2/cosi.proto
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
        Command::Demo { real, keep } => crate::demo::demo(real, keep),
        Command::Sandbox { arguments } => crate::sandbox::sandbox(&arguments),
        Command::Sim { arguments } => crate::sim::sim(&arguments),
        Command::Soak { minutes, users } => crate::soak::soak(minutes, users),
        Command::Bench { buckets, check } => crate::bench::bench(buckets, check),
        Command::Newcomer => crate::newcomer::newcomer(),
        Command::Tidy => crate::tidy::tidy(),
        Command::Codegen(Check { check }) => crate::codegen::codegen(check),
        Command::Manifests(Check { check }) => crate::manifests::manifests(check),
    }
}
