//! The drivers of this repository pass.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod common;
#[path = "../../driver-sdk/examples/minimal.rs"]
#[allow(dead_code, reason = "an example is a program of its own")]
mod minimal;
#[path = "../../driver-sdk/examples/opaque_ids.rs"]
#[allow(dead_code, reason = "an example is a program of its own")]
mod opaque_ids;

use std::path::Path;

use clap::Parser as _;
use common::{conformance, quick};
use cosi_conformance::report::{Verdict, text};
use cosi_conformance::settings::Endpoint;
use cosi_driver_sdk::{Driver, Server};
use cosi_sample_driver::run::Bound;
use cosi_sample_driver::settings::Settings as DriverSettings;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// What the sample driver's settings say, with everything in one folder.
fn sample(folder: &Path) -> DriverSettings {
    std::fs::create_dir(folder.join("socket")).unwrap();
    let endpoint = format!("unix://{}/socket/cosi.sock", folder.display());
    let data = folder.join("data").display().to_string();
    let flags =
        ["cosi-sample-driver", "--endpoint", &endpoint, "--data-dir", &data, "--s3-listen", "127.0.0.1:0"];
    DriverSettings::try_parse_from(flags).unwrap()
}

/// With a real S3 server, so that signatures are real, too.
#[tokio::test(flavor = "multi_thread")]
async fn the_sample_driver_passes_with_its_access_modes_tried() {
    let folder = TempDir::new().unwrap();
    let settings = sample(folder.path());
    let endpoint: Endpoint = settings.endpoint.to_string().parse().unwrap();
    let stop = CancellationToken::new();
    let driver = Bound::bind(&settings).await.unwrap();
    let driver = tokio::spawn(driver.run_until(stop.clone().cancelled_owned()));

    let mut settings = quick(&endpoint);
    settings.other_parameter = vec!["deleteNonEmpty=false".parse().unwrap()];
    let report = conformance(settings).await;
    assert!(report.is_good(), "{}", text(&report));
    let skipped = report.with(Verdict::Skipped);
    let restarts =
        ["a-restart-forgets-no-bucket", "a-restart-forgets-no-name", "a-restart-forgets-no-account"];
    assert_eq!(skipped, restarts, "{}", text(&report));

    stop.cancel();
    driver.await.unwrap().unwrap();
    let left: Vec<_> = folder.path().join("data/buckets").read_dir().unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}

/// What is not tried without an S3 server, and without somebody who restarts the driver.
const NOT_TRIED: [&str; 11] = [
    "a-granted-key-works",
    "access-modes-are-enforced",
    "a-key-opens-no-other-bucket",
    "repeated-grants-leave-one-living-key",
    "a-revoked-key-is-dead",
    "a-key-revoked-by-name-is-dead",
    "a-bucket-with-objects-is-kept",
    "a-bucket-with-objects-is-kept-by-name-too",
    "a-restart-forgets-no-bucket",
    "a-restart-forgets-no-name",
    "a-restart-forgets-no-account",
];

/// Nor without DriverGetExistingBucket.
const NO_EXISTING: [&str; 4] = [
    "a-bucket-that-is-not-there-is-not-found",
    "looking-for-a-bucket-makes-none",
    "an-existing-bucket-without-the-protocol-is-refused",
    "looking-for-an-empty-id-is-refused",
];

/// The examples of the SDK are what authors copy.
async fn example_passes(driver: impl Driver, not_offered: &[&str]) {
    let folder = TempDir::new().unwrap();
    let endpoint = format!("unix://{}/cosi.sock", folder.path().display());
    let stop = CancellationToken::new();
    let server = Server::new(driver).bind(&endpoint.parse().unwrap()).await.unwrap();
    let server = tokio::spawn(server.run_until(stop.clone().cancelled_owned()));
    let mut settings = quick(&endpoint.parse().unwrap());
    settings.other_parameter = vec![];
    // Nobody answers there, so that no name has to be looked up.
    settings.s3_endpoint = Some("http://127.0.0.1:9".to_owned());
    let report = conformance(settings).await;
    assert!(report.is_good(), "{}", text(&report));
    assert_eq!(report.with(Verdict::Skipped), [not_offered, &NOT_TRIED].concat(), "{}", text(&report));
    stop.cancel();
    server.await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_smallest_example_of_the_sdk_passes_and_is_left_empty() {
    let driver = minimal::Minimal::default();
    example_passes(driver.clone(), &[]).await;
    let backend = driver.backend();
    assert!(backend.buckets.is_empty() && backend.accounts.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_example_with_ids_that_the_backend_chooses_passes_and_is_left_empty() {
    let data = TempDir::new().unwrap();
    example_passes(opaque_ids::OpaqueIds::open(data.path()).unwrap(), &NO_EXISTING).await;
    for kind in ["buckets", "accounts"] {
        assert_eq!(data.path().join(kind).read_dir().unwrap().count(), 0, "{kind}");
    }
}
