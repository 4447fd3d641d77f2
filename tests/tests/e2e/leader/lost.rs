//! What a leader does when its Lease is lost (R15).

use std::time::{Duration, Instant};

use cosi_sim::Rule;
use cosi_sim::driver::{Call, On, Step};
use cosi_sim::proxy::{Action, Mark, Match, Request};

use super::{LEADS, LOST, QUICK, work};
use crate::world::{AccessWish, Setup, TestBucket, Wish, World};

/// Longer than a lease.
const LONG: Duration = Duration::from_secs(20);

/// From now on no renewal succeeds, and everything else does.
fn no_renewals(world: &World) -> Rule<Request> {
    world.proxy.rule(Match::writes().on("leases"), Action::status(500))
}

async fn stops(world: &mut World) {
    let status = world.sidecar.wait_exit().await.unwrap();
    let log = world.sidecar.log();
    assert_eq!(status.code(), Some(1), "{log}");
    assert!(log.lines().last().is_some_and(|line| line.contains("the leader's Lease is lost")), "{log}");
}

/// A leader that has a Create under way.
struct Creating {
    world: World,
    bucket: TestBucket,
    /// The call, which is done and not answered.
    slow: Rule<Call>,
}

async fn creating(wish: Wish) -> Option<Creating> {
    let world = Setup::default().elects(QUICK).timeout(LONG).start().await?;
    let slow = world.driver.rule(On::create().nth(1), Step::do_then_hold());
    let bucket = world.create(wish).await;
    slow.wait_hit().await.unwrap();
    Some(Creating { world, bucket, slow })
}

/// Takes a Bucket away while it is being worked on.
async fn vanish(bucket: &TestBucket) {
    bucket.delete().await;
    bucket.strip_finalizers().await;
    bucket.wait_gone().await;
}

/// The lease is lost, then the call is answered, then the process ends. Marks the moment between the first two.
async fn loses(world: &mut World, slow: &Rule<Call>) -> Mark {
    world.sidecar.wait_log(LOST, 1).await.unwrap();
    let mark = world.proxy.mark();
    slow.release();
    stops(world).await;
    mark
}

/// No API server: the leader stops before anybody else could lead, and begins nothing more.
#[tokio::test]
async fn a_leader_without_api_server_stops_before_its_lease_ends() {
    let Some(mut world) = Setup::default().elects(QUICK).start().await else { return };
    world.bucket().await;
    let begin = Instant::now();
    world.proxy.go_down();
    world.sidecar.wait_log(LOST, 1).await.unwrap();
    assert!(begin.elapsed() < QUICK.lease, "{:?}", begin.elapsed());
    stops(&mut world).await;
    world.end_stopped().await;
}

/// The call may end; its result is the next leader's to find, since the Bucket is still there.
#[tokio::test]
async fn a_running_call_may_end_and_its_result_is_left_to_the_next_leader() {
    let Some(Creating { mut world, bucket, slow }) = creating(Wish::delete()).await else { return };
    let rule = no_renewals(&world);
    let mark = loses(&mut world, &slow).await;
    assert_eq!(world.proxy.log().since(mark).count(&work()), 0, "{}", world.proxy.log());
    assert_eq!(world.driver.count(&On::delete()), 0, "I3: its owner is alive");
    rule.off();
    world.sidecar.replace_arg("--timeout", "1s");
    world.sidecar.start().unwrap();
    bucket.wait_ready().await;
    bucket.release().await;
    bucket.wait_gone().await;
    world.driver.holds_exactly(&[]).unwrap();
    world.end_stopped().await;
}

/// The one exception: nobody else will ever know of what was made for a Bucket that is gone.
#[tokio::test]
async fn what_was_made_for_a_bucket_that_is_gone_is_deleted_by_its_id_and_nothing_is_written() {
    let Some(Creating { mut world, bucket, slow }) = creating(Wish::delete()).await else { return };
    vanish(&bucket).await;
    no_renewals(&world);
    let mark = loses(&mut world, &slow).await;
    assert_eq!(world.driver.count(&On::delete()), 1, "{}", world.driver.ledger());
    assert_eq!(world.proxy.log().since(mark).count(&work()), 0, "{}", world.proxy.log());
    world.driver.holds_exactly(&[]).unwrap();
    world.end_stopped().await;
}

/// Likewise for accounts.
#[tokio::test]
async fn what_was_granted_to_an_access_that_is_gone_is_revoked_by_its_id() {
    let setup = Setup::traced().elects(QUICK).timeout(LONG);
    let Some(mut world) = setup.start().await else { return };
    let bucket = world.bucket().await;
    world.sidecar.wait_log("all BucketAccesses listed", 1).await.unwrap();
    let slow = world.driver.rule(On::grant().nth(1), Step::do_then_hold());
    let access = world.access(AccessWish::to(&bucket).await).await;
    slow.wait_hit().await.unwrap();
    access.delete().await;
    access.finish_others().await;
    no_renewals(&world);
    let mark = loses(&mut world, &slow).await;
    assert_eq!(world.driver.count(&On::revoke()), 1, "{}", world.driver.ledger());
    assert_eq!(world.proxy.log().since(mark).count(&work()), 0, "{}", world.proxy.log());
    world.driver.grants_exactly(&[]).unwrap();
    // Its Secret lost its owner; a Secret of a gone access keeps our finalizer until somebody takes it off.
    access.remove_secrets_by_force().await;
    world.end_stopped().await;
}

/// Policy Retain: nothing of it is undone.
#[tokio::test]
async fn what_was_made_for_a_bucket_to_be_retained_stays() {
    let Some(Creating { mut world, bucket, slow }) = creating(Wish::retain()).await else { return };
    vanish(&bucket).await;
    no_renewals(&world);
    loses(&mut world, &slow).await;
    world.driver.holds_exactly(&[&bucket.name]).unwrap();
    world.end_stopped().await;
}

/// Nothing waits for the one that lost: the next leader is there as soon as the lease is over.
#[tokio::test]
async fn the_next_leader_does_not_wait_for_the_last_call_of_the_one_before() {
    let Some(Creating { mut world, slow, .. }) = creating(Wish::delete()).await else { return };
    let rival = world.standby().await;
    no_renewals(&world);
    world.sidecar.wait_log(LOST, 1).await.unwrap();
    rival.sidecar.wait_log(LEADS, 1).await.unwrap();
    assert!(world.sidecar.is_running(), "its call runs");
    let fresh = world.create(Wish::delete()).await;
    fresh.wait_ready().await;
    slow.release();
    stops(&mut world).await;
    drop(rival);
    world.end_stopped().await;
}
