//! Others who use the same Lease: upstream's sidecar, and people.

use std::time::{Duration, Instant};

use cosi_sim::driver::On;
use cosi_sim::proxy::Match;
use rstest::rstest;
use serde_json::json;
use tokio::time::interval;

use super::{DEFAULT, LEADS, LOST, QUICK};
use crate::world::{Setup, Wish, holder};

const UPSTREAM: &str = "upstream-0_8a6e0804-2bd0-4672-b79d-d97027f9071a";

/// Its holder is respected as long as it gives signs of life, and for as long as its record says after that. Nothing else in the
/// Lease is touched.
#[tokio::test]
async fn a_lease_of_upstreams_sidecar_is_respected_until_it_has_been_silent_for_its_own_duration() {
    let Some(mut world) = Setup::default().elects(QUICK).sidecar_not_started().start().await else { return };
    let lease = world.lease();
    lease.create_as(UPSTREAM, 3).await;
    world.sidecar.start().unwrap();
    let bucket = world.create(Wish::delete()).await;
    // It renews for longer than its duration, and than ours.
    let mut renewals = interval(Duration::from_millis(500));
    for _ in 0..8 {
        renewals.tick().await;
        lease.renew_as(UPSTREAM, 3).await;
    }
    let silent_since = Instant::now();
    assert_eq!(world.proxy.writes(), 0, "{}", world.proxy.log());
    assert_eq!(world.proxy.log().count(&Match::any().on("buckets")), 0, "nothing is looked at before");
    assert_eq!(world.driver.count(&On::any()), 1, "GetInfo");
    bucket.wait_ready().await;
    let took = silent_since.elapsed();
    assert!(took > Duration::from_millis(2900) && took < Duration::from_secs(10), "{took:?}");
    let taken = lease.get().await.unwrap();
    assert_eq!(taken.metadata.labels.unwrap()["kept"], "yes");
    assert_eq!(taken.metadata.annotations.unwrap()["kept"], "yes");
    assert_eq!(taken.spec.unwrap().lease_transitions, Some(7));
    world.end().await;
}

/// As client-go leaves it behind.
#[tokio::test]
async fn a_lease_that_upstreams_sidecar_gave_back_is_taken_at_once() {
    let Some(mut world) = Setup::default().elects(DEFAULT).sidecar_not_started().start().await else {
        return;
    };
    world.lease().create_as("", 1).await;
    let begin = Instant::now();
    world.sidecar.start().unwrap();
    world.sidecar.wait_log(LEADS, 1).await.unwrap();
    assert!(begin.elapsed() < Duration::from_secs(2), "{:?}", begin.elapsed());
    world.end().await;
}

/// R15: who reads that the Lease is not its own any more, stops.
#[rstest]
#[case::another_holder(json!({ "holderIdentity": UPSTREAM }), "it is held by")]
#[case::no_holder(json!({ "holderIdentity": "" }), "somebody emptied its holder")]
#[tokio::test]
async fn a_leader_whose_lease_is_edited_stops_at_once(#[case] spec: serde_json::Value, #[case] why: &str) {
    let Some(mut world) = Setup::default().elects(DEFAULT).start().await else { return };
    world.bucket().await;
    let begin = Instant::now();
    world.lease().edit(&spec).await;
    let status = world.sidecar.wait_exit().await.unwrap();
    assert_eq!(status.code(), Some(1), "{}", world.sidecar.log());
    assert!(begin.elapsed() < Duration::from_secs(1), "{:?}", begin.elapsed());
    let log = world.sidecar.log();
    let last = log.lines().last().unwrap();
    assert!(last.contains("the leader's Lease is lost") && last.contains(why), "{log}");
    world.end_stopped().await;
}

#[tokio::test]
async fn another_duration_in_the_leaders_record_is_put_right() {
    let Some(world) = Setup::default().elects(DEFAULT).start().await else { return };
    world.bucket().await;
    let before = world.lease().get().await.unwrap();
    world.lease().edit(&json!({ "leaseDurationSeconds": 1 })).await;
    let duration = |lease: &k8s_openapi::api::coordination::v1::Lease| {
        lease.spec.as_ref().and_then(|spec| spec.lease_duration_seconds)
    };
    let begin = Instant::now();
    let after = world.lease().wait("15 seconds again", |lease| duration(lease) == Some(15)).await;
    assert!(begin.elapsed() < Duration::from_secs(2), "{:?}", begin.elapsed());
    assert_eq!(holder(&before), holder(&after));
    world.end().await;
}

/// The one who held it may not know yet; whoever saw it held waits for the rest of its time.
#[tokio::test]
async fn a_deleted_lease_ends_the_leader_and_is_made_again_when_its_time_would_have_been_over() {
    let Some(mut world) = Setup::default().elects(QUICK).start().await else { return };
    world.bucket().await;
    let rival = world.standby().await;
    let begin = Instant::now();
    world.lease().delete().await;
    let status = world.sidecar.wait_exit().await.unwrap();
    assert_eq!(status.code(), Some(1), "{}", world.sidecar.log());
    assert!(world.sidecar.lines_with(LOST).iter().any(|line| line.contains("somebody deleted it")));
    rival.sidecar.wait_log(LEADS, 1).await.unwrap();
    let took = begin.elapsed();
    assert!(took + QUICK.retry + Duration::from_millis(100) > QUICK.lease, "{took:?}");
    assert!(took < QUICK.lease + Duration::from_secs(8), "{took:?}");
    let fresh = world.create(Wish::delete()).await;
    fresh.wait_ready().await;
    drop(rival);
    world.end_stopped().await;
}
