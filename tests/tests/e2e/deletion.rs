//! Deletion (R10, R11): who may start it, what it needs, and that it always ends.

use std::time::Duration;

use cosi_api::names::{BUCKETCLAIM_BEING_DELETED, BUCKETCLAIM_BEING_DELETED_FIXED};
use cosi_sim::driver::{On, Request, Step};
use cosi_sim::proxy::{Action, Match};
use serde_json::json;
use tonic::Code;

use crate::world::{GRACE, Setup, Wish, World, has_our_finalizer, reasons};

/// C1: the id is in memory, though the status never had it.
#[tokio::test]
async fn a_bucket_whose_status_write_fails_is_deleted_by_its_id() {
    let Some(world) = World::start().await else { return };
    let failing = world.proxy.rule(Match::change("buckets/status"), Action::status(500));
    let bucket = world.create(Wish::delete()).await;
    failing.wait_hits(2).await.unwrap();
    bucket.release().await;
    bucket.wait_gone().await;
    assert_eq!(world.driver.count(&On::create()), 1, "R7: the driver is not asked again");
    assert_eq!(world.driver.count(&On::delete()), 1);
    assert_eq!(world.driver.count(&On::delete_by_name()), 0);
    world.end_empty().await;
}

/// C3, R10: neither annotation nor claim says so, so the Bucket waits; then a metadata-only change wakes it. Both
/// spellings of the annotation count.
#[tokio::test]
async fn a_bucket_deleted_before_its_claim_waits_for_the_annotation() {
    // The claim is not looked at again for minutes: only the annotation can wake this.
    let setup = Setup::default().retry(Duration::from_mins(5), Duration::from_mins(5));
    let Some(world) = setup.start().await else { return };
    for annotation in [BUCKETCLAIM_BEING_DELETED, BUCKETCLAIM_BEING_DELETED_FIXED] {
        let bucket = world.create(Wish::delete()).await;
        bucket.wait_ready().await;
        let mark = world.proxy.mark();
        bucket.delete().await;
        world.proxy.wait_count_since(mark, &Match::get("bucketclaims"), 1).await.unwrap();
        assert_eq!(world.driver.count(&On::delete().named(&bucket.name)), 0, "I3");
        bucket.annotate(annotation).await;
        bucket.wait_gone().await;
    }
    world.end_empty().await;
}

/// C3, R10: nobody sets the annotation, but the claim is gone, as a live read shows.
#[tokio::test]
async fn a_bucket_deleted_before_its_claim_goes_when_the_claim_is_gone() {
    let Some(world) = World::start().await else { return };
    let bucket = world.create(Wish::delete()).await;
    bucket.wait_ready().await;
    bucket.delete().await;
    world.wait_seen(&Match::get("bucketclaims"), 3).await;
    assert_eq!(world.driver.count(&On::delete()), 0, "I3");
    bucket.delete_claim().await;
    bucket.wait_gone().await;
    world.end_empty().await;
}

/// R10: without the right to read claims only the annotation counts, and lacking the right is no error.
#[tokio::test]
async fn a_forbidden_look_at_the_claim_leaves_the_annotation() {
    let Some(world) = World::start().await else { return };
    world.proxy.rule(Match::get("bucketclaims"), Action::status(403));
    let bucket = world.create(Wish::delete()).await;
    bucket.wait_ready().await;
    bucket.delete().await;
    world.wait_seen(&Match::get("bucketclaims"), 2).await;
    assert_eq!(world.driver.count(&On::delete()), 0, "I3");
    bucket.annotate(BUCKETCLAIM_BEING_DELETED).await;
    bucket.wait_gone().await;
    world.end_empty().await;
}

/// C4: a refused Create waits for its re-check, a Terminating Bucket for its claim; the annotation is worked on at once.
#[tokio::test]
async fn after_a_terminal_error_an_annotation_on_a_terminating_bucket_is_worked_on_at_once() {
    let never = Duration::from_mins(10);
    let Some(world) = Setup::default().retry(never, never).recheck(never).start().await else { return };
    world.driver.rule(On::create(), Step::fail(Code::InvalidArgument));
    let bucket = world.create(Wish::delete()).await;
    bucket.wait_error("INVALID_ARGUMENT").await;
    bucket.delete().await;
    world.wait_seen(&Match::get("bucketclaims"), 1).await;
    bucket.annotate(BUCKETCLAIM_BEING_DELETED).await;
    bucket.wait_gone().await;
    world.end_empty().await;
}

/// C7, R10 d and e: what can't be created can be deleted, with and without the by-name RPC, by the process that was
/// refused and by a later one.
#[tokio::test]
async fn a_bucket_that_was_refused_for_good_can_be_deleted() {
    for by_name in [true, false] {
        for restart in [false, true] {
            refused_then_deleted(by_name, restart).await;
        }
    }
}

async fn refused_then_deleted(by_name: bool, restart: bool) {
    let setup = Setup::default().driver(|driver| driver.by_name = by_name);
    let Some(mut world) = setup.start().await else { return };
    world.driver.rule(On::create(), Step::fail(Code::InvalidArgument));
    let bucket = world.create(Wish::delete()).await;
    bucket.wait_error("INVALID_ARGUMENT").await;
    bucket.wait_event("Refused").await;
    if restart {
        world.restart_sidecar();
    }
    bucket.release().await;
    bucket.wait_gone().await;
    assert_eq!(world.driver.count(&On::delete_by_name()), 1);
    if !by_name {
        let note = bucket.wait_event("LetGo").await.message.unwrap();
        assert!(note.contains(&world.driver_name) && note.contains(&bucket.name), "R10 e: {note}");
    }
    world.end_empty().await;
}

/// R10 e: this process itself saw an unknown outcome, so a refused replay proves nothing and the finalizer stays (R14).
#[tokio::test]
async fn a_refused_replay_after_an_unknown_outcome_does_not_let_go() {
    let Some(world) = Setup::default().driver(|driver| driver.by_name = false).start().await else { return };
    let refused = world.driver.rule(On::create().from_nth(2), Step::fail(Code::InvalidArgument));
    let unknown = world.driver.rule(On::create().nth(1), Step::done_but(Code::Internal));
    let bucket = world.create(Wish::delete()).await;
    unknown.wait_hit().await.unwrap();
    bucket.release().await;
    bucket.wait_error("INVALID_ARGUMENT").await;
    bucket.wait_event("DeletionBlocked").await;
    assert!(has_our_finalizer(&bucket.get().await.unwrap()), "let go");
    refused.off();
    bucket.wait_gone().await;
    world.end_empty().await;
}

/// R10 c: a Bucket that the sidecar could never work on had no call, and needs none.
#[tokio::test]
async fn what_was_never_sent_needs_no_call_to_be_deleted() {
    let Some(world) = World::start().await else { return };
    let bucket = world.create_as(&crate::world::fresh_name("no-uid"), Wish::delete(), no_claim(&world)).await;
    bucket.wait_error("bucketClaimRef").await;
    bucket.delete().await;
    bucket.wait_gone().await;
    assert_eq!(world.driver.count(&On::any()), 1, "only GetInfo\n{}", world.driver.ledger());
    world.end_empty().await;
}

fn no_claim(world: &World) -> serde_json::Value {
    json!({ "name": "claim", "namespace": world.namespace })
}

/// C14, R14: bounded backoff, visible in status and Event, and gone soon after the reason is.
#[tokio::test]
async fn a_bucket_that_is_not_empty_stays_visibly_and_goes_once_it_is() {
    let max = Duration::from_millis(200);
    let Some(world) = Setup::default().retry(Duration::from_millis(25), max).start().await else { return };
    let full =
        world.driver.rule(On::delete(), Step::fail(Code::FailedPrecondition).message("bucket not empty"));
    let bucket = world.create(Wish::delete()).await;
    bucket.wait_ready().await;
    bucket.release().await;
    let message = bucket.wait_error("bucket not empty").await;
    assert!(message.contains("FAILED_PRECONDITION"), "{message}");
    bucket.wait_event("DeletionBlocked").await;
    bucket.wait_claim_event("DeletionBlocked").await;
    full.wait_hits(12).await.unwrap();
    assert!(has_our_finalizer(&bucket.get().await.unwrap()), "R14");
    let calls = world.driver.calls(&On::delete());
    let gaps: Vec<Duration> = calls.windows(2).map(|pair| pair[1].at.saturating_sub(pair[0].at)).collect();
    assert!(gaps.iter().sum::<Duration>() > max * 4, "C23: a call each backoff step, not more: {gaps:?}");
    full.off();
    bucket.wait_gone().await;
    assert_eq!(world.proxy.writes(), 4, "finalizer, Ready, error, removal\n{}", world.proxy.log());
    world.end_empty().await;
}

/// C16: a bucket that is gone already is deleted by an OK.
#[tokio::test]
async fn a_bucket_that_is_missing_at_the_backend_is_deleted_quietly() {
    let Some(world) = World::start().await else { return };
    let bucket = world.create(Wish::delete()).await;
    let id = bucket.wait_ready().await;
    assert!(world.driver.lose_bucket(&id));
    bucket.release().await;
    bucket.wait_gone().await;
    assert_eq!(world.driver.count(&On::delete()), 1);
    assert_eq!(world.driver.count(&On::create()), 1, "R9");
    world.end_empty().await;
}

/// C16, R3: NOT_FOUND to a delete is believed the second time, a grace later, with a Warning.
#[tokio::test]
async fn not_found_to_a_delete_is_believed_the_second_time() {
    let setup = Setup::default().driver(|driver| driver.not_found_when_absent = true);
    let Some(world) = setup.start().await else { return };
    let bucket = world.create(Wish::delete()).await;
    let id = bucket.wait_ready().await;
    assert!(world.driver.lose_bucket(&id));
    bucket.release().await;
    bucket.wait_gone().await;
    let calls = world.driver.calls(&On::delete());
    assert_eq!(calls.len(), 2);
    assert!(calls[1].at.saturating_sub(calls[0].at) >= GRACE);
    bucket.wait_event("NotFoundAtBackend").await;
    world.end_empty().await;
}

/// C17: parameters of deletes come from the Bucket itself; there is no class here at all.
#[tokio::test]
async fn parameters_of_a_delete_come_from_the_bucket_itself() {
    let Some(world) = World::start().await else { return };
    let parameters = json!({ "tier": "cold", "zone": "b" });
    let wish = Wish::delete().spec("parameters", parameters.clone());
    let known = world.create(wish.clone()).await;
    known.wait_ready().await;
    world.driver.rule(On::create(), Step::done_but(Code::Internal));
    let unknown = world.create(wish).await;
    unknown.wait_error("INTERNAL").await;
    for bucket in [&known, &unknown] {
        bucket.release().await;
        bucket.wait_gone().await;
    }
    let sent = world
        .driver
        .ledger()
        .calls()
        .filter_map(|call| match &call.request {
            Request::Create(r) => Some(json!(r.parameters)),
            Request::Delete(r) => Some(json!(r.parameters)),
            Request::DeleteByName(r) => Some(json!(r.parameters)),
            _ => None,
        })
        .collect::<Vec<_>>();
    assert!(sent.len() >= 4 && sent.iter().all(|p| *p == parameters), "{sent:?}");
    assert_eq!(world.driver.count(&On::delete_by_name()), 1);
    world.end_empty().await;
}

/// C18, I4: our part is done though another finalizer stays, and that one is left as it is.
#[tokio::test]
async fn a_foreign_finalizer_is_neither_waited_for_nor_touched() {
    let Some(world) = World::start().await else { return };
    let bucket = world.create(Wish::delete().metadata("finalizers", json!(["example.com/backup"]))).await;
    bucket.wait_ready().await;
    bucket.release().await;
    let left = bucket.wait("our finalizer to go", |bucket| !has_our_finalizer(bucket)).await;
    assert_eq!(left.metadata.finalizers.unwrap(), ["example.com/backup"]);
    world.driver.holds_exactly(&[]).unwrap();
    bucket.strip_finalizers().await;
    bucket.wait_gone().await;
    assert!(bucket.events().await.is_empty());
    world.end_empty().await;
}

/// C20: no by-name RPC, one unknown outcome after the other, the object Terminating; the OK at last is enough.
#[tokio::test]
async fn a_create_that_succeeds_at_last_on_a_terminating_bucket_is_undone_without_a_restart() {
    let Some(world) = Setup::default().driver(|driver| driver.by_name = false).start().await else { return };
    let steps =
        [Code::Internal, Code::Unavailable, Code::DeadlineExceeded, Code::Unknown].map(Step::done_but);
    let unknown = world.driver.script(On::create(), steps);
    let bucket = world.create(Wish::delete()).await;
    unknown.wait_hit().await.unwrap();
    bucket.release().await;
    bucket.wait_gone().await;
    assert_eq!(world.driver.count(&On::create()), 5);
    assert_eq!(world.driver.count(&On::delete()), 1);
    world.end_empty().await;
}

/// R11: a backoff of minutes does not delay deletion.
#[tokio::test]
async fn deletion_interrupts_a_backoff_at_once() {
    let long = Duration::from_mins(10);
    let Some(world) = Setup::default().retry(long, long).start().await else { return };
    world.driver.rule(On::create(), Step::fail(Code::PermissionDenied));
    let bucket = world.create(Wish::delete()).await;
    bucket.wait_error("PERMISSION_DENIED").await;
    bucket.release().await;
    bucket.wait_gone().await;
    world.end_empty().await;
}

/// R3, R10 a: a Create hangs and lands after its deadline; the delete waits for deadline and grace, so it finds it.
#[tokio::test]
async fn a_delete_waits_for_a_create_that_may_still_land() {
    let Some(world) = World::start().await else { return };
    let hanging = world.driver.rule(On::create(), Step::hang_then_land(Duration::from_millis(1300)));
    let bucket = world.create(Wish::delete()).await;
    hanging.wait_hit().await.unwrap();
    bucket.release().await;
    bucket.wait_gone().await;
    world.end_empty().await;
}

/// R3: ABORTED to a Create says that the driver is busy with it; the delete waits for the grace all the same.
#[tokio::test]
async fn a_delete_after_an_aborted_create_waits_for_the_grace() {
    let Some(world) = World::start().await else { return };
    let aborted = world.driver.rule(On::create(), Step::fail_then_land(Code::Aborted, GRACE / 2));
    let bucket = world.create(Wish::delete()).await;
    aborted.wait_hit().await.unwrap();
    bucket.release().await;
    bucket.wait_gone().await;
    let ledger = world.driver.ledger();
    let last = ledger.calls().filter(|call| On::create().matches(call)).last().unwrap().at;
    let delete = world.driver.calls(&On::delete_by_name())[0].at;
    assert!(delete.saturating_sub(last) >= GRACE, "{ledger}");
    world.end_empty().await;
}

/// C10: the object goes by force while our delete runs; there is nothing left to write, and that is no error.
#[tokio::test]
async fn an_object_that_is_gone_at_the_end_of_its_deletion_is_no_error() {
    let Some(world) = World::start().await else { return };
    let bucket = world.create(Wish::delete()).await;
    bucket.wait_ready().await;
    let running = world.driver.rule(On::delete(), Step::hold());
    bucket.release().await;
    running.wait_hit().await.unwrap();
    bucket.strip_finalizers().await;
    bucket.wait_gone().await;
    running.release();
    world.driver.wait_holds(&[]).await.unwrap();
    // When this one is through, so is what came before.
    world.create(Wish::retain()).await.wait_ready().await;
    assert!(!reasons(&bucket.events().await).contains(&"DeletionBlocked"));
    world.end().await;
}
