//! The accessed Buckets: what is refused, and that the access is worked on at once when a Bucket changes (protocol.md §4).

use std::time::Duration;

use cosi_api::names::{BUCKETCLAIM_BEING_DELETED, BUCKETCLAIM_BEING_DELETED_FIXED};
use cosi_sim::driver::{On, Step};
use cosi_sim::proxy::{Action, Match};
use rstest::rstest;
use serde_json::json;
use tonic::Code;

use super::{ready, start, start_with};
use crate::world::{AccessWish, Setup, TestAccess, Wish, World, is_ready};

/// Nothing but a change of the Bucket can wake an access in this world.
fn nothing_else_wakes() -> Setup {
    let never = Duration::from_mins(10);
    Setup::traced().retry(never, never).recheck(never)
}

async fn refused(world: &World, access: &TestAccess, bucket: &str) {
    access.wait_error(bucket).await;
    access.wait_event("Refused").await;
    assert_eq!(world.driver.count(&On::grant()), 0);
    assert_eq!(access.own_secrets().await, Vec::<String>::new(), "Buckets are looked at first");
}

/// A Bucket that isn't there: refused, and granted as soon as it is.
#[tokio::test]
async fn an_access_to_a_bucket_that_does_not_exist_is_refused_until_it_does() {
    let Some(world) = nothing_else_wakes().start().await else { return };
    let model = world.bucket().await;
    let plan = world.plan().await;
    let wish = AccessWish::to(&model).await.entry(|entry| {
        entry.bucket.clone_from(&plan.name);
        entry.id.clone_from(&plan.name);
    });
    let access = world.access(wish).await;
    refused(&world, &access, &plan.name).await;
    let bucket = world.create_planned(&plan, Wish::delete()).await;
    bucket.wait_ready().await;
    access.wait_ready().await;
    access.go().await;
    world.end().await;
}

/// A Bucket without an id: refused, and granted as soon as it has one.
#[tokio::test]
async fn an_access_to_a_bucket_without_id_is_refused_until_it_has_one() {
    let Some(world) = nothing_else_wakes().start().await else { return };
    let model = world.bucket().await;
    let plan = world.plan().await;
    let held = world.driver.rule(On::create().named(&plan.name), Step::hold());
    let bucket = world.create_planned(&plan, Wish::delete()).await;
    held.wait_hit().await.unwrap();
    let wish = AccessWish::to(&model).await.entry(|entry| {
        entry.bucket.clone_from(&plan.name);
        entry.id.clone_from(&plan.name);
    });
    let access = world.access(wish).await;
    refused(&world, &access, &plan.name).await;
    held.release();
    bucket.wait_ready().await;
    access.wait_ready().await;
    access.go().await;
    world.end().await;
}

/// The controller recorded another id than the Bucket has.
#[tokio::test]
async fn an_access_to_a_bucket_with_another_id_is_refused() {
    let Some((world, bucket)) = start().await else { return };
    let access = AccessWish::to(&bucket).await.entry(|entry| entry.id = "another".into());
    let access = world.access(access).await;
    refused(&world, &access, &bucket.name).await;
    access.go().await;
    world.end().await;
}

/// In either spelling.
#[rstest]
#[tokio::test]
async fn an_access_to_a_bucket_whose_claim_is_leaving_is_refused(
    #[values(BUCKETCLAIM_BEING_DELETED, BUCKETCLAIM_BEING_DELETED_FIXED)] annotation: &str,
) {
    let Some((world, bucket)) = start_with(nothing_else_wakes()).await else { return };
    bucket.annotate(annotation).await;
    let access = world.access(AccessWish::to(&bucket).await).await;
    refused(&world, &access, &bucket.name).await;
    // A claim that stays after all.
    bucket.patch(&json!({ "metadata": { "annotations": { annotation: null } } })).await;
    access.wait_ready().await;
    access.go().await;
    world.end().await;
}

/// A deleting Bucket is refused, whatever its claim does.
#[tokio::test]
async fn an_access_to_a_deleting_bucket_is_refused() {
    let Some((world, bucket)) = start().await else { return };
    bucket.delete().await;
    let access = world.access(AccessWish::to(&bucket).await).await;
    refused(&world, &access, &bucket.name).await;
    access.go().await;
    world.end().await;
}

/// One bad Bucket of two is enough.
#[tokio::test]
async fn one_bucket_that_is_leaving_refuses_the_whole_access() {
    let Some((world, first)) = start().await else { return };
    let second = world.bucket().await;
    let wish = AccessWish::to(&first).await.and(&second, "ReadOnly").await;
    second.delete().await;
    let access = world.access(wish).await;
    refused(&world, &access, &second.name).await;
    access.go().await;
    world.end().await;
}

/// The Bucket leaves while the Grant fails: no Grant is sent any more. The look is live, the watch says nothing yet.
#[tokio::test]
async fn a_bucket_that_leaves_between_two_grants_ends_them() {
    let Some((world, bucket)) = start().await else { return };
    let denied = world.driver.rule(On::grant(), Step::fail(Code::PermissionDenied));
    let access = world.access(AccessWish::to(&bucket).await).await;
    denied.wait_hit().await.unwrap();
    world.proxy.stall_watches("buckets");
    bucket.delete().await;
    access.wait_error(&bucket.name).await;
    let sent = denied.hits();
    world.proxy.resume_watches("buckets");
    world.driver.wait_quiet(Duration::from_secs(1)).await.unwrap();
    assert_eq!(denied.hits(), sent);
    access.go().await;
    world.end().await;
}

/// What becomes of a Bucket doesn't change an access that is Ready.
#[tokio::test]
async fn a_ready_access_stays_so_while_its_bucket_leaves() {
    let Some((world, bucket)) = start().await else { return };
    let access = ready(&world, &bucket).await;
    let blocked = world.driver.rule(On::delete(), Step::fail(Code::FailedPrecondition));
    bucket.release().await;
    blocked.wait_hits(2).await.unwrap();
    assert!(is_ready(&access.get().await.unwrap()));
    access.go().await;
    blocked.off();
    bucket.wait_gone().await;
    world.end_empty().await;
}

/// R4: a Bucket that cannot be read is not a Bucket that isn't there: no refusal, and it goes on by itself.
#[tokio::test]
async fn a_bucket_that_cannot_be_read_is_read_again() {
    let Some((world, bucket)) = start().await else { return };
    let access = world.plan_access(AccessWish::to(&bucket).await).await;
    let failing = world.proxy.rule(Match::get("buckets").named(&bucket.name).first(3), Action::status(500));
    access.hand_over().await;
    access.wait_ready().await;
    assert_eq!(failing.hits(), 3);
    let events = access.events().await;
    assert!(!crate::world::reasons(&events).contains(&"Refused"));
    access.go().await;
    world.end().await;
}
