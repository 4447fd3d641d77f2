//! Each gRPC code on each of the access RPCs (C27): when is it tried again, and does the account go in the end?

use cosi_sim::driver::{Abilities, Ids, On, Step};
use futures::future::join_all;
use tonic::Code;

use super::start_with;
use crate::codes::{Again, CODES, again, again_for_delete};
use crate::world::{AccessWish, Setup, TestAccess, TestBucket, World, reasons};

/// As for a Create, but OUT_OF_RANGE says that several buckets are too much.
fn again_for_grant(code: i32) -> Again {
    if code == 11 { Again::AtRecheck } else { again(code) }
}

async fn world_for(class: Again, change: impl FnOnce(&mut Abilities)) -> Option<(World, TestBucket)> {
    start_with(class.setup(Setup::traced().driver(change))).await
}

async fn go_all(world: World, accesses: &[TestAccess]) {
    join_all(accesses.iter().map(TestAccess::go)).await;
    world.driver.grants_exactly(&[]).unwrap();
    world.end().await;
}

/// C27, R3, R16: answered before, after and half-way through the granting.
#[tokio::test]
async fn every_code_on_grant_is_repeated_when_it_should_be() {
    for class in Again::ALL {
        let Some((world, bucket)) = world_for(class, |driver| driver.ids = Ids::Opaque).await else { return };
        let kinds: [fn(i32) -> Step; 3] = [Step::fail, Step::done_but, Step::half_done];
        let codes = CODES.iter().filter(|code| again_for_grant(**code) == class);
        let rows = codes.flat_map(|code| kinds.map(|step| (*code, step(*code))));
        let accesses =
            join_all(rows.map(|(code, step)| failing_grant(&world, &bucket, class, code, step))).await;
        if class == Again::Soon {
            // Among them is ABORTED, after which a revoke waits for a grace that does not end here.
            world.end().await;
        } else {
            go_all(world, &accesses).await;
        }
    }
}

async fn failing_grant(
    world: &World,
    bucket: &TestBucket,
    class: Again,
    code: i32,
    step: Step,
) -> TestAccess {
    let access = world.plan_access(AccessWish::to(bucket).await).await;
    let on = On::grant().named(&access.account_name());
    let what = format!("code {code}, {step:?}");
    world.driver.rule(on.clone().nth(1), step);
    access.hand_over().await;
    class.check(world, &on, &what).await;
    access.wait_ready().await;
    let reason = if class == Again::AtRecheck { "Refused" } else { "Failing" };
    assert_eq!(reasons(&access.events().await), [reason], "C26, {what}");
    access
}

/// C27, R3: the answer came, and what was asked for comes later, within the grace; with keys that a second Grant voids.
#[tokio::test]
async fn a_grant_that_lands_after_its_error_makes_no_second_account_and_voids_no_key() {
    let class = Again::AfterGrace;
    let change = |driver: &mut Abilities| {
        driver.ids = Ids::OpaqueRacy;
        driver.keys = cosi_sim::driver::Keys::Rotating;
    };
    let Some((world, bucket)) = world_for(class, change).await else { return };
    let codes = CODES.iter().filter(|code| again_for_grant(**code) == class);
    let accesses = join_all(codes.map(async |code| {
        let access = world.plan_access(AccessWish::to(&bucket).await).await;
        let late = Step::fail_then_land(*code, class.grace() / 2);
        world.driver.rule(On::grant().named(&access.account_name()).nth(1), late);
        access.hand_over().await;
        access.wait_ready().await;
        access
    }))
    .await;
    go_all(world, &accesses).await;
}

/// C27, R14: a revocation is blocked by each of them, visibly, and goes on by itself.
#[tokio::test]
async fn every_code_on_revoke_is_repeated_when_it_should_be() {
    for class in Again::ALL {
        let Some((world, bucket)) = world_for(class, |_| {}).await else { return };
        let codes = CODES.iter().filter(|code| again_for_delete(**code) == class);
        join_all(codes.map(async |code| {
            let access = super::ready(&world, &bucket).await;
            blocked_revoke(&world, class, *code, On::revoke(), &access).await;
        }))
        .await;
        world.driver.grants_exactly(&[]).unwrap();
        world.end().await;
    }
}

/// C27, R10 d: the same where only the name is known. After UNIMPLEMENTED and INVALID_ARGUMENT comes the replay, which has
/// tests of its own (`undo`).
#[tokio::test]
async fn every_code_on_revoke_by_name_is_repeated_when_it_should_be() {
    for class in Again::ALL {
        let Some((world, bucket)) = world_for(class, |driver| driver.ids = Ids::Opaque).await else { return };
        let codes = CODES.iter().filter(|code| again_for_delete(**code) == class && ![3, 12].contains(*code));
        world.driver.rule(On::grant(), Step::done_but(Code::PermissionDenied));
        join_all(codes.map(async |code| {
            let access = world.access(AccessWish::to(&bucket).await).await;
            access.wait_error("PERMISSION_DENIED").await;
            blocked_revoke(&world, class, *code, On::revoke_by_name(), &access).await;
        }))
        .await;
        world.driver.grants_exactly(&[]).unwrap();
        world.end().await;
    }
}

async fn blocked_revoke(world: &World, class: Again, code: i32, on: On, access: &TestAccess) {
    let on = on.named(&access.account_name());
    world.driver.rule(on.clone().nth(1), Step::fail(code));
    access.delete().await;
    class.check(world, &on, &format!("code {code}")).await;
    access.wait_clean().await;
    let events = access.events().await;
    let seen = code == 5 || reasons(&events).contains(&"DeletionBlocked");
    assert!(seen, "code {code}: {:?}", reasons(&events));
    access.finish().await;
}
