//! Drivers in other languages pass the conformance suite.

use std::sync::Arc;
use std::time::Duration;

use cosi_conformance::report::{Verdict, text};
use cosi_conformance::settings::Restart;
use cosi_conformance::{Report, Settings, run};
use cosi_tests::foreign;
use cosi_tests::sidecar::Sidecar;
use futures::FutureExt as _;
use tokio::sync::Mutex;

use super::{answers, place};

/// What is not tried without an S3 server.
const WITHOUT_S3: [&str; 8] = [
    "a-granted-key-works",
    "access-modes-are-enforced",
    "a-key-opens-no-other-bucket",
    "repeated-grants-leave-one-living-key",
    "a-revoked-key-is-dead",
    "a-key-revoked-by-name-is-dead",
    "a-bucket-with-objects-is-kept",
    "a-bucket-with-objects-is-kept-by-name-too",
];

/// Every check, with as many rounds as the suite makes by itself.
async fn examined(endpoint: &str, restart: Option<Restart>) -> Report {
    let mut settings = Settings::new(endpoint.parse().unwrap());
    settings.late_landing_grace = Duration::from_secs(1);
    // Nobody answers there, so that no name has to be looked up.
    settings.s3_endpoint = Some("http://127.0.0.1:9".to_owned());
    settings.restart_command = restart;
    run(settings, std::future::pending(), |_| {}).await.unwrap()
}

fn driver(command_line: Vec<std::ffi::OsString>) -> Sidecar {
    let mut driver = Sidecar::of("/usr/bin/env", command_line).unwrap();
    driver.start().unwrap();
    driver
}

/// With what it remembers over a restart.
#[tokio::test(flavor = "multi_thread")]
async fn the_driver_in_python_passes() {
    let Some(foreign) = foreign::or_skip("the driver in Python passes") else { return };
    let (folder, endpoint) = place();
    let driver = driver(foreign.python(&endpoint, &folder.path().join("backend.db")));
    answers(&endpoint, || driver.log()).await;
    let driver = Arc::new(Mutex::new(driver));
    let restarted = Arc::clone(&driver);
    let restart = move || {
        let driver = Arc::clone(&restarted);
        async move { driver.lock().await.start().map_err(|error| error.to_string()) }.boxed()
    };
    let report = examined(&endpoint, Some(Restart::Call(Arc::new(restart)))).await;
    assert!(report.is_good(), "{}\n{}", text(&report), driver.lock().await.log());
    assert_eq!(
        report.with(Verdict::Warned),
        ["health-is-served", "reflection-is-served"],
        "{}",
        text(&report)
    );
    assert_eq!(report.with(Verdict::Skipped), WITHOUT_S3, "{}", text(&report));
}

/// Without RPCs by name: warnings tell what that costs, and nothing else is wrong.
#[tokio::test(flavor = "multi_thread")]
async fn the_driver_in_go_passes() {
    let Some(foreign) = foreign::or_skip("the driver in Go passes") else { return };
    let (_folder, endpoint) = place();
    let driver = driver(foreign.go(&endpoint));
    answers(&endpoint, || driver.log()).await;
    let report = examined(&endpoint, None).await;
    assert!(report.is_good(), "{}\n{}", text(&report), driver.log());
    let warned = report.with(Verdict::Warned);
    assert_eq!(warned, Vec::<&str>::new(), "{}", text(&report));
}

/// What the guide says of them.
#[test]
fn both_drivers_have_at_most_a_hundred_lines_of_code() {
    let source = |path: &str| {
        std::fs::read_to_string(format!("{}/foreign/{path}", env!("CARGO_MANIFEST_DIR"))).unwrap()
    };
    let is_code = |line: &&str| {
        let aside = ["import ", "from ", "//", "#", "\"\"\""];
        !line.trim().is_empty() && !aside.iter().any(|start| line.trim().starts_with(start))
    };
    let python = source("python/driver.py").lines().filter(is_code).count();
    let go = source("go/main.go");
    let (before, rest) = go.split_once("import (").unwrap();
    let after = rest.split_once("\n)").unwrap().1;
    let go = before.lines().chain(after.lines()).filter(is_code).count();
    assert!(python <= 100 && go <= 100, "Python: {python}, Go: {go}");
}
