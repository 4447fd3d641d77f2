//! Drivers as they are in the wild: several at once, hanging, renamed, learning, with ids of every kind.

use std::time::Duration;

use cosi_sim::driver::{Ids, On, Step};
use cosi_sim::proxy::Match;
use futures::future::join_all;
use serde_json::json;
use tonic::Code;

use crate::world::{Setup, TIMEOUT, TestBucket, Wish, World, error, fresh_name};

/// C2, R10 e: without the by-name RPC the replay finds the id; the answer is remembered for the connection, and a driver
/// that learns the RPC is asked again after it reconnects.
#[tokio::test]
async fn a_missing_by_name_rpc_is_worked_round_until_the_driver_learns_it() {
    let Some(world) = Setup::default().driver(|driver| driver.by_name = false).start().await else { return };
    delete_without_id(&world).await;
    assert_eq!(world.driver.count(&On::delete_by_name()), 1);
    delete_without_id(&world).await;
    assert_eq!(world.driver.count(&On::delete_by_name()), 1, "remembered for this connection");
    assert_eq!(world.driver.count(&On::delete()), 2, "by the id that the replay gave");

    world.driver.set(|driver| driver.by_name = true);
    world.driver.cut_connections();
    world.driver.wait_calls(&On::get_info(), 2).await.unwrap();
    delete_without_id(&world).await;
    assert_eq!(world.driver.count(&On::delete_by_name()), 2, "asked again on a new connection");
    assert_eq!(world.driver.count(&On::delete()), 2);
    world.end_empty().await;
}

async fn delete_without_id(world: &World) {
    let plan = world.plan().await;
    let made = world.driver.rule(On::create().named(&plan.name).nth(1), Step::done_but(Code::Internal));
    let bucket = world.create_planned(&plan, Wish::delete()).await;
    made.wait_hit().await.unwrap();
    bucket.release().await;
    bucket.wait_gone().await;
}

/// C9: two sidecars and two drivers in one cluster.
#[tokio::test]
async fn neither_of_two_drivers_touches_the_objects_of_the_other() {
    let Some(one) = World::start().await else { return };
    let Some(mut other) = World::start().await else { return };
    let mine = one.create(Wish::delete()).await;
    let yours = other.create(Wish::delete()).await;
    mine.wait_ready().await;
    yours.wait_ready().await;
    // Nobody is there for the other driver's, and still it is none of ours.
    other.sidecar.kill();
    mine.release().await;
    yours.release().await;
    mine.wait_gone().await;
    assert!(crate::world::has_our_finalizer(&yours.get().await.unwrap()), "C9: finalizers included");
    for (world, foreign) in [(&one, &yours), (&other, &mine)] {
        let touched = Match::any().named(&foreign.name);
        assert_eq!(world.proxy.count(&touched), 0, "{}", world.proxy.log().only(&touched));
        assert_eq!(world.driver.count(&On::any().named(&foreign.name)), 0);
    }
    other.driver.holds_exactly(&[&yours.name]).unwrap();
    other.sidecar.start().unwrap();
    yours.wait_gone().await;
    one.end_empty().await;
    other.end_empty().await;
}

/// C15: a call that hangs has a deadline, and the other objects go on meanwhile.
#[tokio::test]
async fn a_hanging_call_ends_at_its_deadline_and_holds_up_nobody() {
    let Some(world) = World::start().await else { return };
    let plan = world.plan().await;
    let hanging = world.driver.rule(On::create().named(&plan.name).first(2), Step::hang());
    let hung = world.create_planned(&plan, Wish::delete()).await;
    hanging.wait_hit().await.unwrap();
    let others = world.create_many(10, &Wish::delete()).await;
    join_all(others.iter().map(TestBucket::wait_ready)).await;
    assert_eq!(hanging.hits(), 1, "the others did not wait for it");
    hung.wait_error("no answer").await;
    hung.wait_ready().await;
    let ledger = world.driver.ledger();
    let provisioning = ledger.calls().filter(|call| !On::get_info().matches(call));
    for call in provisioning {
        let timeout = call.timeout.expect("C15: a call without deadline");
        assert!(timeout <= TIMEOUT && timeout > TIMEOUT / 2, "{call}");
        assert!(call.not_after_ns.is_some(), "R15: {call}");
    }
    world.end().await;
}

/// C42: another name at the same socket ends the process; nothing is done under either name any more.
#[tokio::test]
async fn a_driver_that_comes_back_under_another_name_stops_the_sidecar() {
    let Some(mut world) = World::start().await else { return };
    let bucket = world.create(Wish::delete()).await;
    bucket.wait_ready().await;
    let other = fresh_name("other");
    world.driver.set(|driver| driver.name.clone_from(&other));
    world.driver.restart().unwrap();
    let status = world.sidecar.wait_exit().await.unwrap();
    assert!(!status.success(), "C28");
    let log = world.sidecar.log();
    let last = log.lines().last().unwrap();
    assert!(last.contains(&other) && last.contains(&world.driver_name), "C28: {last}");
    assert_eq!(world.proxy.writes(), 2);
    world.end_stopped().await;
}

/// C39: ids with slashes, with a prefix, opaque, and as long as they may be come back to the driver as they were.
#[tokio::test]
async fn ids_of_every_kind_come_back_to_the_driver_as_they_were() {
    // A Bucket's name here has 39 characters.
    let longest = format!("{}/", "x".repeat(2048 - 39 - 1));
    for ids in [
        Ids::Derived("tenant/7/".into()),
        Ids::Derived("A_b.-".replace('_', "-")),
        Ids::Derived(longest),
        Ids::Opaque,
    ] {
        let Some(world) = Setup::default().driver(|driver| driver.ids = ids).start().await else { return };
        let bucket = world.create(Wish::delete()).await;
        let recorded = bucket.wait_ready().await;
        assert_eq!(recorded, world.driver.bucket(&bucket.name).unwrap().id);
        bucket.release().await;
        bucket.wait_gone().await;
        let deletes = world.driver.calls(&On::delete());
        assert_eq!(deletes.iter().map(|call| call.id.as_str()).collect::<Vec<_>>(), [recorded.as_str()]);
        world.end_empty().await;
    }
}

/// C39 for static Buckets.
#[tokio::test]
async fn an_existing_id_of_2048_characters_is_looked_up_as_it_is() {
    let Some(world) = World::start().await else { return };
    let id = format!("a/{}", "y".repeat(2046));
    world.driver.add_foreign(&id);
    let bucket = world.create_static(&id).await;
    assert_eq!(bucket.wait_ready().await, id);
    world.end().await;
}

/// C12: bound later, listed again, touched by others, its process replaced: one lookup for one need, and no Create.
#[tokio::test]
async fn a_static_bucket_is_looked_up_once() {
    let Some(mut world) = World::start().await else { return };
    world.driver.add_foreign("legacy");
    let bucket = world.create_static("legacy").await;
    bucket.wait_ready().await;
    let claim = world.claim().await;
    bucket.patch(&json!({ "spec": { "bucketClaimRef": { "uid": claim.metadata.uid } } })).await;
    for n in 0..5 {
        bucket.patch(&json!({ "metadata": { "labels": { "touched": n.to_string() } } })).await;
    }
    assert_eq!(world.proxy.expire_watches("buckets"), 1);
    world.sidecar.wait_log("all Buckets listed", 2).await.unwrap();
    world.restart_sidecar();
    world.sidecar.wait_log("all Buckets listed", 3).await.unwrap();
    world.create(Wish::delete()).await.wait_ready().await;
    assert_eq!(world.driver.count(&On::get_existing()), 1);
    assert_eq!(world.driver.count(&On::create()), 1, "the other one's");
    assert_eq!(world.proxy.writes(), 4, "two each\n{}", world.proxy.log());
    world.end().await;
}

/// R10 b, R13: an existing bucket goes by its recorded id if the policy says so.
#[tokio::test]
async fn a_static_bucket_is_deleted_by_its_id_or_kept_by_its_policy() {
    let Some(world) = World::start().await else { return };
    for (id, policy) in [("goes", "Delete"), ("stays", "Retain")] {
        world.driver.add_foreign(id);
        let claim_ref = json!({ "name": "nobody", "namespace": world.namespace });
        let wish = Wish::delete().existing(id).spec("deletionPolicy", policy.into());
        let bucket = world.create_as(&fresh_name("static"), wish, claim_ref).await;
        bucket.wait_ready().await;
        bucket.delete().await;
        bucket.wait_gone().await;
    }
    let left: Vec<String> = world.driver.buckets().into_iter().map(|bucket| bucket.id).collect();
    assert_eq!(left, ["stays"]);
    assert_eq!(world.driver.count(&On::delete()), 1);
}

/// C30: what users and drivers write may be odd and long; log and status stay readable.
#[tokio::test]
async fn odd_and_long_texts_break_neither_log_nor_status() {
    let Some(world) = World::start().await else { return };
    let message = format!("line 1\nline 2\u{0}\u{1b}[31m \"quoted\" ü {}", "long ".repeat(8000));
    let odd = json!({ "": "", "with space": "a\nb\t\"c\" ü 🪣", "k".repeat(120): "v".repeat(2000) });
    let name = format!("{}.{}", "n".repeat(126), "m".repeat(126));
    let name = format!("{}{}", &name[..253 - 12], &fresh_tail());
    let claim = world.plan().await.claim_ref;
    let denied = world.driver.rule(On::create(), Step::fail(Code::PermissionDenied).message(message));
    let bucket = world.create_as(&name, Wish::delete().spec("parameters", odd.clone()), claim).await;
    let stored = bucket.wait("an error", |bucket| error(bucket).is_some()).await;
    let text = error(&stored).unwrap();
    assert!(text.contains("line 1 line 2") && text.len() < 5000, "{text}");
    assert!(!text.chars().any(char::is_control), "{text:?}");
    bucket.wait_event("Failing").await;
    denied.off();
    bucket.wait_ready().await;
    for line in world.sidecar.log().lines() {
        let starts_with_a_time = line.starts_with("20") && line.chars().nth(4) == Some('-');
        assert!(starts_with_a_time, "a line of its own: {line:?}");
    }
    bucket.annotate("objectstorage.k8s.io/bucketclaim-being-deleted").await;
    bucket.delete().await;
    bucket.wait_gone().await;
    let sent = world.driver.calls(&On::create());
    assert!(sent.iter().all(|call| matches!(&call.request,
        cosi_sim::driver::Request::Create(r) if json!(r.parameters) == odd && r.name == name)));
    world.end_empty().await;
}

fn fresh_tail() -> String {
    let name = fresh_name("t").replace(['.', '-'], "");
    name.chars().rev().take(12).collect()
}

/// R3: a driver process that dies in a call has given no answer; the call is repeated after the grace, on the next one.
#[tokio::test]
async fn a_driver_that_crashes_in_a_create_leaves_no_second_bucket() {
    let Some(world) = Setup::default().driver(|driver| driver.ids = Ids::Opaque).start().await else {
        return;
    };
    let crash = world.driver.rule(On::create().nth(1), Step::do_then_crash());
    let bucket = world.create(Wish::delete()).await;
    crash.wait_hit().await.unwrap();
    world.driver.restart().unwrap();
    bucket.wait_ready().await;
    let cut = world.driver.rule(On::delete().nth(1), Step::cut());
    bucket.release().await;
    cut.wait_hit().await.unwrap();
    bucket.wait_gone().await;
    world.end_empty().await;
}

/// R3: the driver is not there at all: nothing was sent, nothing waits for a grace, its return wakes the work.
#[tokio::test]
async fn what_could_not_be_sent_is_sent_as_soon_as_the_driver_is_back() {
    let long = Duration::from_mins(10);
    let Some(world) = Setup::default().retry(long, long).start().await else { return };
    world.create(Wish::delete()).await.wait_ready().await;
    world.driver.stop().unwrap();
    world.sidecar.wait_log("connection to the driver is lost", 1).await.unwrap();
    let bucket = world.create(Wish::delete()).await;
    bucket.wait_finalizer().await;
    world.driver.restart().unwrap();
    bucket.wait_ready().await;
    world.end().await;
}

/// C7, R10 e: a driver that refuses the undo as it refused the Create made nothing; the Bucket is let go, with a Warning.
#[tokio::test]
async fn a_bucket_whose_undo_is_refused_like_its_create_does_not_stay_for_ever() {
    let long = Duration::from_mins(10);
    let Some(world) = Setup::default().recheck(long).start().await else { return };
    world.driver.rule(On::create(), Step::fail(Code::InvalidArgument));
    world.driver.rule(On::delete_by_name(), Step::fail(Code::InvalidArgument));
    let bucket = world.create(Wish::delete()).await;
    bucket.wait_error("INVALID_ARGUMENT").await;
    // No annotation: that alone would be a change that tries the Create once more.
    bucket.delete_claim().await;
    bucket.delete().await;
    bucket.wait_gone().await;
    bucket.wait_event("LetGo").await;
    assert_eq!(world.driver.count(&On::create()), 2, "the second is the replay");
    world.end_empty().await;
}

/// R16, C23: a driver that keeps calls apart answers ABORTED while the first one hangs. That is one error, not two in turn.
#[tokio::test]
async fn a_call_that_hangs_behind_a_guard_is_one_error() {
    let Some(world) = Setup::default().recheck(Duration::from_mins(10)).start().await else { return };
    let busy = (0..4).map(|_| Step::fail(Code::Aborted));
    world.driver.script(On::create(), std::iter::once(Step::hang()).chain(busy));
    let bucket = world.create(Wish::delete()).await;
    let message = bucket.wait_error("none within 1s").await;
    assert!(message.starts_with("DriverCreateBucket got no answer (DEADLINE_EXCEEDED)"), "{message}");
    bucket.wait_ready().await;
    assert_eq!(world.driver.count(&On::create()), 6);
    assert_eq!(world.proxy.writes(), 3, "finalizer, error, Ready\n{}", world.proxy.log());
    assert_eq!(crate::world::reasons(&bucket.events().await), ["Failing"]);
    bucket.release().await;
    bucket.wait_gone().await;
    world.end_empty().await;
}
