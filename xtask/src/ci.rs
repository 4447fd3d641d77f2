//! `cargo xtask ci`: every check that a change must pass.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

use crate::tally::Tally;
use crate::workspace::{cargo, run};
use crate::{codegen, demo, manifests, test, tidy};

/// Runs all steps, even if one fails, and prints what each took.
///
/// # Errors
/// If a step failed; the message names all that did.
pub fn ci() -> Result<()> {
    let mut steps = Steps::default();
    let mut tally = Tally::default();
    steps.run("format", || run(&mut cargo(["fmt", "--all", "--check"])));
    steps.run("tidy", tidy::tidy);
    steps.run("codegen", || codegen::codegen(true));
    steps.run("manifests", || manifests::manifests(true));
    steps.run("clippy", clippy);
    steps.run("docs", docs);
    steps.run("tests", || {
        let (numbers, result) = test::measure(&[]);
        tally = numbers;
        result
    });
    // Of what the tests have built: building it alone would compile many crates again.
    steps.run("demo", || demo::show(false, false));
    steps.run("demo --real", || demo::show(true, false));
    steps.summary();
    println!("\n{tally}");
    steps.judge()
}

fn clippy() -> Result<()> {
    run(&mut cargo(["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))
}

fn docs() -> Result<()> {
    run(cargo(["doc", "--workspace", "--no-deps"]).env("RUSTDOCFLAGS", "-D warnings"))
}

struct Step {
    name: &'static str,
    took: Duration,
    failed: bool,
}

#[derive(Default)]
struct Steps(Vec<Step>);

impl Steps {
    fn run(&mut self, name: &'static str, step: impl FnOnce() -> Result<()>) {
        println!("\n==> {name}");
        let start = Instant::now();
        let result = step();
        let took = start.elapsed();
        if let Err(error) = &result {
            eprintln!("{name} failed: {error:#}");
        }
        println!("<== {name}: {:.0} s", took.as_secs_f64());
        self.0.push(Step { name, took, failed: result.is_err() });
    }

    fn summary(&self) {
        let all: Duration = self.0.iter().map(|step| step.took).sum();
        println!("\n{:<12} {:>7}  result ({:.0} s in all)", "step", "seconds", all.as_secs_f64());
        for Step { name, took, failed } in &self.0 {
            println!("{name:<12} {:>7.0}  {}", took.as_secs_f64(), if *failed { "FAILED" } else { "ok" });
        }
    }

    fn judge(&self) -> Result<()> {
        let failed: Vec<_> = self.0.iter().filter(|step| step.failed).map(|step| step.name).collect();
        ensure!(failed.is_empty(), "failed: {}", failed.join(", "));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::bail;

    #[test]
    fn a_failed_step_stops_no_other_and_all_failed_ones_are_named() {
        let mut steps = Steps::default();
        steps.run("one", || bail!("no"));
        steps.run("two", || Ok(()));
        steps.run("three", || bail!("no"));
        assert_eq!(steps.0.len(), 3);
        assert_eq!(steps.judge().unwrap_err().to_string(), "failed: one, three");
    }

    #[test]
    fn all_is_well_if_no_step_failed() {
        let mut steps = Steps::default();
        steps.run("one", || Ok(()));
        assert!(steps.judge().is_ok());
    }
}
