//! Runs the checks, one after the other.

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::{Duration, Instant};

use cosi_proto::v1alpha2 as wire;
use futures::FutureExt as _;
use tokio::time::timeout;

use crate::bench::{Bench, Shared, Stop, Tried};
use crate::checks::{self, Check, Severity};
use crate::driver::Driver;
use crate::driver::failure::Failure;
use crate::driver::rpc::Info;
use crate::report::{Finding, Outcome, Report, Verdict};
use crate::settings::Settings;

/// How many deadlines of a call cleaning up may take once the run was stopped.
const HURRY: u32 = 6;

/// The driver can't be tested.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// Nothing answers on the socket.
    #[error("no driver answers at {endpoint}: {why}")]
    NoDriver {
        /// The socket.
        endpoint: String,
        /// What happened instead.
        why: String,
    },
    /// The address is no address.
    #[error("connect to {0}")]
    Endpoint(String, #[source] tonic::transport::Error),
}

/// Runs the checks that the settings pick, and tells `each` outcome as soon as it is known. When `stop` resolves, the check that
/// runs is broken off, what it made is taken away, and nothing more is begun.
///
/// # Cancellation
/// Dropping the future leaves at the backend what the running check made: use `stop` instead.
///
/// # Errors
/// [`RunError`], before anything was made.
pub async fn run(
    settings: Settings,
    stop: impl Future<Output = ()>,
    mut each: impl FnMut(&Outcome),
) -> Result<Report, RunError> {
    let begun = Instant::now();
    let shared = connect(settings).await?;
    let mut runner = Runner { shared, verdicts: BTreeMap::new(), left_over: Vec::new(), interrupted: false };
    let mut stop = pin!(stop.fuse());
    let mut outcomes = Vec::new();
    for check in picked(&runner.shared.settings) {
        let outcome = runner.check(check, stop.as_mut()).await;
        each(&outcome);
        outcomes.push(outcome);
    }
    let shared = runner.shared;
    let report = Report {
        driver: shared.info.as_ref().map(|info| info.name.clone()),
        endpoint: shared.settings.endpoint.to_string(),
        version: env!("CARGO_PKG_VERSION"),
        outcomes,
        left_over: runner.left_over,
        interrupted: runner.interrupted,
        seconds: begun.elapsed().as_secs_f64(),
    };
    // Once more: what came early may hold a credential that was known only later.
    Ok(report.redacted(|text| shared.driver.journal.redact(text)))
}

/// Connects, and asks who the driver is.
pub(crate) async fn connect(settings: Settings) -> Result<Arc<Shared>, RunError> {
    let endpoint = settings.endpoint.to_string();
    let driver = Driver::new(&endpoint, settings.timeout)
        .map_err(|error| RunError::Endpoint(endpoint.clone(), error))?;
    let info: Option<wire::DriverGetInfoResponse> = match driver.ask(Info {}).await {
        Ok(info) => Some(info),
        // It lives; what it says is for a check to judge.
        Err(failure) if failure.code().is_some() => None,
        Err(failure) => return Err(RunError::NoDriver { endpoint, why: Failure::to_string(&failure) }),
    };
    Ok(Arc::new(Shared::new(settings, driver, info)))
}

/// What the settings pick, with what it needs.
fn picked(settings: &Settings) -> Vec<&'static Check> {
    let mut ids: Vec<&str> = settings.only.iter().map(String::as_str).collect();
    // What is needed comes before what needs it, so one way back finds everything.
    for check in checks::all().collect::<Vec<_>>().into_iter().rev() {
        if ids.contains(&check.id) {
            ids.extend(check.needs);
        }
    }
    let wanted = |check: &&Check| settings.only.is_empty() || ids.contains(&check.id);
    let skipped = |check: &&Check| settings.skip.iter().any(|id| id == check.id);
    checks::all().filter(|check| wanted(check) && !skipped(check)).collect()
}

struct Runner {
    shared: Arc<Shared>,
    verdicts: BTreeMap<&'static str, Verdict>,
    left_over: Vec<String>,
    interrupted: bool,
}

impl Runner {
    async fn check(
        &mut self,
        check: &'static Check,
        mut stop: Pin<&mut impl futures::future::FusedFuture<Output = ()>>,
    ) -> Outcome {
        let begun = Instant::now();
        let bench = Bench::new(Arc::clone(&self.shared), self.verdicts.clone());
        let ended = match self.unmet(check) {
            Some(why) => Some(Err(Stop::Skip(why))),
            None if self.interrupted => None,
            None => tokio::select! {
                biased;
                () = stop.as_mut() => None,
                ended = guarded(check, &bench) => Some(ended),
            },
        };
        self.interrupted |= ended.is_none();
        self.clean(&bench).await;
        let outcome = outcome(check, &bench, ended, begun.elapsed());
        self.verdicts.insert(check.id, outcome.verdict);
        outcome.redacted(|text| self.shared.driver.journal.redact(text))
    }

    /// Why the check would say nothing.
    fn unmet(&self, check: &Check) -> Option<String> {
        let unmet =
            |need: &&&str| self.verdicts.get(**need).is_some_and(|verdict| *verdict != Verdict::Passed);
        let need = check.needs.iter().find(unmet)?;
        Some(format!("it builds upon {need}, which did not pass"))
    }

    async fn clean(&mut self, bench: &Bench) {
        let driver = &self.shared.driver;
        let clean = bench.made.take_away(driver, &self.shared.s3);
        if self.interrupted {
            // What it does not get to is told as left.
            let _in_time = timeout(driver.timeout() * HURRY, clean).await;
        } else {
            clean.await;
        }
        self.left_over.extend(bench.made.left());
    }
}

/// A fault of the check itself is a finding like others, and what it made is taken away like that of others.
async fn guarded(check: &Check, bench: &Bench) -> Tried {
    let ended = AssertUnwindSafe((check.run)(bench)).catch_unwind().await;
    ended.unwrap_or_else(|_| Err(Stop::Fail("the check itself is broken: it panicked".to_owned())))
}

fn outcome(check: &'static Check, bench: &Bench, ended: Option<Tried>, took: Duration) -> Outcome {
    let (mut findings, notes) = bench.findings.take(check.severity);
    let skipped = match ended {
        None => Some("the run was stopped".to_owned()),
        Some(Ok(())) => None,
        Some(Err(Stop::Skip(why))) => Some(why),
        Some(Err(Stop::Fail(text))) => {
            findings.push(Finding { severity: Severity::Must, text });
            None
        }
    };
    let outcome = Outcome::new(check, findings, notes, took);
    match skipped {
        Some(why) => outcome.skipped(why),
        None => outcome,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(only: &[&str], skip: &[&str]) -> Vec<&'static str> {
        let mut settings = Settings::new("unix:///cosi.sock".parse().unwrap());
        settings.only = only.iter().map(|id| (*id).to_owned()).collect();
        settings.skip = skip.iter().map(|id| (*id).to_owned()).collect();
        picked(&settings).iter().map(|check| check.id).collect()
    }

    #[test]
    fn a_picked_check_brings_what_it_builds_upon_and_nothing_else() {
        let picked = ids(&["a-repeated-delete-is-ok"], &[]);
        assert_eq!(
            picked,
            [
                "a-bucket-can-be-made",
                "the-id-of-a-bucket-is-valid",
                "a-bucket-can-be-deleted",
                "a-repeated-delete-is-ok"
            ]
        );
    }

    #[test]
    fn without_a_pick_everything_is_run_but_what_is_skipped() {
        assert_eq!(ids(&[], &[]).len(), checks::all().count());
        let left = ids(&[], &["health-is-served"]);
        assert_eq!(left.len(), checks::all().count() - 1);
        assert!(!left.contains(&"health-is-served"));
    }
}
