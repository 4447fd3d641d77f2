//! Drivers in other languages pass the conformance suite, and so does the sample driver before a service that is not ours.

use std::ffi::OsString;
use std::sync::Arc;
use std::time::Duration;

use cosi_conformance::report::{Verdict, text};
use cosi_conformance::settings::Restart;
use cosi_conformance::{Report, Settings, run};
use cosi_tests::foreign;
use cosi_tests::seaweed;
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

/// Every check.
async fn examined(settings: Settings) -> Report {
    run(settings, std::future::pending(), |_| {}).await.unwrap()
}

fn settings(endpoint: &str) -> Settings {
    let mut settings = Settings::new(endpoint.parse().unwrap());
    settings.late_landing_grace = Duration::from_secs(1);
    settings
}

/// Nobody answers there, so that no name has to be looked up.
fn without_s3(settings: Settings) -> Settings {
    Settings { s3_endpoint: Some("http://127.0.0.1:9".to_owned()), ..settings }
}

/// A driver in a process of its own that can be restarted.
struct Driver(Arc<Mutex<Sidecar>>);

impl Driver {
    async fn start(endpoint: &str, command_line: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        let mut driver = Sidecar::of("/usr/bin/env", command_line).unwrap();
        driver.start().unwrap();
        answers(endpoint, || driver.log()).await;
        Self(Arc::new(Mutex::new(driver)))
    }

    fn restart(&self) -> Restart {
        let driver = Arc::clone(&self.0);
        Restart::Call(Arc::new(move || {
            let driver = Arc::clone(&driver);
            async move { driver.lock().await.start().map_err(|error| error.to_string()) }.boxed()
        }))
    }

    async fn log(&self) -> String {
        self.0.lock().await.log()
    }
}

/// With what it remembers over a restart.
#[tokio::test(flavor = "multi_thread")]
async fn the_driver_in_python_passes() {
    let Some(foreign) = foreign::or_skip("the driver in Python passes") else { return };
    let (folder, endpoint) = place();
    let driver = Driver::start(&endpoint, foreign.python(&endpoint, &folder.path().join("backend.db"))).await;
    let mut settings = without_s3(settings(&endpoint));
    settings.restart_command = Some(driver.restart());
    let report = examined(settings).await;
    assert!(report.is_good(), "{}\n{}", text(&report), driver.log().await);
    assert_eq!(
        report.with(Verdict::Warned),
        ["health-is-served", "reflection-is-served"],
        "{}",
        text(&report)
    );
    assert_eq!(report.with(Verdict::Skipped), WITHOUT_S3, "{}", text(&report));
}

/// Without the RPCs by name and the key for calls that come too late: warnings tell what that costs, and nothing else is wrong.
#[tokio::test(flavor = "multi_thread")]
async fn the_driver_in_go_passes() {
    let Some(foreign) = foreign::or_skip("the driver in Go passes") else { return };
    let (_folder, endpoint) = place();
    let driver = Driver::start(&endpoint, foreign.go(&endpoint)).await;
    let report = examined(without_s3(settings(&endpoint))).await;
    assert!(report.is_good(), "{}\n{}", text(&report), driver.log().await);
    let warned = [
        "a-bucket-can-be-deleted-by-name",
        "access-can-be-revoked-by-name",
        "a-create-that-comes-too-late-is-refused",
        "a-grant-that-comes-too-late-is-refused",
    ];
    assert_eq!(report.with(Verdict::Warned), warned, "{}", text(&report));
    // Those that need an RPC by name, an S3 server, or a driver that can be restarted.
    assert_eq!(report.with(Verdict::Skipped).len(), 23, "{}", text(&report));
}

/// Nothing is skipped: modes and keys are tried at a real service, and the driver is restarted.
#[tokio::test(flavor = "multi_thread")]
async fn the_sample_driver_passes_before_a_service_elsewhere() {
    let Some(service) = seaweed::or_skip("the sample driver passes before a service elsewhere").await else {
        return;
    };
    let (folder, endpoint) = place();
    let line = service.sample_driver(&endpoint, &folder.path().join("ledger.redb"));
    let driver = Driver::start(&endpoint, line).await;
    let mut settings = settings(&endpoint);
    settings.rounds = 100;
    settings.restart_command = Some(driver.restart());
    let report = examined(settings).await;
    assert!(report.is_good() && !report.has_warnings(), "{}\n{}", text(&report), driver.log().await);
    assert_eq!(report.with(Verdict::Skipped), Vec::<&str>::new(), "{}", text(&report));
}

/// What the guide says of the drivers in other languages.
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
