//! Every fault on every write to the API server (lifecycle.md §4), while accesses are granted and revoked.

use std::time::Duration;

use cosi_sim::driver::On;
use cosi_sim::proxy::{Action, Match};
use futures::future::join_all;

use super::{start, start_with};
use crate::faults::{self, Fault};
use crate::world::{AccessWish, Setup, TestAccess, TestBucket, World};

/// Those of Buckets, and a right that is missing for a moment.
fn quick() -> Vec<Fault> {
    let mut all = faults::quick();
    all.push(("403", Action::status(403), 1));
    all
}

/// The writes of an access's life: what it is, which request, and whether the rule is made when the deletion begins.
type Write = (&'static str, fn() -> Match, bool);

const WRITES: [Write; 7] = [
    ("the reservation", || Match::create("secrets"), false),
    ("the credentials", || Match::change("secrets"), false),
    ("the status", || Match::change("bucketaccesses/status"), false),
    ("the end of readiness", || Match::change("bucketaccesses/status"), true),
    ("the Secret's finalizer", || Match::change("secrets"), true),
    ("the Secret's delete", || Match::delete("secrets"), true),
    ("the mark", || Match::change("bucketaccesses"), true),
];

/// The reads that decisions are made on.
const READS: [Write; 4] = [
    ("the Bucket", || Match::get("buckets"), false),
    ("the access before its Grant", || Match::get("bucketaccesses"), false),
    ("the access before its end", || Match::get("bucketaccesses"), true),
    ("the Secret before its end", || Match::get("secrets"), true),
];

fn of(access: &TestAccess, which: Match) -> Match {
    let names = [access.name.clone(), access.secret_name(0).to_owned(), access.wish.bucket(0).to_owned()];
    which.filter(move |request| names.contains(&request.name))
}

/// I1, I5, I9, R5, R7, C21, C24: whatever happens to a request, it is repeated by itself; the driver hears nothing of it.
async fn each_survives(requests: &[Write], faults: Vec<Fault>) {
    let setup = Setup::traced().recheck(Duration::from_secs(1));
    let Some(world) = setup.start().await else { return };
    let rows = faults.iter().flat_map(|fault| requests.iter().map(move |request| (request, fault)));
    join_all(rows.map(async |(request, fault)| {
        // A Bucket for each, so that a rule about one hits no other.
        let bucket = world.bucket().await;
        one_life(&world, &bucket, request, fault).await;
    }))
    .await;
    world.driver.grants_exactly(&[]).unwrap();
    world.end().await;
}

async fn one_life(
    world: &World,
    bucket: &TestBucket,
    (what, which, at_end): &Write,
    (fault, action, times): &Fault,
) {
    let access = world.plan_access(AccessWish::to(bucket).await).await;
    let unlucky = || of(&access, which()).first(*times);
    let rule = |now: bool| now.then(|| world.proxy.rule(unlucky(), action.clone()));
    let first = rule(!at_end);
    access.hand_over().await;
    access.wait_ready().await;
    let last = rule(*at_end);
    access.delete().await;
    access.wait_clean().await;
    access.finish().await;
    let happened = first.or(last).unwrap().hits() > 0;
    // What was written says how things are, so not every read takes place.
    assert!(happened || which().to_string().starts_with("get"), "{fault} on {what} never happened");
    for on in [On::grant(), On::revoke()] {
        let calls = world.driver.count(&on.clone().named(&access.account_name()));
        assert_eq!(calls, 1, "{fault} on {what}: {on} was sent {calls} times\n{}", world.driver.ledger());
    }
    let by_name = world.driver.count(&On::revoke_by_name().named(&access.account_name()));
    assert_eq!(by_name, 0, "{fault} on {what}");
}

#[tokio::test]
async fn every_quick_fault_on_every_write_is_survived_without_another_call() {
    each_survives(&WRITES, quick()).await;
}

#[tokio::test]
async fn every_slow_fault_on_every_write_is_survived_without_another_call() {
    each_survives(&WRITES, faults::slow()).await;
}

#[tokio::test]
async fn every_quick_fault_on_every_read_is_survived_without_another_call() {
    each_survives(&READS, quick()).await;
}

/// R16: Events are best effort; without them everything works.
#[tokio::test]
async fn no_event_that_fails_keeps_an_access_from_anything() {
    let Some((world, bucket)) = start().await else { return };
    world.proxy.rule(Match::create("events"), Action::status(403));
    let denied = cosi_sim::driver::Step::fail(tonic::Code::PermissionDenied);
    world.driver.rule(On::grant().nth(1), denied);
    let access = super::ready(&world, &bucket).await;
    assert!(world.proxy.count(&Match::create("events")) > 0);
    access.go().await;
    world.end().await;
}

/// C24: a foreign write meets every one of ours, many times; conflicts cost no call and lose no update.
#[tokio::test]
async fn under_foreign_writes_all_the_time_an_access_is_granted_and_revoked() {
    let Some((world, bucket)) = start().await else { return };
    let access = world.plan_access(AccessWish::to(&bucket).await).await;
    let label = serde_json::json!({ "metadata": { "labels": { "n": "0" } } });
    for which in ["bucketaccesses", "bucketaccesses/status", "secrets"] {
        let count = std::sync::Arc::new(std::sync::atomic::AtomicU32::new(0));
        let (of_whom, label) = (access.clone(), label.clone());
        let foreign = Action::forward().before(move |request| {
            let (access, count, mut label) = (of_whom.clone(), std::sync::Arc::clone(&count), label.clone());
            async move {
                let n = count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                label["metadata"]["labels"]["n"] = n.to_string().into();
                match request.resource.as_str() {
                    "secrets" if n < 5 => access.patch_secret(0, &label).await,
                    _ if n < 5 => access.patch(&label).await,
                    _ => {}
                }
            }
        });
        world.proxy.rule(of(&access, Match::change(which)), foreign);
    }
    access.hand_over().await;
    access.wait_ready().await;
    assert_eq!(access.secret(0).await.unwrap().metadata.labels.unwrap()["n"], "4", "C24: no lost update");
    access.go().await;
    assert_eq!(world.driver.count(&On::grant()), 1);
    assert_eq!(world.driver.count(&On::revoke()), 1);
    world.end().await;
}

/// The API server goes away for a while, at a bad moment.
#[tokio::test]
async fn an_api_server_that_goes_away_and_comes_back_loses_nothing() {
    let Some((world, bucket)) = start_with(Setup::traced()).await else { return };
    let accesses = join_all((0..20).map(async |_| world.access(AccessWish::to(&bucket).await).await)).await;
    world.driver.wait_calls(&On::grant(), 10).await.unwrap();
    world.proxy.go_down();
    world.sidecar.wait_log("cannot watch", 1).await.unwrap();
    world.proxy.go_up();
    join_all(accesses.iter().map(TestAccess::wait_ready)).await;
    for access in &accesses {
        assert_eq!(world.driver.count(&On::grant().named(&access.account_name())), 1, "R7");
    }
    join_all(accesses.iter().map(TestAccess::go)).await;
    world.driver.grants_exactly(&[]).unwrap();
    world.end().await;
}
