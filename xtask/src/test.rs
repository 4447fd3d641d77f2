//! `cargo xtask test`: all tests, on one Kubernetes API server.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use cosi_tests::devcluster::{self, DevCluster, StartError, TEST_KUBECONFIG};
use cosi_tests::skip::SKIP_LOG;

use crate::tally::Tally;
use crate::workspace::{cargo, is_ci, run};

/// Runs all tests and prints how many passed, failed and were skipped. `arguments` go to `cargo test`.
///
/// # Errors
/// If something does not build, a test fails, none runs, or with `CI=true` one is skipped.
pub fn test(arguments: &[String]) -> Result<()> {
    let (tally, result) = measure(arguments);
    println!("\n{tally}");
    result
}

/// As [`test`], with the numbers for whoever prints them.
pub(crate) fn measure(arguments: &[String]) -> (Tally, Result<()>) {
    let mut tally = Tally::default();
    let result = all(arguments, &mut tally);
    (tally, result)
}

fn all(arguments: &[String], tally: &mut Tally) -> Result<()> {
    // Tests across processes start the programs that lie beside them.
    run(&mut cargo(["build", "--workspace", "--all-targets"]))?;
    let cluster = cluster()?;
    let scratch = tempfile::tempdir().context("make a temporary folder")?;
    let skips = scratch.path().join("skipped");
    let mut command = cargo(["test", "--no-fail-fast"]);
    if !arguments.iter().any(|argument| argument == "-p" || argument.starts_with("--package")) {
        command.arg("--workspace");
    }
    command.args(arguments).env(SKIP_LOG, &skips);
    if let Some(cluster) = &cluster {
        command.env(TEST_KUBECONFIG, cluster.kubeconfig_path());
    }
    let success = count(&mut command, tally)?;
    let skipped = skipped(&skips)?;
    tally.skip(skipped.len());
    report(&skipped);
    judge(success, *tally)
}

/// The server for the run; none if there is nothing to make one of, in which case tests that need it skip.
fn cluster() -> Result<Option<DevCluster>> {
    match devcluster::start_for_run() {
        Ok(cluster) => Ok(Some(cluster)),
        Err(error @ StartError::NotHere) => {
            eprintln!("Some tests will be skipped: {error}.");
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

/// Runs the tests, shows what they print, and counts.
fn count(command: &mut Command, tally: &mut Tally) -> Result<bool> {
    let mut child = command.stdout(Stdio::piped()).spawn().context("run cargo test")?;
    let output = child.stdout.take().context("no output of cargo test")?;
    for line in BufReader::new(output).split(b'\n') {
        let line = line.context("read what cargo test prints")?;
        let line = String::from_utf8_lossy(&line);
        println!("{line}");
        tally.add(&line);
    }
    Ok(child.wait().context("wait for cargo test")?.success())
}

/// What the tests wrote about skipping, each line once: a test may be run more than once.
fn skipped(log: &Path) -> Result<BTreeSet<String>> {
    if !log.exists() {
        return Ok(BTreeSet::new());
    }
    let text = fs::read_to_string(log).context("read the list of skipped tests")?;
    Ok(text.lines().map(str::to_owned).collect())
}

fn report(skipped: &BTreeSet<String>) {
    if !skipped.is_empty() {
        println!("\nTests that could not run here:");
    }
    for line in skipped {
        println!("  {line}");
    }
}

fn judge(success: bool, tally: Tally) -> Result<()> {
    ensure!(success && tally.failed == 0, "tests failed or did not build");
    ensure!(tally.total() > 0, "no test ran");
    if is_ci() && tally.skipped > 0 {
        bail!("tests were skipped ({}), which CI=true does not allow", tally.skipped);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> (Tally, bool) {
        let mut tally = Tally::default();
        let success = count(Command::new("sh").args(["-c", script]), &mut tally).unwrap();
        (tally, success)
    }

    #[test]
    fn numbers_and_success_are_taken_from_what_runs() {
        let (tally, success) = shell("echo 'test result: FAILED. 1 passed; 2 failed; 0 ignored'; exit 101");
        assert_eq!(tally, Tally { passed: 1, failed: 2, skipped: 0 });
        assert!(!success);
    }

    #[test]
    fn a_run_that_fails_without_a_failed_test_is_a_failure() {
        assert!(judge(false, Tally { passed: 9, ..Tally::default() }).is_err());
    }

    #[test]
    fn a_run_without_tests_is_a_failure() {
        assert!(judge(true, Tally::default()).is_err());
    }

    #[test]
    fn a_test_that_skips_twice_is_one_skipped_test() {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("log");
        fs::write(&log, "SKIPPED: a: no Go\nSKIPPED: a: no Go\nSKIPPED: b: no Go\n").unwrap();
        assert_eq!(skipped(&log).unwrap().len(), 2);
        assert!(skipped(&dir.path().join("none")).unwrap().is_empty());
    }
}
