//! `cargo xtask soak`: users come and go in the sandbox for a long time, and its memory must not grow.

mod user;

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use cosi_tests::devcluster::client_of;
use cosi_tests::sidecar::beside_us;
use futures::future::try_join_all;
use tokio::process::Command;
use tokio::time::{Instant, sleep};

use crate::machine;
use crate::process::Process;
use crate::workspace::{cargo, run};
use user::User;

/// How long the sandbox may take to start.
const PATIENCE: Duration = Duration::from_mins(1);
const POLL: Duration = Duration::from_millis(50);
/// Memory is measured so often.
const SAMPLES: u32 = 60;
/// The first part, in which caches, pools and histories fill.
const WARM_UP: usize = 10;
/// What the sandbox logs: enough to see why something is not done, and not more than a disk holds.
const LOG_LEVEL: &str = "info,cosi_sandbox=debug,cosi_sidecar=debug";
/// Growth from the end of the warm-up to the end that counts as flat.
const FLAT: f64 = 1.10;

/// Runs the sandbox for so long with so many users.
///
/// # Errors
/// If a user does not get what it asked for, something is left over, or memory grows.
pub fn soak(minutes: u32, users: u32) -> Result<()> {
    run(&mut cargo(["build", "-p", "cosi-sandbox", "--bins"]))?;
    tokio::runtime::Runtime::new().context("start a runtime")?.block_on(soaked(minutes, users))
}

async fn soaked(minutes: u32, users: u32) -> Result<()> {
    let folder = tempfile::Builder::new().prefix("cosi-soak-").tempdir().context("make a folder")?;
    let result = soaked_in(folder.path(), minutes, users).await;
    if result.is_err() {
        eprintln!("What the sandbox printed and logged is in {}", folder.keep().display());
    }
    result
}

async fn soaked_in(folder: &Path, minutes: u32, users: u32) -> Result<()> {
    let mut command = Command::new(beside_us("cosi-sandbox"));
    let inner = folder.join("sandbox");
    command.args(["--log-level", LOG_LEVEL, "--dir"]).arg(&inner);
    let sandbox = Process::start(command, &folder.join("output"))?;
    up(&folder.join("output")).await?;
    let client = client_of(&inner.join("kubeconfig")).await?;
    user::set_up(&client).await?;
    let (stop, rounds) = (AtomicBool::new(false), AtomicU64::new(0));
    let all = try_join_all((0..users).map(|number| User::new(&client, number).live(&stop, &rounds)));
    let duration = Duration::from_mins(minutes.into());
    let pid = sandbox.id().context("the sandbox ended")?;
    let (samples, _) = tokio::try_join!(watch(pid, duration, &stop, &rounds), all)?;
    user::expect_nothing_left(&client, &inner.join("data")).await?;
    let ended = sandbox.stop().await?;
    ensure!(ended.success(), "the sandbox ended with {ended}");
    judge(&samples, rounds.load(Ordering::Relaxed), minutes)
}

/// Waits until the sandbox says that everything is up.
async fn up(output: &Path) -> Result<()> {
    let deadline = Instant::now() + PATIENCE;
    while !std::fs::read_to_string(output).is_ok_and(|printed| printed.contains("stays up")) {
        ensure!(Instant::now() < deadline, "the sandbox does not start");
        sleep(POLL).await;
    }
    Ok(())
}

/// Resident memory in MB at regular times, until the time is over.
async fn watch(pid: u32, duration: Duration, stop: &AtomicBool, rounds: &AtomicU64) -> Result<Vec<f64>> {
    let begin = Instant::now();
    let mut samples = Vec::new();
    println!("{:>8} {:>10} {:>12}", "minute", "MB", "rounds");
    for number in 1..=SAMPLES {
        tokio::time::sleep_until(begin + duration * number / SAMPLES).await;
        let memory = machine::rss(pid)?;
        let minute = begin.elapsed().as_secs_f64() / 60.0;
        println!("{minute:>8.1} {memory:>10.1} {:>12}", rounds.load(Ordering::Relaxed));
        samples.push(memory);
    }
    stop.store(true, Ordering::Relaxed);
    Ok(samples)
}

fn judge(samples: &[f64], rounds: u64, minutes: u32) -> Result<()> {
    let (first, last) = growth(samples).context("too few samples")?;
    println!(
        "\n{rounds} rounds in {minutes} min on {}: {first:.1} MB after the warm-up, {last:.1} MB at the end",
        machine::description()
    );
    ensure!(last <= first * FLAT, "memory grows: from {first:.1} MB to {last:.1} MB");
    Ok(())
}

/// Memory after the warm-up and at the end, each as the mean over a few samples.
fn growth(samples: &[f64]) -> Option<(f64, f64)> {
    let mean = |part: &[f64]| part.iter().sum::<f64>() / 5.0;
    let rest = samples.get(WARM_UP..)?;
    Some((mean(rest.get(..5)?), mean(rest.get(rest.len() - 5..)?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(per_sample: f64) -> Vec<f64> {
        // Whatever it does while it warms up.
        let warm_up = [1.0; WARM_UP];
        let mut memory = 99.0;
        let rest = std::iter::repeat_with(|| {
            memory += per_sample;
            memory
        });
        warm_up.into_iter().chain(rest.take(50)).collect()
    }

    #[test]
    fn memory_that_grows_after_the_warm_up_is_refused_and_flat_memory_is_not() {
        judge(&samples(0.0), 1, 1).unwrap();
        judge(&samples(0.1), 1, 1).unwrap();
        judge(&samples(0.4), 1, 1).unwrap_err();
    }
}
