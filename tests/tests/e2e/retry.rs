//! Backoff (C22): bounded, and over at once when something changes.

use std::time::Duration;

use cosi_sim::driver::{On, Step};
use serde_json::json;
use tonic::Code;

use crate::world::{Setup, Wish};

/// C22, C23: after many failures the wait is still no longer than its maximum, and no shorter than half of it.
#[tokio::test]
async fn backoff_grows_to_its_maximum_and_not_beyond() {
    let max = Duration::from_millis(300);
    let setup = Setup::default().retry(Duration::from_millis(20), max).recheck(Duration::from_mins(10));
    let Some(world) = setup.start().await else { return };
    let denied = world.driver.rule(On::create(), Step::fail(Code::PermissionDenied));
    let bucket = world.create(Wish::delete()).await;
    denied.wait_hits(12).await.unwrap();
    let calls = world.driver.calls(&On::create());
    let gaps: Vec<Duration> = calls.windows(2).map(|pair| pair[1].at.saturating_sub(pair[0].at)).collect();
    // The first doublings are over after five; a busy machine may add to a wait, and never takes away from it.
    assert!(gaps[6..].iter().all(|gap| *gap >= max / 2), "{gaps:?}");
    let shortest = gaps[6..].iter().min().unwrap();
    assert!(*shortest <= max + Duration::from_millis(100), "{gaps:?}");
    bucket.release().await;
    bucket.wait_gone().await;
    world.end_empty().await;
}

/// C22: a change that matters wakes a waiting object; one that does not, does not.
#[tokio::test]
async fn a_change_that_matters_wakes_a_waiting_bucket_and_a_label_does_not() {
    let long = Duration::from_mins(10);
    let Some(world) = Setup::default().retry(long, long).recheck(long).start().await else { return };
    for code in [Code::PermissionDenied, Code::InvalidArgument] {
        let plan = world.plan().await;
        let on = On::create().named(&plan.name);
        world.driver.rule(on.clone().nth(1), Step::fail(code));
        let bucket = world.create_planned(&plan, Wish::delete()).await;
        let message = bucket.wait_error("scripted").await;
        bucket.patch(&json!({ "metadata": { "labels": { "l": "x" } } })).await;
        // When this one is through, the label has been seen.
        world.create(Wish::delete()).await.wait_ready().await;
        assert_eq!(world.driver.count(&on), 1, "woken by a label or its own status write: {message}");
        bucket.patch(&json!({ "spec": { "deletionPolicy": "Retain" } })).await;
        bucket.wait_ready().await;
        assert_eq!(world.driver.count(&on), 2);
    }
    world.end().await;
}

/// protocol.md §2: a refusal is tried again by the slow re-check, and by a new driver connection.
#[tokio::test]
async fn a_refusal_is_tried_again_when_the_driver_comes_back() {
    let long = Duration::from_mins(10);
    let Some(world) = Setup::default().recheck(long).start().await else { return };
    let refused = world.driver.rule(On::create(), Step::fail(Code::InvalidArgument));
    let bucket = world.create(Wish::delete()).await;
    bucket.wait_error("INVALID_ARGUMENT").await;
    refused.off();
    world.driver.restart().unwrap();
    bucket.wait_ready().await;
    assert_eq!(world.driver.count(&On::create()), 2);
    world.end().await;
}

/// R3: after ABORTED the same call may come again after its backoff, without waiting for the grace.
#[tokio::test]
async fn after_aborted_the_same_call_is_repeated_soon() {
    let long = Duration::from_mins(10);
    let Some(world) = Setup::default().grace(long).start().await else { return };
    world.driver.rule(On::create().first(3), Step::fail(Code::Aborted));
    let bucket = world.create(Wish::delete()).await;
    bucket.wait_ready().await;
    assert_eq!(world.driver.count(&On::create()), 4);
    world.end().await;
}
