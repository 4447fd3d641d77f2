//! Leader election (R15, C29), with real processes on a real API server.

mod churn;
mod edges;
mod foreign;
mod handover;
mod lost;
mod paused;

use std::time::Duration;

use cosi_sim::proxy::Match;
use k8s_openapi::api::coordination::v1::Lease;

use crate::world::Election;

/// Short, but so that a machine that is busy with other tests gets its renewals through.
const QUICK: Election = Election {
    lease: Duration::from_secs(4),
    deadline: Duration::from_secs(3),
    retry: Duration::from_millis(300),
};

/// The sidecar's defaults.
const DEFAULT: Election = Election {
    lease: Duration::from_secs(15),
    deadline: Duration::from_secs(10),
    retry: Duration::from_secs(5),
};

/// What the log says once the process leads, and once it does not any more.
const LEADS: &str = "leading: the Lease is taken";
const LOST: &str = "the Lease is lost";

/// What `measure` takes, at its best: one that takes so long by design takes it each time, a busy machine only now and then.
async fn at_best(limit: Duration, measure: impl AsyncFn() -> Option<Duration>) {
    let mut all = Vec::new();
    for _ in 0..3 {
        let Some(took) = measure().await else { return };
        if took < limit {
            return;
        }
        all.push(took);
    }
    panic!("{all:?} instead of less than {limit:?}");
}

/// All writes but those of the Lease.
fn work() -> Match {
    Match::writes().filter(|request| request.resource != "leases")
}

fn transitions(lease: &Lease) -> i32 {
    lease.spec.as_ref().and_then(|spec| spec.lease_transitions).unwrap_or_default()
}
