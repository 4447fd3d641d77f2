//! The sidecar's settings in all runs. The times are short, so that little virtual time passes: renewals and re-lists cost.

use std::sync::OnceLock;
use std::time::Duration;

use clap::Parser as _;
use cosi_sidecar::settings::Settings;

/// `--timeout`.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(2);
/// `--late-landing-grace`.
pub(crate) const GRACE: Duration = Duration::from_secs(1);
/// `--retry-interval-max`.
pub(crate) const RETRY_MAX: Duration = Duration::from_secs(4);
/// `--recheck-interval`.
pub(crate) const RECHECK: Duration = Duration::from_secs(15);
/// `--leader-election-lease-duration`.
pub(crate) const LEASE: Duration = Duration::from_secs(15);

/// Of a process that stands for election, or not.
pub(crate) fn settings(elects: bool) -> Result<Settings, String> {
    static PARSED: [OnceLock<Result<Settings, String>>; 2] = [OnceLock::new(), OnceLock::new()];
    let [alone, together] = &PARSED;
    let parsed = if elects { together } else { alone };
    parsed.get_or_init(|| parse(elects).map_err(|error| error.to_string())).clone()
}

fn parse(elects: bool) -> Result<Settings, clap::Error> {
    let election = format!("--leader-election={elects}");
    Settings::try_parse_from([
        "sidecar",
        "--driver-endpoint=unix:///simulated.sock",
        "--timeout=2s",
        "--late-landing-grace=1s",
        "--retry-interval-start=250ms",
        "--retry-interval-max=4s",
        "--recheck-interval=15s",
        "--worker-threads=4",
        "--leader-election-namespace=default",
        "--leader-election-lease-duration=15s",
        // So that a call may still be at work when another process takes the Lease.
        "--leader-election-renew-deadline=14s",
        "--leader-election-retry-period=5s",
        &election,
    ])
}
