//! Bad input from the two sides that the sidecar trusts least: drivers that answer nonsense, and malformed Buckets. Each gives
//! one clear sentence where the user looks, and loses nothing.

use cosi_sim::driver::{Nonsense, On, Protocol, Step};
use rstest::rstest;
use serde_json::json;

use crate::world::{Setup, Wish, World};

/// protocol.md §2, R6: an OK that cannot be used is a terminal error; whatever was made goes with the Bucket.
#[rstest]
#[case::no_id(Nonsense::EmptyId, "without a bucket_id")]
#[case::id_too_long(Nonsense::Id("x".repeat(3000)), "cannot be stored")]
#[case::id_with_odd_characters(Nonsense::Id("a b\u{e9}".into()), "cannot be stored")]
#[case::no_protocol(Nonsense::NoProtocolInfo, "without info for any protocol")]
#[case::another_protocol(Nonsense::OtherProtocol, "without info for protocol S3")]
#[tokio::test]
async fn an_answer_that_cannot_be_used_is_told_in_the_status_and_loses_nothing(
    #[case] nonsense: Nonsense,
    #[case] sentence: &str,
) {
    let Some(world) = World::start().await else { return };
    world.driver.rule(On::create(), Step::nonsense(nonsense));
    let bucket = world.create(Wish::delete()).await;
    let message = bucket.wait_error(sentence).await;
    assert!(message.starts_with("DriverCreateBucket answered OK, but "), "{message}");
    bucket.wait_event("Refused").await;
    assert_eq!(world.driver.buckets().len(), 1, "it was made all the same");
    bucket.release().await;
    bucket.wait_gone().await;
    world.end_empty().await;
}

/// The same for a static Bucket: nothing was made, so nothing is deleted.
#[tokio::test]
async fn a_nonsense_answer_about_an_existing_bucket_deletes_nothing() {
    let Some(world) = World::start().await else { return };
    world.driver.add_foreign("there-before");
    let nonsense = world.driver.rule(On::get_existing(), Step::nonsense(Nonsense::NoProtocolInfo));
    let bucket = world.create_static("there-before").await;
    let message = bucket.wait_error("without info for any protocol").await;
    assert!(message.starts_with("DriverGetExistingBucket answered OK, but "), "{message}");
    nonsense.off();
    bucket.wait_ready().await;
    world.end().await;
}

/// protocol.md §4: a dynamic Bucket whose claim ref is incomplete is a terminal error, and nothing is sent; it goes on as
/// soon as the claim ref is complete.
#[tokio::test]
async fn a_bucket_without_claim_uid_says_so_and_is_made_once_it_has_one() {
    let Some(world) = World::start().await else { return };
    let plan = world.plan().await;
    let mut claim_ref = plan.claim_ref.clone();
    let uid = claim_ref.as_object_mut().unwrap().remove("uid").unwrap();
    let bucket = world.create_as(&plan.name, Wish::delete(), claim_ref).await;
    bucket.wait_error("must have name, namespace and uid").await;
    bucket.wait_event("Refused").await;
    assert_eq!(world.driver.count(&On::any()), 1, "GetInfo only");
    bucket.patch(&json!({ "spec": { "bucketClaimRef": { "uid": uid } } })).await;
    bucket.wait_ready().await;
    bucket.release().await;
    bucket.wait_gone().await;
    world.end_empty().await;
}

/// R17: what cannot be decoded is reported and left alone, and keeps nobody else from being worked on.
#[tokio::test]
async fn a_bucket_that_cannot_be_decoded_is_left_alone() {
    let Some(world) = World::start().await else { return };
    let unreadable = json!({
        "type": "MODIFIED",
        "object": {
            "apiVersion": "objectstorage.k8s.io/v1alpha2", "kind": "Bucket",
            "metadata": { "name": "bc-unreadable", "uid": "u", "resourceVersion": "1" },
            "spec": { "driverName": world.driver_name, "deletionPolicy": "Perhaps" },
        },
    });
    let first = world.create(Wish::delete()).await;
    first.wait_ready().await;
    assert!(world.proxy.inject_event("buckets", &unreadable) > 0, "a watch is open");
    world.sidecar.wait_log("bc-unreadable", 1).await.unwrap();
    let told = world.sidecar.lines_with("cannot be decoded").join("\n");
    assert!(told.contains("Perhaps") && told.contains("left alone"), "{told}");
    let second = world.create(Wish::delete()).await;
    second.wait_ready().await;
    assert_eq!(world.driver.count(&On::any().named("bc-unreadable")), 0);
    for bucket in [first, second] {
        bucket.release().await;
        bucket.wait_gone().await;
    }
    world.end_empty().await;
}

/// protocol.md §1: a driver whose DriverGetInfo breaks the protocol is waited for, with the reason in the log.
#[tokio::test]
async fn a_driver_that_introduces_itself_wrongly_is_waited_for() {
    let Some(world) = Setup::default().driver_not_started().tell_driver_name().start().await else { return };
    let name = world.driver_name.clone();
    let bucket = world.create(Wish::delete()).await;
    for (wrong_name, protocols, sentence) in [
        ("Not a name", vec![Protocol::S3], "the driver's name cannot be used"),
        (name.as_str(), vec![], "the driver names no supported protocol"),
        (name.as_str(), vec![Protocol::S3, Protocol::S3], "the driver names a protocol twice"),
    ] {
        world.driver.set(|driver| {
            driver.name = wrong_name.to_owned();
            driver.protocols = protocols;
        });
        world.driver.restart().unwrap();
        world.sidecar.wait_log(sentence, 1).await.unwrap();
    }
    assert_eq!(world.driver.count(&On::create()), 0);
    world.driver.set(|driver| {
        driver.name = name;
        driver.protocols = vec![Protocol::S3];
    });
    world.driver.restart().unwrap();
    bucket.wait_ready().await;
    bucket.release().await;
    bucket.wait_gone().await;
    world.end_empty().await;
}
