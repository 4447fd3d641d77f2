//! Each gRPC code on each RPC (C27): when is it tried again, and does the bucket go in the end?

use std::time::Duration;

use cosi_sim::driver::{Ids, On, Step};
use futures::future::join_all;

use crate::world::{Setup, TestBucket, Wish, World, reasons};

/// Long enough to tell it from a backoff on a busy machine.
const GRACE: Duration = Duration::from_millis(1500);
/// Long enough to tell it from a grace.
const RECHECK: Duration = Duration::from_secs(4);

/// 1–16, and one that gRPC does not define.
const CODES: [i32; 17] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 42];

/// When the same call may come again (protocol.md §2, lifecycle.md R3).
#[derive(Clone, Copy, Debug, PartialEq)]
enum Again {
    /// After its backoff.
    Soon,
    /// The call may still be at work.
    AfterGrace,
    /// When something changes, or at the slow re-check.
    AtRecheck,
}

/// Written down a second time on purpose: one row for each code of the tables, not a copy of the product's function.
fn again(code: i32) -> Again {
    match code {
        // INVALID_ARGUMENT, ALREADY_EXISTS, UNIMPLEMENTED.
        3 | 6 | 12 => Again::AtRecheck,
        // NOT_FOUND, PERMISSION_DENIED, FAILED_PRECONDITION, ABORTED, UNAUTHENTICATED.
        5 | 7 | 9 | 10 | 16 => Again::Soon,
        _ => Again::AfterGrace,
    }
}

async fn world(change: impl FnOnce(&mut cosi_sim::driver::Abilities)) -> Option<World> {
    let (start, max) = (Duration::from_millis(10), Duration::from_millis(40));
    Setup::default().driver(change).grace(GRACE).recheck(RECHECK).retry(start, max).start().await
}

/// Checks the time between the first two calls, after the second was seen.
async fn check_gap(world: &World, on: On, what: &str, expected: Again) {
    world.driver.wait_calls(&on, 2).await.unwrap();
    let calls = world.driver.calls(&on);
    let gap = calls[1].at - calls[0].at;
    // The client's clock starts and ends a little beside the driver's.
    let slack = Duration::from_millis(50);
    let fits = match expected {
        Again::Soon => gap < GRACE,
        Again::AfterGrace => gap + slack >= GRACE && gap < RECHECK,
        Again::AtRecheck => gap + slack >= RECHECK,
    };
    assert!(fits, "{what}: repeated after {gap:?}, expected {expected:?}\n{}", world.driver.ledger());
}

async fn release_all(world: World, buckets: &[TestBucket]) {
    join_all(buckets.iter().map(TestBucket::release)).await;
    join_all(buckets.iter().map(TestBucket::wait_gone)).await;
    world.end_empty().await;
}

/// C27, R3, R16: answered before, after and half-way through the making.
#[tokio::test]
async fn every_code_on_create_is_repeated_when_it_should_be_and_leaves_nothing() {
    let Some(world) = world(|driver| driver.ids = Ids::Opaque).await else { return };
    let kinds: [fn(i32) -> Step; 3] = [Step::fail, Step::done_but, Step::half_done];
    let rows = CODES.iter().flat_map(|code| kinds.map(|step| (*code, step(*code))));
    let buckets = join_all(rows.map(async |(code, step)| {
        let plan = world.plan().await;
        let on = On::create().named(&plan.name);
        let what = format!("code {code}, {step:?}");
        world.driver.rule(on.clone().nth(1), step);
        let bucket = world.create_planned(&plan, Wish::delete()).await;
        check_gap(&world, on, &what, again(code)).await;
        bucket.wait_ready().await;
        let reason = if again(code) == Again::AtRecheck { "Refused" } else { "Failing" };
        assert_eq!(reasons(&bucket.events().await), [reason], "{what}");
        bucket
    }))
    .await;
    let names: Vec<&str> = buckets.iter().map(|bucket| bucket.name.as_str()).collect();
    world.driver.holds_exactly(&names).unwrap();
    release_all(world, &buckets).await;
}

/// C27, R3: the answer came, and what was asked for comes later, within the grace.
#[tokio::test]
async fn a_create_that_lands_after_its_error_makes_no_second_bucket() {
    let Some(world) = world(|driver| driver.ids = Ids::OpaqueRacy).await else { return };
    let codes = CODES.iter().filter(|code| again(**code) == Again::AfterGrace);
    let buckets = join_all(codes.map(async |code| {
        let plan = world.plan().await;
        let on = On::create().named(&plan.name);
        world.driver.rule(on.clone().nth(1), Step::fail_then_land(*code, GRACE / 2));
        let bucket = world.create_planned(&plan, Wish::delete()).await;
        bucket.wait_ready().await;
        bucket
    }))
    .await;
    release_all(world, &buckets).await;
}

/// C27 for static Buckets.
#[tokio::test]
async fn every_code_on_get_existing_is_repeated_when_it_should_be() {
    let Some(world) = world(|_| {}).await else { return };
    let buckets = join_all(CODES.iter().map(async |code| {
        let id = format!("existing-{code}");
        world.driver.add_foreign(&id);
        let on = On::get_existing().named(&id);
        world.driver.rule(on.clone().nth(1), Step::fail(*code));
        let bucket = world.create_static(&id).await;
        check_gap(&world, on, &format!("code {code}"), again(*code)).await;
        assert_eq!(bucket.wait_ready().await, id);
        bucket
    }))
    .await;
    assert_eq!(world.driver.count(&On::create()), 0, "C12");
    world.end().await;
    drop(buckets);
}

/// C27, R14: a deletion is blocked by each of them, visibly, and goes on by itself.
#[tokio::test]
async fn every_code_on_delete_is_repeated_when_it_should_be() {
    let Some(world) = world(|_| {}).await else { return };
    let buckets = join_all(CODES.iter().map(async |code| {
        let bucket = world.create(Wish::delete()).await;
        bucket.wait_ready().await;
        let on = On::delete().named(&bucket.name);
        world.driver.rule(on.clone().nth(1), Step::fail(*code));
        bucket.release().await;
        // NOT_FOUND is asked once more, a grace later.
        let expected = if *code == 5 { Again::AfterGrace } else { again(*code) };
        check_gap(&world, on, &format!("code {code}"), expected).await;
        bucket.wait_gone().await;
        if *code != 5 {
            assert_eq!(reasons(&bucket.events().await), ["DeletionBlocked"], "code {code}");
        }
        bucket
    }))
    .await;
    release_all(world, &buckets).await;
}

/// C27, R10 d: the same where only the name is known. UNIMPLEMENTED has tests of its own (C2).
#[tokio::test]
async fn every_code_on_delete_by_name_is_repeated_when_it_should_be() {
    let Some(world) = world(|driver| driver.ids = Ids::Opaque).await else { return };
    let codes = CODES.iter().filter(|code| **code != 12);
    let buckets = join_all(codes.map(async |code| {
        let plan = world.plan().await;
        world.driver.rule(On::create().named(&plan.name), Step::done_but(tonic::Code::Internal));
        let on = On::delete_by_name().named(&plan.name);
        world.driver.rule(on.clone().nth(1), Step::fail(*code));
        let bucket = world.create_planned(&plan, Wish::delete()).await;
        bucket.wait_error("INTERNAL").await;
        bucket.release().await;
        let expected = if *code == 5 { Again::AfterGrace } else { again(*code) };
        check_gap(&world, on, &format!("code {code}"), expected).await;
        bucket.wait_gone().await;
        bucket
    }))
    .await;
    release_all(world, &buckets).await;
}
