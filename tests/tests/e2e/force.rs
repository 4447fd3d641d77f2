//! What users do by force (R12): finalizers stripped, objects re-created, at every point.

use cosi_sim::driver::{On, Step};
use cosi_sim::proxy::{Action, Match};
use serde_json::json;
use tonic::Code;

use crate::world::{Setup, TestBucket, Wish, World, eventually, has_our_finalizer};

async fn remove_by_force(bucket: &TestBucket) {
    bucket.delete().await;
    bucket.strip_finalizers().await;
    bucket.wait_gone().await;
}

/// R12: the object is gone while its Create runs; the bucket goes, too.
#[tokio::test]
async fn gone_by_force_while_create_runs_its_bucket_is_deleted() {
    let Some(world) = World::start().await else { return };
    let running = world.driver.rule(On::create(), Step::hold());
    let bucket = world.create(Wish::delete()).await;
    running.wait_hit().await.unwrap();
    remove_by_force(&bucket).await;
    running.release();
    bucket.wait_event("OwnerGone").await;
    world.driver.wait_calls(&On::delete(), 1).await.unwrap();
    world.driver.wait_holds(&[]).await.unwrap();
    world.end_empty().await;
}

/// R12: the answer was lost on top of it, so there is no id: by name, and by replay where there is no by-name RPC.
#[tokio::test]
async fn gone_by_force_after_an_unknown_outcome_its_bucket_is_deleted() {
    for by_name in [true, false] {
        let Some(world) = Setup::default().driver(|d| d.by_name = by_name).start().await else { return };
        let running = world.driver.rule(On::create().nth(1), Step::done_but(Code::Internal));
        let bucket = world.create(Wish::delete()).await;
        running.wait_hit().await.unwrap();
        remove_by_force(&bucket).await;
        world.driver.wait_holds(&[]).await.unwrap();
        bucket.wait_event("OwnerGone").await;
        world.end_empty().await;
    }
}

/// R12: the status write finds nobody any more.
#[tokio::test]
async fn gone_by_force_before_the_status_write_its_bucket_is_deleted() {
    let Some(world) = World::start().await else { return };
    let status = world.proxy.rule(Match::change("buckets/status").nth(1), Action::hold());
    let bucket = world.create(Wish::delete()).await;
    status.wait_hit().await.unwrap();
    remove_by_force(&bucket).await;
    status.release();
    world.driver.wait_holds(&[]).await.unwrap();
    bucket.wait_event("OwnerGone").await;
    world.end_empty().await;
}

/// R12, R13: Retain says that it stays, and so does an Event.
#[tokio::test]
async fn gone_by_force_with_policy_retain_its_bucket_stays_and_is_reported() {
    let Some(world) = World::start().await else { return };
    let running = world.driver.rule(On::create(), Step::hold());
    let bucket = world.create(Wish::retain()).await;
    running.wait_hit().await.unwrap();
    remove_by_force(&bucket).await;
    running.release();
    let note = bucket.wait_event("Retained").await.message.unwrap();
    assert!(note.contains(&bucket.name) && note.contains(&world.driver_name), "{note}");
    assert_eq!(world.driver.count(&On::delete()), 0);
    world.end_holding(&[&bucket]).await;
}

/// R1, R12: a finalizer that is taken off a live object comes back, before the driver is asked again.
#[tokio::test]
async fn a_finalizer_stripped_while_create_runs_comes_back_before_anything_is_recorded() {
    let Some(world) = World::start().await else { return };
    let running = world.driver.rule(On::create(), Step::hold());
    let bucket = world.create(Wish::delete()).await;
    running.wait_hit().await.unwrap();
    bucket.strip_finalizers().await;
    running.release();
    bucket.wait_ready().await;
    assert_eq!(world.driver.count(&On::create()), 1, "R7");
    bucket.release().await;
    bucket.wait_gone().await;
    world.end_empty().await;
}

/// R12: stripped while Ready, it is put back and reported; the driver is not bothered.
#[tokio::test]
async fn a_finalizer_stripped_while_ready_comes_back_with_a_warning() {
    let Some(world) = World::start().await else { return };
    let bucket = world.create(Wish::delete()).await;
    bucket.wait_ready().await;
    bucket.strip_finalizers().await;
    bucket.wait_finalizer().await;
    bucket.wait_event("FinalizerStripped").await;
    bucket.release().await;
    bucket.wait_gone().await;
    assert_eq!(world.driver.count(&On::create()), 1, "R9");
    world.end_empty().await;
}

/// C5, R9: gone by force while Ready. Nothing is made again, whatever the watch says and in which order.
#[tokio::test]
async fn gone_by_force_while_ready_no_order_of_events_makes_it_again() {
    let Some(world) = World::start().await else { return };
    let buckets = world.create_many(4, &Wish::delete()).await;
    for bucket in &buckets {
        bucket.wait_ready().await;
    }
    // One after the other.
    buckets[0].delete().await;
    buckets[0].strip_finalizers().await;
    let note = buckets[0].wait_event("OwnerGone").await.message.unwrap();
    assert!(note.contains(&buckets[0].name), "{note}");
    // Late, and all at once.
    world.proxy.stall_watches("buckets");
    remove_by_force(&buckets[1]).await;
    world.proxy.resume_watches("buckets");
    // Never, but for a new list.
    world.proxy.drop_events("buckets");
    remove_by_force(&buckets[2]).await;
    assert_eq!(world.proxy.expire_watches("buckets"), 1);
    world.sidecar.wait_log("all Buckets listed", 2).await.unwrap();
    // Old ones again, after the last.
    remove_by_force(&buckets[3]).await;
    replay(&world, &buckets[3]).await;
    settle(&world).await;
    for bucket in &buckets {
        assert_eq!(world.driver.count(&On::create().named(&bucket.name)), 1);
        assert_eq!(
            world.driver.count(&On::delete().named(&bucket.name)),
            0,
            "I3: nobody wanted it gone by policy"
        );
    }
    world.end().await;
}

/// C19, R4: a deletion is acknowledged and the object gone; then old events of it arrive, intent included.
#[tokio::test]
async fn old_events_after_an_acknowledged_deletion_make_nothing_again() {
    let Some(world) = World::start().await else { return };
    let bucket = world.create(Wish::delete()).await;
    bucket.wait_ready().await;
    bucket.release().await;
    bucket.wait_gone().await;
    replay(&world, &bucket).await;
    settle(&world).await;
    assert_eq!(world.driver.count(&On::create().named(&bucket.name)), 1);
    assert_eq!(world.driver.count(&On::delete().named(&bucket.name)), 1);
    world.end().await;
}

/// Sends everything that was ever said of the Bucket through the watch again.
async fn replay(world: &World, bucket: &TestBucket) {
    let about = |event: &serde_json::Value| {
        event["type"] != "DELETED" && event["object"]["metadata"]["name"] == bucket.name.as_str()
    };
    let events: Vec<_> = world.proxy.events("buckets").into_iter().filter(about).collect();
    assert!(!events.is_empty());
    for event in &events {
        // A watch that has just ended is back soon.
        eventually("a running watch", async || match world.proxy.inject_event("buckets", event) {
            0 => Err("none".to_owned()),
            _ => Ok(()),
        })
        .await;
    }
}

/// Whatever was in the queue before is done: a later Bucket is through.
async fn settle(world: &World) {
    let later = world.create(Wish::delete()).await;
    later.wait_ready().await;
    later.release().await;
    later.wait_gone().await;
}

/// R12, another uid: it has no finalizer yet, so the old one's bucket goes first, and the new one gets its own.
#[tokio::test]
async fn recreated_under_its_name_the_old_bucket_goes_before_the_new_one_is_made() {
    let Some(mut world) = World::start().await else { return };
    world.reuses_names = true;
    let running = world.driver.rule(On::create().nth(1), Step::hold());
    let plan = world.plan().await;
    let old = world.create_planned(&plan, Wish::delete()).await;
    running.wait_hit().await.unwrap();
    remove_by_force(&old).await;
    let new = world.create_planned(&plan, Wish::delete()).await;
    running.release();
    new.wait_ready().await;
    world.driver.holds_exactly(&[&new.name]).unwrap();
    assert_eq!(world.driver.count(&On::delete()), 1, "{}", world.driver.ledger());
    assert_eq!(world.driver.count(&On::create()), 2, "{}", world.driver.ledger());
    new.release().await;
    new.wait_gone().await;
    world.end_empty().await;
}

/// R12, another uid: it bears our finalizer already, so it inherits, and nothing is deleted.
#[tokio::test]
async fn recreated_with_our_finalizer_the_new_object_inherits_the_bucket() {
    let Some(world) = World::start().await else { return };
    let running = world.driver.rule(On::create().nth(1), Step::hold());
    let plan = world.plan().await;
    let old = world.create_planned(&plan, Wish::delete()).await;
    running.wait_hit().await.unwrap();
    remove_by_force(&old).await;
    let wish = Wish::delete().metadata("finalizers", json!(["objectstorage.k8s.io/protection"]));
    let new = world.create_planned(&plan, wish).await;
    running.release();
    new.wait_ready().await;
    assert_eq!(world.driver.count(&On::delete()), 0, "{}", world.driver.ledger());
    assert_eq!(world.driver.count(&On::delete_by_name()), 0, "{}", world.driver.ledger());
    assert!(has_our_finalizer(&new.get().await.unwrap()));
    new.release().await;
    new.wait_gone().await;
    world.end_empty().await;
}

/// R9: a bucket that vanished behind a Ready Bucket is never made again, by a restart neither.
#[tokio::test]
async fn a_bucket_that_vanished_at_the_backend_is_not_made_again() {
    let Some(mut world) = World::start().await else { return };
    let bucket = world.create(Wish::delete()).await;
    let id = bucket.wait_ready().await;
    assert!(world.driver.lose_bucket(&id));
    bucket.patch(&json!({ "metadata": { "labels": { "touched": "yes" } } })).await;
    world.restart_sidecar();
    settle(&world).await;
    assert_eq!(world.driver.count(&On::create().named(&bucket.name)), 1);
    world.end_empty().await;
}

/// R9: somebody wipes the status, which makes it an intent without result again: asked again, found, recorded. Right after
/// the record, before its own answer is in, it may know the result still, and then it records that once more.
#[rstest::rstest]
#[case::later(true)]
#[case::at_once(false)]
#[tokio::test]
async fn a_status_that_was_wiped_by_hand_is_recorded_again(#[case] later: bool) {
    let Some(world) = World::start().await else { return };
    let bucket = world.create(Wish::delete()).await;
    let id = bucket.wait_ready().await;
    if later {
        settle(&world).await;
    }
    bucket.patch_status(&json!({ "status": null })).await;
    if later {
        world.driver.wait_calls(&On::create().named(&bucket.name), 2).await.unwrap();
    }
    assert_eq!(bucket.wait_ready().await, id);
    bucket.release().await;
    bucket.wait_gone().await;
    world.end_empty().await;
}
