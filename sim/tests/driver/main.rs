//! The scripted driver over its real socket, before a plain gRPC client.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]
#![allow(unreachable_pub, reason = "shared within this test")]

mod access;
mod faults;
mod oracles;
mod support;

use std::time::Duration;

use cosi_sim::driver::{Abilities, Busy, Effect, Ids, On, Protocol, Rpc, ScriptedDriver};
use support::{Client, by_name, create_request, start};
use tonic::{Code, Request};

const GRACE: Duration = Duration::from_secs(1);

#[tokio::test]
async fn a_bucket_is_made_once_and_deleted_and_the_ledger_has_it_all() {
    let (driver, client) = start(Abilities { ids: Ids::Derived("pre-".into()), ..Abilities::default() });
    assert_eq!(client.create("b").await.unwrap(), "pre-b");
    assert_eq!(client.create("b").await.unwrap(), "pre-b");
    driver.holds_exactly(&["b"]).unwrap();
    client.delete("pre-b").await.unwrap();
    client.delete("pre-b").await.unwrap();
    driver.holds_exactly(&[]).unwrap();
    driver.check(GRACE).unwrap();

    let ledger = driver.ledger();
    let effects: Vec<&Effect> =
        (0..4).flat_map(|call| ledger.effects_of(call)).map(|(_, effect)| effect).collect();
    let (id, name) = ("pre-b".to_owned(), "b".to_owned());
    assert_eq!(
        effects,
        [&Effect::Made { id: id.clone(), name: name.clone(), half: false }, &Effect::Deleted { id, name }]
    );
    let keys: Vec<_> =
        driver.calls(&On::any()).iter().map(|call| (call.rpc, call.key().to_owned())).collect();
    let expected = [Rpc::Create, Rpc::Create, Rpc::Delete, Rpc::Delete].map(|rpc| (rpc, "b".to_owned()));
    assert_eq!(keys, expected, "an id is known by the name that it was made for");
}

#[tokio::test]
async fn deadline_and_not_after_are_remembered() {
    let (driver, client) = start(Abilities::default());
    let mut request = Request::new(create_request("b"));
    request.set_timeout(Duration::from_secs(7));
    request.metadata_mut().insert(cosi_proto::NOT_AFTER_KEY, "123456789".parse().unwrap());
    client.create_as(request).await.unwrap();
    let call = &driver.calls(&On::create())[0];
    assert_eq!((call.timeout, call.not_after_ns), (Some(Duration::from_secs(7)), Some(123_456_789)));
}

#[tokio::test]
async fn a_call_that_comes_too_late_is_refused_by_a_driver_that_honours_that() {
    for honours_not_after in [true, false] {
        let (driver, client) = start(Abilities { honours_not_after, ..Abilities::default() });
        let mut request = Request::new(create_request("b"));
        request.metadata_mut().insert(cosi_proto::NOT_AFTER_KEY, "1".parse().unwrap());
        let code = client.create_as(request).await.err().map(|status| status.code());
        assert_eq!(code, honours_not_after.then_some(Code::FailedPrecondition));
        assert_eq!(driver.bucket("b").is_none(), honours_not_after);
    }
}

#[tokio::test]
async fn opaque_ids_are_new_each_time_and_safe_to_repeat() {
    let (driver, client) = start(Abilities { ids: Ids::Opaque, ..Abilities::default() });
    let first = client.create("b").await.unwrap();
    assert_eq!(client.create("b").await.unwrap(), first);
    client.delete_by_name("b").await.unwrap();
    assert_ne!(client.create("b").await.unwrap(), first);
    driver.holds_exactly(&["b"]).unwrap();
}

#[tokio::test]
async fn what_a_create_refuses_a_delete_by_name_leaves_alone() {
    let (driver, client) = start(Abilities::default());
    driver.add_foreign("foreign");
    assert_eq!(client.create("foreign").await.unwrap_err().code(), Code::AlreadyExists);
    client.delete_by_name("foreign").await.unwrap();

    client.create("b").await.unwrap();
    let mut other = create_request("b");
    other.parameters.clear();
    assert_eq!(client.create_as(Request::new(other.clone())).await.unwrap_err().code(), Code::AlreadyExists);
    client.provisioner.clone().driver_delete_bucket_by_name(by_name(other)).await.unwrap();

    driver.holds_exactly(&["b"]).unwrap();
    assert_eq!(driver.buckets().len(), 2);
    driver.check(GRACE).unwrap();
}

#[tokio::test]
async fn an_existing_bucket_is_found_with_all_its_protocols() {
    let (driver, client) =
        start(Abilities { protocols: vec![Protocol::S3, Protocol::Gcs], ..Abilities::default() });
    driver.add_foreign("theirs");
    let found = client.get_existing("theirs").await.unwrap();
    let info = found.protocols.unwrap();
    assert_eq!(found.bucket_id, "theirs");
    assert!(info.s3.is_some() && info.gcs.is_some() && info.azure.is_none());
    assert!(driver.lose_bucket("theirs"));
    assert_eq!(client.get_existing("theirs").await.unwrap_err().code(), Code::NotFound);
}

#[tokio::test]
async fn the_by_name_rpcs_can_be_switched_off_and_on() {
    let (driver, client) = start(Abilities { by_name: false, ..Abilities::default() });
    client.create("b").await.unwrap();
    assert_eq!(client.delete_by_name("b").await.unwrap_err().code(), Code::Unimplemented);
    driver.set(|abilities| abilities.by_name = true);
    client.delete_by_name("b").await.unwrap();
    driver.wait_holds(&[]).await.unwrap();
}

#[tokio::test]
async fn an_absent_bucket_may_be_not_found() {
    let (driver, client) = start(Abilities::default());
    client.delete("absent").await.unwrap();
    driver.set(|abilities| abilities.not_found_when_absent = true);
    assert_eq!(client.delete("absent").await.unwrap_err().code(), Code::NotFound);
    assert_eq!(client.delete("").await.unwrap_err().code(), Code::InvalidArgument);
}

#[tokio::test]
async fn a_second_call_for_a_busy_name_waits_or_is_aborted() {
    let (driver, client) = start(Abilities { busy: Busy::Abort, ..Abilities::default() });
    let rule = driver.rule(On::create().first(1), cosi_sim::driver::Step::hold());
    let first = tokio::spawn({
        let client = client.clone();
        async move { client.create("b").await }
    });
    rule.wait_hit().await.unwrap();
    assert_eq!(client.create("b").await.unwrap_err().code(), Code::Aborted);
    assert_eq!(client.create("other").await.unwrap(), "other");

    driver.set(|abilities| abilities.busy = Busy::Wait);
    let waiting = tokio::spawn({
        let client = client.clone();
        async move { client.delete_by_name("b").await }
    });
    driver.wait_calls(&On::delete_by_name(), 1).await.unwrap();
    rule.release();
    first.await.unwrap().unwrap();
    waiting.await.unwrap().unwrap();
    driver.holds_exactly(&["other"]).unwrap();
}

#[tokio::test]
async fn a_restarted_driver_has_a_new_name_and_the_old_backend() {
    let (driver, client) = start(Abilities::default());
    assert_eq!(client.get_info().await.unwrap().name, "scripted.sim");
    client.create("b").await.unwrap();
    driver.kill();
    assert!(driver.socket().exists(), "a stale socket file stays");
    assert!(client.get_info().await.is_err());
    driver.set(|abilities| abilities.name = "renamed.sim".to_owned());
    driver.restart().unwrap();
    assert_eq!(client.get_info().await.unwrap().name, "renamed.sim");
    driver.holds_exactly(&["b"]).unwrap();
    assert_eq!(driver.connections(), 2);

    driver.stop().unwrap();
    assert!(!driver.socket().exists());
}

#[tokio::test]
async fn a_driver_that_has_not_started_has_no_socket() {
    let driver = ScriptedDriver::not_started(Abilities::default()).unwrap();
    let client = Client::new(&driver);
    assert!(!driver.socket().exists());
    assert_eq!(client.get_info().await.unwrap_err().code(), Code::Unavailable);
    driver.restart().unwrap();
    client.get_info().await.unwrap();
    let socket = driver.socket();
    drop(driver);
    assert!(!socket.exists(), "the folder goes with the last handle");
}
