//! `cargo xtask bench`: how fast and how small the sidecar is, against a real API server.
//!
//! Everything happens in one run on one machine, so that numbers compare: first what the API server can do at most with
//! the two writes that a Bucket costs, then what the sidecar makes of it. The driver is a scripted one in this process.

mod accesses;
mod load;
mod meter;
mod ready;
mod report;
mod rig;

use std::time::Duration;

use anyhow::{Context, Result, ensure};

use crate::workspace::{cargo, root, run};
use accesses::Accesses;
use load::Load;
use report::Report;
use rig::Rig;

/// How long the slow driver takes.
const SLOW: Duration = Duration::from_millis(100);
/// Objects of each of the phases in which speed is measured, if there are enough.
const SAMPLE: u32 = 1000;

/// Measures with `buckets` Buckets in all, prints a table, and writes `target/bench.json`.
///
/// # Errors
/// If something does not work; with `check` also if a number is worse than expected.
pub fn bench(buckets: u32, check: bool) -> Result<()> {
    ensure!(buckets >= 100, "with fewer than 100 Buckets, there is nothing to measure");
    run(&mut cargo(["build", "-p", "cosi-sidecar", "--bins"]))?;
    let runtime = tokio::runtime::Runtime::new().context("start a runtime")?;
    let report = runtime.block_on(measure(buckets))?;
    println!("\n{report}");
    let file = root().join("target/bench.json");
    // With CARGO_TARGET_DIR elsewhere, nobody has made it yet.
    std::fs::create_dir_all(root().join("target")).context("make the folder of the figures")?;
    std::fs::write(&file, report.json()?).with_context(|| format!("write {}", file.display()))?;
    println!("\nAlso in target/bench.json.");
    ensure!(!check || report.is_as_expected(), "worse than expected");
    Ok(())
}

async fn measure(buckets: u32) -> Result<Report> {
    let mut rig = Rig::new()?;
    let sample = SAMPLE.min(buckets / 4);
    let load = Load::new(rig.client());
    let mut report = Report::new(buckets, sample);

    step("the sidecar without Buckets");
    rig.start().await?;
    report.rss_idle = rig.rss()?;
    rig.stop().await?;

    speed(&mut report, &mut rig, &load, sample).await?;
    many(&mut report, &mut rig, &load, buckets - 2 * sample).await?;

    grant(&mut report, &mut rig, &load, sample).await?;

    step("restart");
    let (calls, writes) = (rig.calls(), rig.writes().await?);
    report.restart_look = rig.start_and_look(sample).await?;
    report.restart_calls = rig.calls() - calls;
    report.restart_writes = rig.writes().await? - writes;
    report.rss_restarted = rig.rss()?;
    rig.stop().await?;
    Ok(report)
}

async fn speed(report: &mut Report, rig: &mut Rig, load: &Load, sample: u32) -> Result<()> {
    step("the ceiling: two bare writes for each Bucket");
    let before = load.ceiling("before", sample).await?;
    step("create to Ready, instant driver");
    report.instant = rig.work_off(load, "instant", sample).await?;
    step("create to Ready, driver that takes 100 ms");
    rig.slow_down(SLOW);
    report.slow = rig.work_off(load, "slow", sample).await?;
    rig.speed_up();
    step("the ceiling again");
    // Other work on the machine can only have lowered one of the two.
    report.ceiling = before.max(load.ceiling("after", sample).await?);
    Ok(())
}

/// As many more Buckets as are asked for, made while the sidecar runs.
async fn many(report: &mut Report, rig: &mut Rig, load: &Load, count: u32) -> Result<()> {
    step("many Ready Buckets");
    rig.start().await?;
    let (calls, writes) = (rig.calls(), rig.writes().await?);
    let ready = load.watch("many", count);
    load.create(rig::DRIVER, "many", count).await?;
    ready.all().await?;
    rig.settle().await?;
    // One write for each is the load's own.
    report.writes_per_bucket = (rig.writes().await? - writes) / f64::from(count) - 1.0;
    report.calls_per_bucket = f64::from(rig.calls() - calls) / f64::from(count);
    report.rss_full = rig.rss()?;
    rig.stop().await
}

/// An access to each Bucket of an earlier phase.
async fn grant(report: &mut Report, rig: &mut Rig, load: &Load, sample: u32) -> Result<()> {
    step("handed over to Ready, instant driver");
    let accesses = Accesses::new(rig.client());
    accesses.create(rig::DRIVER, "access", &load.of("instant").await?).await?;
    let (calls, writes) = (rig.calls(), rig.writes().await?);
    report.accesses = rig.work_off_accesses(&accesses, sample).await?;
    report.writes_per_access = (rig.writes().await? - writes) / f64::from(sample);
    report.calls_per_access = f64::from(rig.calls() - calls) / f64::from(sample);
    rig.stop().await
}

fn step(what: &str) {
    eprintln!("bench: {what}");
}
