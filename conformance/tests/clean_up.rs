//! Whatever becomes of a run, what it made is taken away.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod common;

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::driver::TestDriver;
use common::quick;
use common::vice::Vice;
use cosi_conformance::report::{Verdict, text};
use cosi_conformance::run;
use tokio::sync::oneshot;

/// Longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(20);

/// Waits until `ready` holds.
async fn until(what: &str, mut ready: impl FnMut() -> bool) {
    let give_up = Instant::now() + PATIENCE;
    while !ready() {
        assert!(Instant::now() < give_up, "{what} never came");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

/// The driver makes the bucket, and says that it failed.
#[tokio::test(flavor = "multi_thread")]
async fn a_bucket_whose_create_failed_half_way_is_gone() {
    let driver = TestDriver::start(Vice::MakesAndFails).await;
    let report = run(quick(&driver.endpoint), std::future::pending(), |_| {}).await.unwrap();
    assert_eq!(report.with(Verdict::Failed), ["a-bucket-can-be-made"], "{}", text(&report));
    assert_eq!(report.left_over, Vec::<String>::new());
    assert!(driver.core.made() > 0);
    assert_eq!(driver.all(), Vec::<String>::new());
}

/// Stopped while things are there: in the middle of a check.
#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_is_stopped_takes_away_what_it_made_and_says_that_it_was_stopped() {
    let driver = TestDriver::start(Vice::None).await;
    let (stop, stopped) = oneshot::channel::<()>();
    let mut settings = quick(&driver.endpoint);
    settings.only = vec!["making-and-deleting-by-name-at-once-leaves-nothing".to_owned()];
    settings.rounds = 1_000_000;
    let running = tokio::spawn(run(
        settings,
        async {
            let _stopped = stopped.await;
        },
        |_| {},
    ));
    until("the race", || driver.core.made() > 100).await;
    stop.send(()).unwrap();
    let report = running.await.unwrap().unwrap();
    assert!(report.interrupted && !report.is_good(), "{}", text(&report));
    assert_eq!(report.outcomes.last().unwrap().verdict, Verdict::Skipped);
    assert_eq!(report.left_over, Vec::<String>::new());
    assert_eq!(driver.all(), Vec::<String>::new());
}

#[test]
fn ctrl_c_and_termination_leave_nothing_and_exit_with_2() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    for signal in ["-INT", "-TERM"] {
        let driver = runtime.block_on(TestDriver::start(Vice::None));
        let mut tool = Command::new(env!("CARGO_BIN_EXE_cosi-conformance"))
            .args(["--endpoint", &driver.endpoint.to_string(), "--rounds", "1000000"])
            .args(["--only", "making-and-deleting-by-name-at-once-leaves-nothing"])
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        runtime.block_on(until("the race", || driver.core.made() > 100));
        assert!(Command::new("kill").args([signal, &tool.id().to_string()]).status().unwrap().success());
        let mut status = None;
        runtime.block_on(until(&format!("the end after {signal}"), || {
            status = tool.try_wait().unwrap();
            status.is_some()
        }));
        assert_eq!(status.unwrap().code(), Some(2), "{signal}");
        assert_eq!(driver.all(), Vec::<String>::new(), "{signal}");
    }
}

/// A reader of the output that goes away (`| head`) doesn't end the run half-way.
#[tokio::test(flavor = "multi_thread")]
async fn a_closed_output_does_not_keep_the_tool_from_cleaning_up() {
    let driver = TestDriver::start(Vice::None).await;
    let mut tool = tokio::process::Command::new(env!("CARGO_BIN_EXE_cosi-conformance"))
        .args([
            "--endpoint",
            &driver.endpoint.to_string(),
            "--only",
            "a-repeated-create-answers-the-same-bucket",
        ])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    drop(tool.stdout.take());
    let status = tokio::time::timeout(PATIENCE, tool.wait()).await.unwrap().unwrap();
    assert_eq!(status.code(), Some(0));
    assert_eq!(driver.all(), Vec::<String>::new());
}

/// Findings, not a crash, and what may be left is told.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_driver_that_stops_answering_has_left_is_in_the_report() {
    let driver = TestDriver::start(Vice::DiesAtGrant).await;
    let mut settings = quick(&driver.endpoint);
    settings.only = vec!["access-can-be-granted".to_owned()];
    settings.timeout = Duration::from_millis(200);
    let report = run(settings, std::future::pending(), |_| {}).await.unwrap();
    assert_eq!(report.with(Verdict::Failed), ["access-can-be-granted"], "{}", text(&report));
    assert!(!report.is_good());
    let left = report.left_over.join("\n");
    assert!(left.contains("bucket conformance-") && left.contains("account conformance-"), "{left}");
    assert_eq!(driver.all().len(), 1, "{:?}", driver.all());
}
