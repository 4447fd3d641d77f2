//! A driver in memory that does everything right, but for the one vice that a test gives it, and an S3 server for its buckets.
#![allow(dead_code, unreachable_pub, reason = "no test file uses all of it")]

pub(crate) mod backend;
pub(crate) mod checked;
pub(crate) mod driver;
pub(crate) mod s3;
pub(crate) mod service;
pub(crate) mod vice;

use std::time::Duration;

use cosi_conformance::settings::Endpoint;
use cosi_conformance::{Report, Settings, run};

/// Settings that make a run short.
pub(crate) fn quick(endpoint: &Endpoint) -> Settings {
    let mut settings = Settings::new(endpoint.clone());
    settings.timeout = Duration::from_secs(3);
    settings.rounds = 12;
    settings.repeat = 3;
    settings.settle = Duration::from_millis(40);
    settings.late_landing_grace = Duration::from_millis(120);
    settings.other_parameter = vec!["color=blue".parse().unwrap()];
    settings
}

/// A whole run.
pub(crate) async fn conformance(settings: Settings) -> Report {
    run(settings, std::future::pending(), |_| {}).await.unwrap()
}
