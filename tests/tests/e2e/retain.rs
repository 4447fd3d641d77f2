//! What stays by policy (R13) or by a person's word (R14), and how a person is told (R16).

use cosi_api::names::{BUCKETCLAIM_BEING_DELETED, FINALIZER, SIDECAR_LET_GO};
use cosi_sim::driver::{On, Step};
use cosi_sim::proxy::{Action, Match};
use serde_json::json;
use tonic::Code;

use crate::world::{Setup, Wish, World, has_our_finalizer};

/// R13, R16, C26: the object goes, the bucket stays; Bucket and claim get an Event with all that is needed to find it.
#[tokio::test]
async fn a_retained_bucket_stays_and_events_say_where() {
    let Some(world) = World::start().await else { return };
    let bucket = world.create(Wish::retain()).await;
    let id = bucket.wait_ready().await;
    let uid = bucket.get().await.unwrap().metadata.uid;
    bucket.annotate(BUCKETCLAIM_BEING_DELETED).await;
    bucket.delete().await;
    bucket.wait_gone().await;

    let event = bucket.wait_event("Retained").await;
    let text = event.message.unwrap();
    assert!(text.contains(&id) && text.contains(&world.driver_name), "{text}");
    assert_eq!(event.type_.as_deref(), Some("Normal"));
    assert_eq!(event.metadata.namespace.as_deref(), Some("default"));
    assert_eq!(event.involved_object.uid, uid);
    assert_eq!(event.involved_object.api_version.as_deref(), Some("objectstorage.k8s.io/v1alpha2"));
    assert_eq!(event.reporting_component.as_deref(), Some("objectstorage.k8s.io/cosi-sidecar"));
    let copy = bucket.wait_claim_event("Retained").await;
    assert_eq!(copy.metadata.namespace.as_deref(), Some(world.namespace.as_str()));
    assert_eq!(copy.message.unwrap(), text);
    assert_eq!(world.sidecar.lines_with(&text).len(), 1, "the log has it, too");
    assert_eq!(world.driver.count(&On::delete()), 0);
    world.end_holding(&[&bucket]).await;
}

/// R13: no id is recorded, so the name is told. The call that may run is waited for all the same (R10 a).
#[tokio::test]
async fn a_bucket_retained_before_its_id_is_known_is_reported_by_name() {
    let Some(world) = World::start().await else { return };
    let running = world.driver.rule(On::create(), Step::done_but(Code::Internal));
    let bucket = world.create(Wish::retain()).await;
    running.wait_hit().await.unwrap();
    bucket.annotate(BUCKETCLAIM_BEING_DELETED).await;
    bucket.delete().await;
    bucket.wait_gone().await;
    let text = bucket.wait_event("Retained").await.message.unwrap();
    assert!(text.contains(&bucket.name), "{text}");
    world.end_holding(&[&bucket]).await;
}

/// R13: under Retain, too, the Bucket waits for its claim.
#[tokio::test]
async fn a_retained_bucket_waits_for_its_claim() {
    let Some(world) = World::start().await else { return };
    let bucket = world.create(Wish::retain()).await;
    bucket.wait_ready().await;
    bucket.delete().await;
    world.wait_seen(&Match::get("bucketclaims"), 2).await;
    assert!(has_our_finalizer(&bucket.get().await.unwrap()));
    bucket.annotate(BUCKETCLAIM_BEING_DELETED).await;
    bucket.wait_gone().await;
    world.end_holding(&[&bucket]).await;
}

/// R10, decide again on a conflict: Retain had been decided, the policy is Delete when the write arrives.
#[tokio::test]
async fn a_flip_to_delete_at_the_last_moment_deletes() {
    let Some(world) = World::start().await else { return };
    let bucket = world.create(Wish::retain()).await;
    bucket.wait_ready().await;
    let removal = world.proxy.rule(Match::change("buckets").nth(1), Action::hold());
    bucket.annotate(BUCKETCLAIM_BEING_DELETED).await;
    bucket.delete().await;
    removal.wait_hit().await.unwrap();
    bucket.patch(&json!({ "spec": { "deletionPolicy": "Delete" } })).await;
    removal.release();
    bucket.wait_gone().await;
    assert_eq!(world.driver.count(&On::delete()), 1);
    world.end_empty().await;
}

/// R13: the other way round it is too late, and that is said.
#[tokio::test]
async fn a_flip_to_retain_after_the_delete_says_that_it_is_too_late() {
    let Some(world) = World::start().await else { return };
    let bucket = world.create(Wish::delete()).await;
    bucket.wait_ready().await;
    let removal = world.proxy.rule(Match::change("buckets").nth(1), Action::hold());
    bucket.release().await;
    removal.wait_hit().await.unwrap();
    bucket.patch(&json!({ "spec": { "deletionPolicy": "Retain" } })).await;
    removal.release();
    bucket.wait_gone().await;
    bucket.wait_event("AlreadyDeleted").await;
    assert_eq!(world.driver.count(&On::delete()), 1);
    world.end_empty().await;
}

/// R14: nothing but the annotation on the deleting object lets go; then all is said that a person needs.
#[tokio::test]
async fn the_let_go_annotation_frees_a_blocked_bucket_and_says_what_is_left() {
    let Some(world) = World::start().await else { return };
    world.driver.rule(On::delete(), Step::fail(Code::FailedPrecondition));
    let wish = Wish::delete().spec("parameters", json!({ "tier": "cold" }));
    let bucket = world.create(wish).await;
    let id = bucket.wait_ready().await;
    bucket.release().await;
    bucket.wait_event("DeletionBlocked").await;
    bucket.annotate(SIDECAR_LET_GO).await;
    bucket.wait_gone().await;
    let event = bucket.wait_event("LetGo").await;
    let text = event.message.unwrap();
    assert_eq!(event.type_.as_deref(), Some("Warning"));
    for needed in [id.as_str(), &world.driver_name, &bucket.name, "tier", "cold"] {
        assert!(text.contains(needed), "{text} lacks {needed}");
    }
    bucket.wait_claim_event("LetGo").await;
    world.end_holding(&[&bucket]).await;
}

/// R14: on an object that is not being deleted the annotation means nothing.
#[tokio::test]
async fn the_let_go_annotation_on_a_live_bucket_does_nothing() {
    let Some(world) = World::start().await else { return };
    let bucket = world.create(Wish::delete()).await;
    bucket.wait_ready().await;
    let mark = world.proxy.mark();
    bucket.annotate(SIDECAR_LET_GO).await;
    let other = world.create(Wish::delete()).await;
    other.wait_ready().await;
    assert_eq!(world.proxy.writes_since(mark), 2, "only the other's\n{}", world.proxy.log());
    world.end_holding(&[&bucket, &other]).await;
}

/// R14: the driver is away for good. With `--driver-name` the sidecar knows whose Bucket it is.
#[tokio::test]
async fn with_driver_name_the_annotation_works_without_the_driver() {
    let Some(world) = Setup::default().tell_driver_name().driver_not_started().start().await else { return };
    let wish = Wish::delete().metadata("finalizers", json!([FINALIZER]));
    let bucket = world.create(wish).await;
    bucket.release().await;
    bucket.wait_event("DeletionBlocked").await;
    bucket.annotate(SIDECAR_LET_GO).await;
    bucket.wait_gone().await;
    bucket.wait_event("LetGo").await;
    world.end_empty().await;
}

/// R14: without the flag and without the driver it can't know, and leaves the object alone; the driver's return is enough.
#[tokio::test]
async fn without_driver_name_the_annotation_waits_for_the_driver() {
    let Some(world) = Setup::default().driver_not_started().start().await else { return };
    let wish = Wish::delete().metadata("finalizers", json!([FINALIZER]));
    let bucket = world.create(wish).await;
    bucket.release().await;
    bucket.annotate(SIDECAR_LET_GO).await;
    world.sidecar.wait_log("waiting for the driver", 1).await.unwrap();
    assert_eq!(world.proxy.writes(), 0);
    assert!(has_our_finalizer(&bucket.get().await.unwrap()));
    world.driver.restart().unwrap();
    bucket.wait_gone().await;
    world.end_empty().await;
}
