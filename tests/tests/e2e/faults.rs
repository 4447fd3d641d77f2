//! Every fault on every write to the API server (lifecycle.md §4), while Buckets are made and deleted.

use std::time::Duration;

use cosi_sim::driver::On;
use cosi_sim::proxy::{Action, Match, Refusal};
use futures::future::join_all;

use crate::world::{Setup, TestBucket, Wish, World};

/// A fault's name, what it does, and to how many requests in a row.
pub(crate) type Fault = (&'static str, Action, u64);

pub(crate) fn quick() -> Vec<Fault> {
    let refusal = |code| Action::status(code);
    let patience = Refusal::new(429).retry_after(Duration::from_secs(1));
    vec![
        ("request lost", Action::cut(), 2),
        ("answer lost", Action::lose_answer(), 2),
        ("409", refusal(409), 3),
        ("422", refusal(422), 1),
        ("429", Action::refuse(patience), 2),
        ("500", refusal(500), 3),
        ("503", refusal(503), 3),
        ("504", refusal(504), 2),
        ("applied, and 504", Action::lose_answer(), 1),
    ]
}

/// The sidecar gives up on an answer after 15 s.
pub(crate) fn slow() -> Vec<Fault> {
    vec![
        ("held for ever", Action::hang(), 1),
        ("answered after 30 s", Action::delay_answer(Duration::from_secs(30)), 1),
        ("applied after 16 s, when nobody waits any more", Action::delay(Duration::from_secs(16)), 1),
    ]
}

/// The writes of a Bucket's life: target, and whether the rule is made when the deletion begins.
const WRITES: [(&str, &str, bool); 3] = [
    ("the finalizer", "buckets", false),
    ("the status", "buckets/status", false),
    ("the removal", "buckets", true),
];

/// I1, I2, I9, R5, R7, C21, C24: whatever happens to a write, it is repeated by itself; the driver hears nothing of it.
async fn each_write_survives(faults: Vec<Fault>) {
    let setup = Setup::default().recheck(Duration::from_secs(1));
    let Some(world) = setup.start().await else { return };
    let rows = faults.iter().flat_map(|fault| WRITES.map(|write| (write, fault)));
    join_all(rows.map(|(write, fault)| one_life(&world, write, fault))).await;
    world.end_empty().await;
}

async fn one_life(world: &World, (what, target, at_end): (&str, &str, bool), (fault, action, times): &Fault) {
    let plan = world.plan().await;
    let unlucky = Match::change(target).named(&plan.name).first(*times);
    let rule = |now: bool| now.then(|| world.proxy.rule(unlucky.clone(), action.clone()));
    let first = rule(!at_end);
    let bucket = world.create_planned(&plan, Wish::delete()).await;
    bucket.wait_ready().await;
    let last = rule(at_end);
    bucket.release().await;
    bucket.wait_gone().await;
    assert!(first.or(last).unwrap().hits() > 0, "{fault} on {what} never happened");
    for on in [On::create(), On::delete()] {
        let calls = world.driver.count(&on.clone().named(&plan.name));
        assert_eq!(calls, 1, "{fault} on {what}: {on} was sent {calls} times\n{}", world.driver.ledger());
    }
    let by_name = world.driver.count(&On::delete_by_name().named(&plan.name));
    assert_eq!(by_name, 0, "{fault} on {what}");
}

#[tokio::test]
async fn every_quick_fault_on_every_write_is_survived_without_another_call() {
    each_write_survives(quick()).await;
}

#[tokio::test]
async fn every_slow_fault_on_every_write_is_survived_without_another_call() {
    each_write_survives(slow()).await;
}

/// lifecycle.md §4, faults in pairs: another one on each write of the same life.
#[tokio::test]
async fn every_pair_of_quick_faults_in_one_life_is_survived_without_another_call() {
    let setup = Setup::default().recheck(Duration::from_secs(1));
    let Some(world) = setup.start().await else { return };
    let (first, second) = (quick(), quick());
    let pairs = first.iter().flat_map(|one| second.iter().map(move |other| (one, other)));
    join_all(pairs.map(async |((what, one, _), (and, other, _))| {
        let plan = world.plan().await;
        let rule = |target: &str, action: &Action| {
            world.proxy.rule(Match::change(target).named(&plan.name).first(1), action.clone());
        };
        rule("buckets", one);
        rule("buckets/status", other);
        let bucket = world.create_planned(&plan, Wish::delete()).await;
        bucket.wait_ready().await;
        rule("buckets", other);
        world.proxy.rule(Match::get("buckets").named(&plan.name).first(1), one.clone());
        bucket.release().await;
        bucket.wait_gone().await;
        for on in [On::create(), On::delete()] {
            let calls = world.driver.count(&on.clone().named(&plan.name));
            assert_eq!(calls, 1, "{what} and {and}: {on} was sent {calls} times\n{}", world.driver.ledger());
        }
    }))
    .await;
    world.end_empty().await;
}

/// R4: the reads before a destructive call fail, too. Nothing is deleted on an old view.
#[tokio::test]
async fn every_quick_fault_on_the_live_read_delays_the_deletion_and_no_more() {
    let Some(world) = World::start().await else { return };
    join_all(quick().into_iter().map(async |(_, action, times)| {
        let bucket = world.create(Wish::delete()).await;
        bucket.wait_ready().await;
        world.proxy.rule(Match::get("buckets").named(&bucket.name).first(times), action);
        bucket.release().await;
        bucket.wait_gone().await;
        assert_eq!(world.driver.count(&On::delete().named(&bucket.name)), 1);
    }))
    .await;
    world.end_empty().await;
}

/// R5, R7, and no retry by the client library (architecture, trap 1): after a write that failed, the object is read and the
/// decision made again; the same write never just comes once more.
#[tokio::test]
async fn after_each_failed_write_the_object_is_read_before_the_next() {
    let Some(world) = World::start().await else { return };
    join_all([409, 429, 500, 503, 504].map(async |code| {
        let plan = world.plan().await;
        let status = Match::change("buckets/status").named(&plan.name);
        world.proxy.rule(status.clone().first(3), Action::status(code));
        let bucket = world.create_planned(&plan, Wish::delete()).await;
        bucket.wait_ready().await;
        let log = world.proxy.log().only(&Match::any().named(&plan.name));
        let verbs: Vec<&str> = log.entries.iter().map(|entry| entry.request.verb.as_str()).collect();
        let expected = ["patch", "patch", "get", "patch", "get", "patch", "get", "patch"];
        assert_eq!(verbs, expected, "{code}\n{log}");
    }))
    .await;
    world.end().await;
}

/// R16: Events are best effort; without them everything works.
#[tokio::test]
async fn no_event_that_fails_keeps_a_bucket_from_anything() {
    let Some(world) = World::start().await else { return };
    world.proxy.rule(Match::create("events"), Action::status(403));
    world.driver.rule(On::create().nth(1), cosi_sim::driver::Step::fail(tonic::Code::PermissionDenied));
    let bucket = world.create(Wish::delete()).await;
    bucket.wait_ready().await;
    assert!(world.proxy.count(&Match::create("events")) > 0);
    bucket.release().await;
    bucket.wait_gone().await;
    world.end_empty().await;
}

/// C24, measured fact 6: a foreign write meets every one of ours, many times; conflicts cost no call and lose no update.
#[tokio::test]
async fn under_foreign_writes_all_the_time_a_bucket_is_made_and_deleted() {
    let Some(world) = World::start().await else { return };
    let plan = world.plan().await;
    let label = |n: u32| serde_json::json!({ "metadata": { "labels": { "n": n.to_string() } } });
    let bucket = world.create_planned(&plan, Wish::delete()).await;
    let ours =
        [Match::change("buckets").named(&plan.name), Match::change("buckets/status").named(&plan.name)];
    for which in ours {
        let bucket = bucket.clone();
        let count = std::sync::Arc::new(std::sync::atomic::AtomicU32::new(0));
        let foreign = Action::forward().before(move |_| {
            let (bucket, count) = (bucket.clone(), std::sync::Arc::clone(&count));
            async move {
                let n = count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                if n < 5 {
                    bucket.patch(&label(n)).await;
                }
            }
        });
        world.proxy.rule(which, foreign);
    }
    bucket.wait_ready().await;
    let labels = bucket.get().await.unwrap().metadata.labels.unwrap();
    assert_eq!(labels["n"], "4", "C24: no lost update");
    bucket.release().await;
    bucket.wait_gone().await;
    assert_eq!(world.driver.count(&On::create()), 1);
    assert_eq!(world.driver.count(&On::delete()), 1);
    world.end_empty().await;
}

/// The API server goes away for a while, at a bad moment.
#[tokio::test]
async fn an_api_server_that_goes_away_and_comes_back_loses_nothing() {
    let Some(world) = World::start().await else { return };
    let buckets = world.create_many(20, &Wish::delete()).await;
    world.driver.wait_calls(&On::create(), 10).await.unwrap();
    world.proxy.go_down();
    world.sidecar.wait_log("cannot watch Buckets", 1).await.unwrap();
    world.proxy.go_up();
    join_all(buckets.iter().map(TestBucket::wait_ready)).await;
    for bucket in &buckets {
        assert_eq!(world.driver.count(&On::create().named(&bucket.name)), 1, "R7");
    }
    join_all(buckets.iter().map(TestBucket::release)).await;
    join_all(buckets.iter().map(TestBucket::wait_gone)).await;
    world.end_empty().await;
}
