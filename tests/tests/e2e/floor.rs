//! What a lifecycle costs when nothing goes wrong (lifecycle.md §3): not one request more.

use std::time::Duration;

use cosi_sim::driver::{On, Step};
use cosi_sim::proxy::Match;
use futures::future::join_all;
use tonic::Code;

use crate::world::{Setup, TestBucket, Wish, World, reasons};

/// I9, the floor's first two rows.
#[tokio::test]
async fn a_bucket_costs_two_writes_and_a_call_to_make_and_one_of_each_to_delete() {
    let Some(world) = World::start().await else { return };
    let bucket = world.create(Wish::delete()).await;
    let id = bucket.wait_ready().await;
    assert_eq!(id, bucket.name, "the id is the backend's");
    assert_eq!(world.proxy.writes(), 2, "{}", world.proxy.log());
    assert_eq!(world.driver.count(&On::create()), 1);

    let mark = world.proxy.mark();
    bucket.release().await;
    bucket.wait_gone().await;
    assert_eq!(world.proxy.writes_since(mark), 1, "{}", world.proxy.log());
    assert_eq!(world.driver.count(&On::delete()), 1);
    assert_eq!(world.driver.count(&On::any()), 3, "GetInfo, Create, Delete");
    assert!(bucket.events().await.is_empty(), "R16: the success path writes no Event");
    world.end_empty().await;
}

/// I9 and R9, C13: a new process finds 200 Ready Buckets, and neither writes nor calls.
#[tokio::test]
async fn a_restart_over_two_hundred_ready_buckets_costs_nothing() {
    let Some(mut world) = World::start().await else { return };
    let buckets = world.create_many(200, &Wish::delete()).await;
    join_all(buckets.iter().map(TestBucket::wait_ready)).await;
    assert_eq!(world.proxy.writes(), 400, "{}", world.proxy.log());

    world.restart_sidecar();
    world.sidecar.wait_log("all Buckets listed", 2).await.unwrap();
    // When this later one is through, so is the whole list.
    let last = world.create(Wish::delete()).await;
    last.wait_ready().await;
    assert_eq!(world.proxy.writes(), 402, "{}", world.proxy.log());
    assert_eq!(world.driver.count(&On::create()), 201);
    assert_eq!(world.driver.count(&On::any()), 203, "201 Creates and GetInfo of each life");

    join_all(buckets.iter().chain([&last]).map(TestBucket::release)).await;
    join_all(buckets.iter().chain([&last]).map(TestBucket::wait_gone)).await;
    assert_eq!(world.proxy.writes(), 603, "{}", world.proxy.log());
    assert_eq!(world.driver.count(&On::delete()), 201);
    world.end_empty().await;
}

/// I9, R16, C23, C25: the same error with another text each time is written once; success clears it.
#[tokio::test]
async fn a_failing_bucket_costs_one_call_a_step_and_one_status_write_for_one_error() {
    let setup = Setup::default().recheck(Duration::from_mins(10));
    let Some(world) = setup.start().await else { return };
    let texts = (0..8).map(|n| format!("request {n}"));
    let denied =
        world.driver.script(On::create(), texts.map(|text| Step::fail(Code::PermissionDenied).message(text)));
    let bucket = world.create(Wish::delete()).await;
    denied.wait_hits(8).await.unwrap();
    bucket.wait_ready().await;
    let reports = world.proxy.log().only(&Match::change("buckets/status"));
    let message = reports.entries[0].request.json()["status"]["error"]["message"].to_string();
    assert!(message.contains("request 0") && message.contains("PERMISSION_DENIED"), "{message}");
    assert_eq!(world.driver.count(&On::create()), 9);
    assert_eq!(world.proxy.writes(), 3, "finalizer, error, Ready\n{}", world.proxy.log());
    assert_eq!(reasons(&bucket.events().await), ["Failing"], "R16: once per change");
    assert_eq!(world.sidecar.lines_with(" WARN ").len(), 1, "C23: {}", world.sidecar.log());
    bucket.release().await;
    bucket.wait_gone().await;
    world.end_empty().await;
}

/// R16: another code is another error, and the same one is not written again.
#[tokio::test]
async fn each_change_of_the_error_is_at_most_one_status_write() {
    let (start, max) = (Duration::from_millis(200), Duration::from_millis(400));
    let setup = Setup::default().retry(start, max).recheck(Duration::from_mins(10));
    let Some(world) = setup.start().await else { return };
    let codes = [Code::PermissionDenied, Code::PermissionDenied, Code::Unauthenticated, Code::NotFound];
    world.driver.script(On::create(), codes.map(Step::fail));
    let bucket = world.create(Wish::delete()).await;
    bucket.wait_ready().await;
    let log = world.proxy.log().only(&Match::change("buckets/status"));
    let written =
        log.entries.iter().map(|entry| entry.request.json()["status"]["error"]["message"].to_string());
    let mut told: Vec<String> = written.collect();
    // Three errors, then null. On a slow machine one may be over before it could be written.
    assert!((2..=4).contains(&told.len()), "{told:?}");
    told.dedup();
    assert_eq!(told.len(), log.entries.len(), "the same error was written twice: {told:?}");
    bucket.release().await;
    bucket.wait_gone().await;
    world.end_empty().await;
}

/// I6: once the desired state is reached, or known to be out of reach for now, all is quiet.
#[tokio::test]
async fn once_all_is_done_nothing_is_written_and_nobody_called() {
    let setup = Setup::default().recheck(Duration::from_mins(10));
    let Some(world) = setup.start().await else { return };
    let plan = world.plan().await;
    world.driver.rule(On::create().named(&plan.name), Step::fail(Code::AlreadyExists));
    let refused = world.create_planned(&plan, Wish::delete()).await;
    let buckets = world.create_many(5, &Wish::delete()).await;
    join_all(buckets.iter().map(TestBucket::wait_ready)).await;
    refused.wait_error("ALREADY_EXISTS").await;
    let silence = Duration::from_secs(1);
    world.proxy.wait_quiet(&Match::writes(), silence).await.unwrap();
    world.driver.wait_quiet(silence).await.unwrap();
    assert_eq!(world.proxy.writes(), 12, "two each, and one error\n{}", world.proxy.log());
    assert_eq!(world.driver.count(&On::create()), 6);
    join_all(buckets.iter().chain([&refused]).map(TestBucket::release)).await;
    join_all(buckets.iter().chain([&refused]).map(TestBucket::wait_gone)).await;
    world.end_empty().await;
}
