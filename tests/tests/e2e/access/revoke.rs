//! An access is deleted: what goes in which order, and who may hold it up.

use std::time::Duration;

use cosi_api::names::{FINALIZER, SIDECAR_CLEANUP_FINISHED, SIDECAR_LET_GO};
use cosi_proto::v1alpha2::DriverGrantBucketAccessRequest;
use cosi_sim::driver::{On, Request, Step};
use cosi_sim::proxy::{Action, Entry, Match};
use serde_json::json;
use tonic::Code;

use super::{ready, start, start_with};
use crate::world::{AccessWish, GRACE, Setup, TestAccess, World, has_finalizer, is_ready, reasons};

/// What the sidecar did with an access and its Secrets, in order: verb, resource and whether it was done.
fn acts(world: &World, access: &TestAccess) -> Vec<String> {
    let secrets: Vec<String> = access.wish.entries.iter().map(|entry| entry.secret.clone()).collect();
    let name = access.name.clone();
    let ours = move |request: &cosi_sim::proxy::Request| {
        request.resource != "events" && (request.name == name || secrets.contains(&request.name))
    };
    let told = |entry: &Entry| {
        let request = &entry.request;
        let slash = if request.subresource.is_empty() { "" } else { "/" };
        format!("{} {}{slash}{}", request.verb, request.resource, request.subresource)
    };
    let log = world.proxy.log().only(&Match::writes().filter(ours));
    log.entries.iter().filter(|entry| entry.applied()).map(told).collect()
}

/// The main job, in lifecycle.md's order: not Ready, Secret gone, Revoke, the mark.
#[tokio::test]
async fn a_deleted_access_loses_readiness_then_secret_then_account_then_gets_the_mark() {
    let Some((world, bucket)) = start().await else { return };
    let wish = AccessWish::to(&bucket).await.status("parameters", json!({ "tier": "cold" }));
    let access = world.access(wish).await;
    let account = access.wait_ready().await;
    let held = world.driver.rule(On::revoke(), Step::hold());
    access.delete().await;
    let call = held.wait_hit().await.unwrap();
    assert_eq!(access.own_secrets().await, Vec::<String>::new(), "I5: Secrets go before the account");
    assert!(!is_ready(&access.get().await.unwrap()), "I5");
    held.release();
    access.wait_clean().await;
    assert_eq!(
        acts(&world, &access),
        [
            "create secrets",
            "patch secrets",
            "patch bucketaccesses/status",
            "patch bucketaccesses/status",
            "patch secrets",
            "delete secrets",
            "patch bucketaccesses",
        ],
        "{}",
        world.proxy.log()
    );
    let Request::Revoke(request) = call.request else { panic!("{call:?}") };
    let Request::Grant(granted) = &world.driver.calls(&On::grant())[0].request else { panic!() };
    let DriverGrantBucketAccessRequest { protocol, authentication_type, parameters, .. } = granted.clone();
    assert_eq!((request.account_id, request.protocol), (account, protocol));
    assert_eq!((request.authentication_type, request.parameters), (authentication_type, parameters));
    assert_eq!(request.buckets.len(), 1);
    assert_eq!(request.buckets[0].bucket_id, access.wish_id(0));
    access.finish().await;
    assert!(access.events().await.is_empty(), "R16: the success path writes no Event");
    world.end().await;
}

/// Secret deletes carry UID and resourceVersion, so they never hit what somebody else put there meanwhile.
#[tokio::test]
async fn a_secret_is_deleted_on_condition_of_uid_and_version() {
    let Some((world, bucket)) = start().await else { return };
    let access = ready(&world, &bucket).await;
    let uid = access.secret(0).await.unwrap().metadata.uid.unwrap();
    access.go().await;
    let log = world.proxy.log().only(&Match::delete("secrets"));
    assert_eq!(log.entries.len(), 1, "{log}");
    let conditions = log.entries[0].request.json()["preconditions"].clone();
    assert_eq!(conditions["uid"], uid.as_str());
    assert!(conditions["resourceVersion"].is_string(), "{conditions}");
    world.end().await;
}

/// C6: the Bucket object is gone long since; its id stands in the access's own status.
#[tokio::test]
async fn an_access_whose_bucket_is_gone_is_revoked() {
    let Some((world, bucket)) = start().await else { return };
    let access = ready(&world, &bucket).await;
    bucket.release().await;
    bucket.wait_gone().await;
    access.go().await;
    let calls = world.driver.calls(&On::revoke());
    let Request::Revoke(request) = &calls[0].request else { panic!("{calls:?}") };
    assert_eq!(request.buckets[0].bucket_id, access.wish_id(0));
    world.end_empty().await;
}

/// C11: the Secret is gone already.
#[tokio::test]
async fn a_secret_that_is_gone_already_holds_nothing_up() {
    let Some((world, bucket)) = start().await else { return };
    let access = ready(&world, &bucket).await;
    world.proxy.rule(
        Match::change("bucketaccesses/status").named(&access.name).nth(1),
        Action::forward().before({
            let access = access.clone();
            move |_| {
                let access = access.clone();
                async move { access.lose_secret(0).await }
            }
        }),
    );
    access.go().await;
    assert_eq!(world.driver.count(&On::grant()), 1, "no new Grant for a deleting access");
    world.end().await;
}

/// C16, R3: NOT_FOUND to a Revoke is believed the second time, a grace later, with a Warning.
#[tokio::test]
async fn not_found_to_a_revoke_is_believed_the_second_time() {
    let setup = Setup::traced().driver(|driver| driver.not_found_when_absent = true);
    let Some((world, bucket)) = start_with(setup).await else { return };
    let access = world.access(AccessWish::to(&bucket).await).await;
    let account = access.wait_ready().await;
    assert!(world.driver.lose_account(&account));
    access.delete().await;
    access.wait_clean().await;
    let calls = world.driver.calls(&On::revoke());
    assert_eq!(calls.len(), 2);
    assert!(calls[1].at.saturating_sub(calls[0].at) >= GRACE);
    access.wait_event("NotFoundAtBackend").await;
    access.finish().await;
    world.end().await;
}

/// R14, C14: a driver that refuses to revoke holds the deletion up, visibly; Secrets are gone all the same.
#[tokio::test]
async fn a_revoke_that_is_refused_is_visible_and_repeated() {
    let Some((world, bucket)) = start().await else { return };
    let access = ready(&world, &bucket).await;
    let step = Step::fail(Code::FailedPrecondition).message("the account is in use");
    let in_use = world.driver.rule(On::revoke(), step);
    access.delete().await;
    access.wait_error("the account is in use").await;
    access.wait_event("DeletionBlocked").await;
    assert_eq!(access.own_secrets().await, Vec::<String>::new());
    assert!(!is_ready(&access.get().await.unwrap()));
    in_use.wait_hits(5).await.unwrap();
    in_use.off();
    access.wait_clean().await;
    access.finish().await;
    world.end().await;
}

/// R11: a backoff of minutes does not delay deletion.
#[tokio::test]
async fn deletion_interrupts_a_backoff_at_once() {
    let long = Duration::from_mins(10);
    let Some((world, bucket)) = start_with(Setup::traced().retry(long, long)).await else { return };
    world.driver.rule(On::grant(), Step::fail(Code::PermissionDenied));
    let access = world.access(AccessWish::to(&bucket).await).await;
    access.wait_error("PERMISSION_DENIED").await;
    access.go().await;
    world.end().await;
}

/// R10 c: what was handed over and never sent needs no call; what was never handed over is not ours to finish.
#[tokio::test]
async fn what_was_never_sent_needs_no_call_to_be_deleted() {
    let Some((world, bucket)) = start().await else { return };
    let refused = AccessWish::to(&bucket).await.entry(|entry| entry.id = "other".into());
    let refused = world.access(refused).await;
    refused.wait_error(&bucket.name).await;
    refused.go().await;
    assert_eq!(world.driver.count(&On::any().named(&refused.account_name())), 0);

    let never = world.plan_access(AccessWish::to(&bucket).await).await;
    never.delete().await;
    // When this one is through, so is what came before.
    ready(&world, &bucket).await.go().await;
    let touched = world.proxy.log().only(&Match::writes().named(&never.name));
    assert_eq!(touched.entries.len(), 0, "{touched}");
    never.finish().await;
    world.end().await;
}

/// R14: a person takes the account over. The driver is not asked; Secrets go, and the mark is set.
#[tokio::test]
async fn an_access_that_is_let_go_loses_its_secrets_and_nobody_calls() {
    let Some((world, bucket)) = start_with(Setup::traced().tell_driver_name()).await else { return };
    let access = ready(&world, &bucket).await;
    world.may_leave_account(&access);
    world.driver.stop().unwrap();
    access.delete().await;
    access.wait_error("waits for the driver").await;
    access.annotate(SIDECAR_LET_GO).await;
    access.wait_clean().await;
    let note = access.wait_event("LetGo").await.message.unwrap();
    for word in [&world.driver_name, &access.account_name()] {
        assert!(note.contains(word.as_str()), "R14: {word} is missing in {note}");
    }
    access.finish().await;
    world.driver.grants_exactly(&[&access.account_name()]).unwrap();
    assert_eq!(world.driver.count(&On::revoke()), 0);
    world.end().await;
}

/// On a live access that annotation means nothing.
#[tokio::test]
async fn a_live_access_is_not_let_go() {
    let Some((world, bucket)) = start().await else { return };
    let annotated = json!({ SIDECAR_LET_GO: "" });
    let access = world.access(AccessWish::to(&bucket).await.metadata("annotations", annotated)).await;
    access.wait_ready().await;
    access.patch(&json!({ "metadata": { "annotations": { SIDECAR_LET_GO: null } } })).await;
    access.go().await;
    world.end().await;
}

/// protocol.md §4: a deleting access with the mark is the controller's alone.
#[tokio::test]
async fn a_deleting_access_that_bears_the_mark_is_not_touched_again() {
    let Some((mut world, bucket)) = start().await else { return };
    let access = ready(&world, &bucket).await;
    access.delete().await;
    access.wait_clean().await;
    let mark = world.proxy.mark();
    access.patch(&json!({ "metadata": { "labels": { "touched": "yes" } } })).await;
    world.restart_sidecar();
    ready(&world, &bucket).await.go().await;
    let touched = world.proxy.log().since(mark).only(&Match::writes().named(&access.name));
    assert_eq!(touched.entries.len(), 0, "{touched}");
    assert_eq!(world.driver.count(&On::revoke().named(&access.account_name())), 1);
    // A mark that somebody takes away is set again.
    access.patch(&json!({ "metadata": { "annotations": { SIDECAR_CLEANUP_FINISHED: null } } })).await;
    access.wait_clean().await;
    access.finish().await;
    world.end().await;
}

/// C18, I4: another party's finalizers, on the access and on the Secret, are neither waited for nor touched.
#[tokio::test]
async fn foreign_finalizers_are_neither_waited_for_nor_touched() {
    let Some((world, bucket)) = start().await else { return };
    let access = ready(&world, &bucket).await;
    let both = json!({ "metadata": { "finalizers": [FINALIZER, "example.com/backup"] } });
    access.patch(&both).await;
    access.patch_secret(0, &both).await;
    access.delete().await;
    let what = "a mark though a foreign finalizer keeps the Secret";
    let left = access.wait(what, crate::world::is_clean).await;
    assert!(has_finalizer(&left));
    let secret = access.secret(0).await.expect("a Secret that its other finalizer keeps");
    assert_eq!(secret.metadata.finalizers.unwrap(), ["example.com/backup"]);
    world.driver.grants_exactly(&[]).unwrap();
    access.patch_secret(0, &json!({ "metadata": { "finalizers": null } })).await;
    access.finish_others().await;
    assert!(!reasons(&access.events().await).contains(&"DeletionBlocked"));
    world.end().await;
}

/// C6: nothing about Buckets is asked for a deletion.
#[tokio::test]
async fn a_deletion_looks_at_no_bucket() {
    let Some((world, bucket)) = start().await else { return };
    let access = ready(&world, &bucket).await;
    let mark = world.proxy.mark();
    access.go().await;
    let looked = world.proxy.log().since(mark).only(&Match::get("buckets"));
    assert_eq!(looked.entries.len(), 0, "{looked}");
    world.end().await;
}
