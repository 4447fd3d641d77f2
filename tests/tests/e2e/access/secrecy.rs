//! I7: what every test of this folder checks at its end can fail, and holds with everything switched on.

use cosi_api::names::GROUP;
use cosi_sim::driver::{CANARY, Keys, On, Step};
use serde_json::json;
use tonic::Code;

use super::{ready, start, start_with};
use crate::world::{AccessWish, Setup};

/// A driver that puts its secret into an error message plants it in log, status and Event: the search finds it in each.
#[tokio::test]
async fn a_secret_that_got_out_is_found() {
    let Some((world, bucket)) = start().await else { return };
    let first = ready(&world, &bucket).await;
    world.check_secrecy().await.unwrap();
    first.patch(&json!({ "metadata": { "annotations": { format!("{GROUP}/note"): CANARY } } })).await;
    let leak = world.check_secrecy().await.unwrap_err();
    assert_eq!(leak.place, "a BucketAccess");
    first.patch(&json!({ "metadata": { "annotations": { format!("{GROUP}/note"): null } } })).await;
    world.check_secrecy().await.unwrap();
    bucket.patch(&json!({ "metadata": { "labels": { "note": CANARY } } })).await;
    assert_eq!(world.check_secrecy().await.unwrap_err().place, "a Bucket");
    bucket.patch(&json!({ "metadata": { "labels": { "note": null } } })).await;

    let careless = Step::fail(Code::PermissionDenied).message(format!("key {CANARY}-1 is wrong"));
    world.driver.rule(On::grant(), careless);
    let second = world.access(AccessWish::to(&bucket).await).await;
    second.wait_event("Failing").await;
    let leak = world.check_secrecy().await.unwrap_err();
    assert_eq!(leak.place, "the sidecar's log", "the driver's own words are passed on as they are");
    world.abandon().await;
}

/// With the logs of all libraries, too, for a whole life with errors of every kind.
#[tokio::test]
async fn no_library_prints_a_secret_either() {
    let setup = Setup::traced().driver(|driver| driver.keys = Keys::Rotating);
    let Some((mut world, bucket)) = start_with(setup.log_level("trace,cosi_sidecar=trace")).await else {
        return;
    };
    let steps = [Step::done_but(Code::Internal), Step::do_then_cut(), Step::do_then_hang()];
    world.driver.script(On::grant(), steps);
    let access = ready(&world, &bucket).await;
    access.lose_secret(0).await;
    world.driver.wait_calls(&On::grant(), 5).await.unwrap();
    access.wait_ready().await;
    world.restart_sidecar();
    access.go().await;
    assert!(world.sidecar.log().contains("h2::"), "the libraries' logs are there");
    world.end().await;
}
