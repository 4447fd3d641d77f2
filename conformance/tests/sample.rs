//! The drivers of this repository pass.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod common;

use std::path::Path;

use clap::Parser as _;
use common::{conformance, quick};
use cosi_conformance::report::{Verdict, text};
use cosi_conformance::settings::Endpoint;
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
