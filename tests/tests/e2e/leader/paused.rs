//! A leader that is stopped for longer than its lease, and wakes up (R15).

use std::time::Duration;

use cosi_sim::driver::{End, On};
use cosi_sim::proxy::Match;
use futures::future::join_all;

use super::{LEADS, LOST, QUICK};
use crate::world::{Setup, TestBucket, Wish};

/// No call of it takes effect at a driver that honours not-after, no write of it succeeds, and it ends.
#[tokio::test]
async fn a_leader_that_was_paused_for_longer_than_its_lease_does_nothing_when_it_wakes() {
    let setup = Setup::default().elects(QUICK).driver(|driver| driver.honours_not_after = true);
    for round in 0..5u32 {
        let Some(mut world) = setup.clone().start().await else { return };
        // A call that the paused process sent counts until its deadline for nobody but the next leader.
        world.grace = Duration::ZERO;
        let rival = world.standby().await;
        world.sidecar.wait_log("all Buckets listed", 1).await.unwrap();
        let buckets = world.create_many(40, &Wish::delete()).await;
        // Somewhere in the middle of it, somewhere else each time.
        world.driver.wait_calls(&On::create(), 3 + 6 * usize::try_from(round).unwrap()).await.unwrap();
        world.sidecar.pause().unwrap();
        rival.sidecar.wait_log(LEADS, 1).await.unwrap();
        join_all(buckets.iter().map(TestBucket::wait_ready)).await;

        let (mark, calls) = (world.proxy.mark(), world.driver.ledger().calls().count());
        world.sidecar.resume().unwrap();
        let status = world.sidecar.wait_exit().await.unwrap();
        assert_eq!(status.code(), Some(1), "{}", world.sidecar.log());
        assert_eq!(world.sidecar.lines_with(LOST).len(), 1, "{}", world.sidecar.log());
        let ledger = world.driver.ledger();
        for late in ledger.calls().skip(calls).filter(|call| call.timeout.is_some()) {
            assert_eq!(ledger.effects_of(late.number).count(), 0, "{late} took effect\n{ledger}");
            let refused = ledger.end_of(late.number).map(|(_, end)| end.clone());
            assert!(
                !matches!(refused, Some(End::Answered { code: 0, .. })),
                "{late} was answered OK\n{ledger}"
            );
        }
        for entry in world.proxy.log().since(mark).only(&Match::writes()).entries {
            assert!(!entry.applied(), "{entry} came from the past");
        }
        join_all(buckets.iter().map(TestBucket::release)).await;
        join_all(buckets.iter().map(TestBucket::wait_gone)).await;
        world.driver.holds_exactly(&[]).unwrap();
        drop(rival);
        world.end_stopped().await;
    }
}
