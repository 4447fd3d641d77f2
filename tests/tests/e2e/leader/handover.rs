//! From one leader to the next.

use std::time::{Duration, Instant};

use cosi_sim::driver::{On, Step};
use cosi_sim::proxy::Match;

use super::{DEFAULT, LEADS, QUICK, at_best, transitions, work};
use crate::world::{GRACE, Setup, TIMEOUT, Wish, has_our_finalizer, holder};

/// C29, with the default durations: nobody waits for a period to pass.
#[tokio::test]
async fn a_clean_stop_hands_over_within_a_second() {
    at_best(Duration::from_secs(1), clean_stop).await;
}

async fn clean_stop() -> Option<Duration> {
    let mut world = Setup::default().elects(DEFAULT).start().await?;
    world.bucket().await;
    let before = world.lease().get().await.unwrap();
    let rival = world.standby().await;
    let begin = Instant::now();
    world.sidecar.terminate().unwrap();
    let fresh = world.create(Wish::delete()).await;
    fresh.wait_ready().await;
    let took = begin.elapsed();
    assert!(world.sidecar.wait_exit().await.unwrap().success(), "{}", world.sidecar.log());
    assert_eq!(world.sidecar.lines_with("the Lease is given back").len(), 1);
    let after = world.lease().get().await.unwrap();
    assert_ne!(holder(&before), holder(&after));
    assert_eq!(transitions(&after), transitions(&before) + 1);
    drop(rival);
    world.end_stopped().await;
    Some(took)
}

/// C29.
#[tokio::test]
async fn a_crash_is_made_good_within_the_lease_and_two_seconds() {
    at_best(QUICK.lease + Duration::from_secs(2), crash).await;
}

async fn crash() -> Option<Duration> {
    let mut world = Setup::default().elects(QUICK).start().await?;
    world.bucket().await;
    let rival = world.standby().await;
    let begin = Instant::now();
    world.sidecar.kill();
    let fresh = world.create(Wish::delete()).await;
    fresh.wait_ready().await;
    let took = begin.elapsed();
    assert!(
        took + QUICK.retry + Duration::from_millis(100) > QUICK.lease,
        "the lease is respected: {took:?}"
    );
    drop(rival);
    world.end_stopped().await;
    Some(took)
}

/// R15: nobody else leads before the last call has ended and its result is recorded.
#[tokio::test]
async fn a_leader_that_is_told_to_stop_keeps_the_lease_while_a_call_runs() {
    let setup = Setup::default().elects(QUICK).timeout(Duration::from_secs(20));
    let Some(mut world) = setup.start().await else { return };
    let slow = world.driver.rule(On::create().nth(1), Step::do_then_hold());
    let running = world.create(Wish::delete()).await;
    slow.wait_hit().await.unwrap();
    let rival = world.standby().await;
    let before = world.lease().get().await.unwrap();
    world.sidecar.terminate().unwrap();
    world.sidecar.wait_log("stopping: no new calls", 1).await.unwrap();
    // Longer than the lease.
    let mark = world.proxy.mark();
    let renewals = usize::try_from(QUICK.lease.as_millis() / QUICK.retry.as_millis()).unwrap() + 2;
    world.proxy.wait_count_since(mark, &Match::patch("leases"), renewals).await.unwrap();
    assert_eq!(rival.sidecar.lines_with(LEADS), Vec::<String>::new());
    slow.release();
    assert!(world.sidecar.wait_exit().await.unwrap().success(), "{}", world.sidecar.log());
    running.wait_ready().await;
    rival.sidecar.wait_log(LEADS, 1).await.unwrap();
    assert_eq!(world.driver.count(&On::create()), 1);
    assert_eq!(transitions(&world.lease().get().await.unwrap()), transitions(&before) + 1);
    drop(rival);
    world.end_stopped().await;
}

/// R15: what still runs may still take effect.
#[tokio::test]
async fn a_leader_that_is_told_twice_to_stop_does_not_give_the_lease_back() {
    let setup = Setup::default().elects(QUICK).timeout(Duration::from_secs(20));
    let Some(mut world) = setup.start().await else { return };
    let slow = world.driver.rule(On::create().nth(1), Step::do_then_hold());
    world.create(Wish::delete()).await;
    slow.wait_hit().await.unwrap();
    world.sidecar.terminate().unwrap();
    world.sidecar.wait_log("stopping: no new calls", 1).await.unwrap();
    world.sidecar.terminate().unwrap();
    assert!(world.sidecar.wait_exit().await.unwrap().success(), "{}", world.sidecar.log());
    assert_ne!(holder(&world.lease().get().await.unwrap()), "");
    slow.release();
    world.end_stopped().await;
}

#[tokio::test]
async fn one_that_stands_by_leaves_at_once_and_without_a_write() {
    let Some(world) = Setup::default().elects(DEFAULT).start().await else { return };
    world.bucket().await;
    let mut rival = world.standby().await;
    let begin = Instant::now();
    rival.sidecar.terminate().unwrap();
    assert!(rival.sidecar.wait_exit().await.unwrap().success(), "{}", rival.sidecar.log());
    assert!(begin.elapsed() < Duration::from_secs(1), "{:?}", begin.elapsed());
    assert_eq!(rival.proxy.writes(), 0, "{}", rival.proxy.log());
    assert_eq!(rival.proxy.log().count(&Match::any().on("buckets")), 0, "nor has it looked at anything");
    world.end().await;
}

/// R3, a new leader: what it finds may have a predecessor's call at work; what comes later has none.
#[tokio::test]
async fn a_new_leader_waits_for_intents_that_it_finds_and_for_no_others() {
    let setup = Setup::default().elects(QUICK);
    let Some(mut world) = setup.start().await else { return };
    let hung = world.driver.rule(On::create().nth(1), Step::hang());
    let found = world.create(Wish::delete()).await;
    hung.wait_hit().await.unwrap();
    let rival = world.standby().await;
    world.sidecar.kill();
    rival.sidecar.wait_log(LEADS, 1).await.unwrap();
    let taken = Instant::now();
    let fresh = world.create(Wish::delete()).await;
    fresh.wait_ready().await;
    assert!(taken.elapsed() < TIMEOUT + GRACE, "{:?}", taken.elapsed());
    assert!(has_our_finalizer(&found.get().await.unwrap()));
    assert_eq!(world.driver.count(&On::create().named(&found.name)), 1, "it is not repeated yet");
    found.wait_ready().await;
    // The log is looked at every few milliseconds.
    let tolerance = Duration::from_millis(100);
    assert!(taken.elapsed() + tolerance > TIMEOUT + GRACE, "{:?}", taken.elapsed());
    drop(rival);
    world.end_stopped().await;
}

/// The floor of lifecycle.md §3, the lease's own writes aside (I9), with the default flags.
#[tokio::test]
async fn an_election_costs_nothing_but_its_own_writes() {
    let Some(world) = Setup::default().elects(DEFAULT).start().await else { return };
    let bucket = world.bucket().await;
    assert_eq!(world.proxy.log().count(&work()), 2, "{}", world.proxy.log());
    bucket.release().await;
    bucket.wait_gone().await;
    assert_eq!(world.proxy.log().count(&work()), 3, "{}", world.proxy.log());
    assert_eq!(world.driver.count(&On::any()), 3, "GetInfo, Create, Delete");
    assert_eq!(world.proxy.log().count(&Match::create("leases")), 1);
    world.end_empty().await;
}
