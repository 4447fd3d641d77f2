//! The hand-over between controller and sidecar, in both directions (protocol.md §4).

use std::time::Duration;

use cosi_api::names::CONTROLLER_MANAGEMENT_OVERRIDE;
use cosi_sim::driver::{On, Step};
use cosi_sim::proxy::Match;
use rstest::rstest;
use serde_json::{Value, json};
use tonic::Code;

use super::{ready, start, start_with};
use crate::world::{AccessWish, Setup, TestAccess, World, is_clean};

/// A status that names our driver and lacks something: a sentence, no call, no Secret; and nothing is sent at the end.
#[rstest]
#[case::no_buckets("accessedBuckets", Value::Null)]
#[case::no_authentication("authenticationType", Value::Null)]
#[tokio::test]
async fn a_partial_hand_over_is_told_and_nothing_is_sent(#[case] field: &str, #[case] value: Value) {
    let Some((world, bucket)) = start().await else { return };
    let access = world.access(AccessWish::to(&bucket).await.status(field, value)).await;
    access.wait_error(field).await;
    access.wait_event("Refused").await;
    assert!(access.secret(0).await.is_none());
    access.go().await;
    assert_eq!(world.driver.count(&On::any().named(&access.account_name())), 0);
    world.end().await;
}

/// The accessed Buckets must be those of the claims: none less, none more.
#[rstest]
#[case::one_less(true)]
#[case::one_more(false)]
#[tokio::test]
async fn a_hand_over_of_other_buckets_than_were_wished_for_is_told(#[case] less: bool) {
    let Some((world, first)) = start().await else { return };
    let second = world.bucket().await;
    let one = AccessWish::to(&first).await;
    let two = one.clone().and(&second, "ReadOnly").await;
    let (wished, found) = if less { (two, one) } else { (one, two) };
    let access = world.access(wished.status("accessedBuckets", found.accessed())).await;
    access.wait_event("Refused").await;
    access.wait_error("accessedBuckets").await;
    access.go().await;
    assert_eq!(world.driver.count(&On::any().named(&access.account_name())), 0);
    world.end().await;
}

/// A hand-over that is completed later is worked on at once.
#[tokio::test]
async fn a_partial_hand_over_that_is_completed_is_worked_on_at_once() {
    let never = crate::codes::NEVER;
    let setup = Setup::traced().retry(never, never).recheck(never);
    let Some((world, bucket)) = start_with(setup).await else { return };
    let access = world.access(AccessWish::to(&bucket).await.status("authenticationType", Value::Null)).await;
    access.wait_error("authenticationType").await;
    access.patch_status(&json!({ "status": { "authenticationType": "Key" } })).await;
    access.wait_ready().await;
    access.go().await;
    world.end().await;
}

/// Waits until a later access has come and gone, and checks that nothing was done to this one since the mark.
async fn untouched(
    world: &World,
    bucket: &crate::world::TestBucket,
    access: &TestAccess,
    do_it: impl Future,
) {
    let mark = world.proxy.mark();
    do_it.await;
    ready(world, bucket).await.go().await;
    let secret = access.secret_name(0).to_owned();
    let about = {
        let name = access.name.clone();
        Match::writes().filter(move |request| request.name == name || request.name == secret)
    };
    let log = world.proxy.log().since(mark).only(&about);
    assert_eq!(log.entries.len(), 0, "{log}");
}

/// The annotation hands the object back: a Ready one is left as it is, also while it is deleted; without the annotation
/// the sidecar goes on.
#[tokio::test]
async fn an_access_that_is_handed_back_is_not_touched() {
    let Some((mut world, bucket)) = start().await else { return };
    let access = ready(&world, &bucket).await;
    access.annotate(CONTROLLER_MANAGEMENT_OVERRIDE).await;
    untouched(&world, &bucket, &access, async {
        access.patch(&json!({ "metadata": { "labels": { "touched": "yes" } } })).await;
        access.delete().await;
    })
    .await;
    world.restart_sidecar();
    untouched(&world, &bucket, &access, async {}).await;
    assert_eq!(world.driver.count(&On::revoke().named(&access.account_name())), 0);
    assert!(access.secret(0).await.is_some());
    access.patch(&json!({ "metadata": { "annotations": { CONTROLLER_MANAGEMENT_OVERRIDE: null } } })).await;
    access.wait_clean().await;
    access.finish().await;
    world.end().await;
}

/// Handed back from the start: nothing at all, until it is handed over.
#[tokio::test]
async fn an_access_under_the_controllers_management_is_not_begun() {
    let Some((world, bucket)) = start().await else { return };
    let managed = json!({ CONTROLLER_MANAGEMENT_OVERRIDE: "" });
    let access = world.plan_access(AccessWish::to(&bucket).await.metadata("annotations", managed)).await;
    untouched(&world, &bucket, &access, access.hand_over()).await;
    assert_eq!(world.driver.count(&On::grant().named(&access.account_name())), 0);
    access.patch(&json!({ "metadata": { "annotations": { CONTROLLER_MANAGEMENT_OVERRIDE: null } } })).await;
    access.wait_ready().await;
    access.go().await;
    world.end().await;
}

/// Handed back while a Grant is failing: no call more.
#[tokio::test]
async fn an_access_that_is_handed_back_while_it_is_worked_on_gets_no_more_calls() {
    let Some((world, bucket)) = start().await else { return };
    let denied = world.driver.rule(On::grant(), Step::fail(Code::PermissionDenied));
    let access = world.access(AccessWish::to(&bucket).await).await;
    denied.wait_hits(2).await.unwrap();
    access.annotate(CONTROLLER_MANAGEMENT_OVERRIDE).await;
    world.driver.wait_quiet(Duration::from_secs(1)).await.unwrap();
    let sent = denied.hits();
    access.patch(&json!({ "metadata": { "labels": { "touched": "yes" } } })).await;
    world.driver.wait_quiet(Duration::from_millis(500)).await.unwrap();
    assert_eq!(denied.hits(), sent);
    access.patch(&json!({ "metadata": { "annotations": { CONTROLLER_MANAGEMENT_OVERRIDE: null } } })).await;
    denied.off();
    access.wait_ready().await;
    access.go().await;
    world.end().await;
}

/// Handed back in the middle of its deletion, while the driver refuses to revoke.
#[tokio::test]
async fn a_deletion_that_is_handed_back_gets_no_more_calls() {
    let Some((world, bucket)) = start().await else { return };
    let access = ready(&world, &bucket).await;
    let denied = world.driver.rule(On::revoke(), Step::fail(Code::PermissionDenied));
    access.delete().await;
    denied.wait_hits(2).await.unwrap();
    access.annotate(CONTROLLER_MANAGEMENT_OVERRIDE).await;
    world.driver.wait_quiet(Duration::from_secs(1)).await.unwrap();
    assert!(!is_clean(&access.get().await.unwrap()));
    access.patch(&json!({ "metadata": { "annotations": { CONTROLLER_MANAGEMENT_OVERRIDE: null } } })).await;
    denied.off();
    access.wait_clean().await;
    access.finish().await;
    world.end().await;
}
