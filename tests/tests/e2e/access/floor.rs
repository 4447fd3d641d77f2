//! What an access costs when nothing goes wrong (lifecycle.md §3): not one request more.

use std::time::Duration;

use cosi_sim::driver::{On, Step};
use cosi_sim::proxy::Match;
use futures::future::join_all;
use tonic::Code;

use super::{ready, start, start_with};
use crate::world::{AccessWish, Setup, TestAccess, World, reasons};

async fn many(world: &World, bucket: &crate::world::TestBucket, n: usize) -> Vec<TestAccess> {
    join_all((0..n).map(async |_| world.access(AccessWish::to(bucket).await).await)).await
}

/// I9, the floor's rows for accesses.
#[tokio::test]
async fn an_access_costs_three_writes_and_a_call_to_grant_and_four_and_a_call_to_revoke() {
    let Some((world, bucket)) = start().await else { return };
    let mark = world.proxy.mark();
    let access = ready(&world, &bucket).await;
    assert_eq!(world.proxy.writes_since(mark), 3, "{}", world.proxy.log());
    assert_eq!(world.driver.count(&On::grant()), 1);

    let mark = world.proxy.mark();
    access.delete().await;
    access.wait_clean().await;
    assert_eq!(world.proxy.writes_since(mark), 4, "{}", world.proxy.log());
    assert_eq!(world.driver.count(&On::revoke()), 1);
    assert_eq!(world.driver.count(&On::any()), 4, "GetInfo, Create, Grant, Revoke");
    access.finish().await;
    world.end().await;
}

/// The same for several buckets: a Secret more costs two writes more on each side.
#[tokio::test]
async fn each_further_bucket_costs_two_writes_to_grant_and_two_to_revoke() {
    let Some((world, first)) = start().await else { return };
    let second = world.bucket().await;
    let wish = AccessWish::to(&first).await.and(&second, "ReadOnly").await;
    let mark = world.proxy.mark();
    let access = world.access(wish).await;
    access.wait_ready().await;
    assert_eq!(world.proxy.writes_since(mark), 5, "{}", world.proxy.log());
    let mark = world.proxy.mark();
    access.delete().await;
    access.wait_clean().await;
    assert_eq!(world.proxy.writes_since(mark), 6, "{}", world.proxy.log());
    access.finish().await;
    world.end().await;
}

/// I9 and R9: a new process finds 50 Ready accesses, and neither writes nor calls; Secrets are not read for it, either.
#[tokio::test]
async fn a_restart_over_fifty_ready_accesses_costs_nothing() {
    let Some((mut world, bucket)) = start().await else { return };
    let accesses = many(&world, &bucket, 50).await;
    join_all(accesses.iter().map(TestAccess::wait_ready)).await;
    let mark = world.proxy.mark();
    let calls = world.driver.count(&On::any());
    world.restart_sidecar();
    // When this later one is through, so is the whole list.
    let last = ready(&world, &bucket).await;
    assert_eq!(world.proxy.writes_since(mark), 3, "only the later one's\n{}", world.proxy.log());
    assert_eq!(world.driver.count(&On::any()) - calls, 2, "GetInfo and the later one's Grant");
    join_all(accesses.iter().chain([&last]).map(TestAccess::go)).await;
    world.driver.grants_exactly(&[]).unwrap();
    world.end().await;
}

/// I9, R16, C23, C25, C26: the same error with another text each time is written once; success clears it.
#[tokio::test]
async fn a_failing_access_costs_one_call_a_step_and_one_status_write_for_one_error() {
    let setup = Setup::traced().recheck(Duration::from_mins(10));
    let Some((world, bucket)) = start_with(setup).await else { return };
    let texts = (0..8).map(|n| format!("request {n}"));
    let denied =
        world.driver.script(On::grant(), texts.map(|text| Step::fail(Code::PermissionDenied).message(text)));
    let mark = world.proxy.mark();
    let access = world.access(AccessWish::to(&bucket).await).await;
    denied.wait_hits(8).await.unwrap();
    access.wait_ready().await;
    assert_eq!(world.driver.count(&On::grant()), 9);
    assert_eq!(world.proxy.writes_since(mark), 4, "reserve, error, fill, Ready\n{}", world.proxy.log());
    assert_eq!(reasons(&access.events().await), ["Failing"], "R16: once per change");
    assert_eq!(world.sidecar.lines_with(" WARN ").len(), 1, "C23: {}", world.sidecar.log());
    access.go().await;
    world.end().await;
}

/// I6: once the desired state is reached, or known to be out of reach for now, all is quiet.
#[tokio::test]
async fn once_all_is_done_nothing_is_written_and_nobody_called() {
    let setup = Setup::traced().recheck(Duration::from_mins(10));
    let Some((world, bucket)) = start_with(setup).await else { return };
    let refused = world.plan_access(AccessWish::to(&bucket).await).await;
    world.driver.rule(On::grant().named(&refused.account_name()), Step::fail(Code::AlreadyExists));
    let mark = world.proxy.mark();
    refused.hand_over().await;
    let accesses = many(&world, &bucket, 5).await;
    join_all(accesses.iter().map(TestAccess::wait_ready)).await;
    refused.wait_error("ALREADY_EXISTS").await;
    let silence = Duration::from_secs(1);
    world.proxy.wait_quiet(&Match::writes(), silence).await.unwrap();
    world.driver.wait_quiet(silence).await.unwrap();
    assert_eq!(world.proxy.writes_since(mark), 17, "three each, and two\n{}", world.proxy.log());
    assert_eq!(world.driver.count(&On::grant()), 6);
    join_all(accesses.iter().chain([&refused]).map(TestAccess::go)).await;
    world.driver.grants_exactly(&[]).unwrap();
    world.end().await;
}

/// The right to list or watch Secrets is not needed: they are read one by one.
#[tokio::test]
async fn secrets_are_never_listed_or_watched() {
    let Some((world, bucket)) = start().await else { return };
    ready(&world, &bucket).await.go().await;
    for which in [Match::list("secrets"), Match::watch("secrets")] {
        assert_eq!(world.proxy.count(&which), 0, "{}", world.proxy.log());
    }
    world.end().await;
}
