//! What the driver never sees: every limit of the protocol, by table and by fuzzing.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod common;

use common::fuzz::{call_all, requests};
use common::*;
use cosi_driver_sdk::{DriverError, RevokeAccessRequest};
use cosi_proto::v1alpha2 as proto;
use proptest::{
    prop_assert,
    test_runner::{Config, TestRunner},
};
use rstest::rstest;
use tonic::{Code, Response, Status};

type Create = proto::DriverCreateBucketRequest;
type Grant = proto::DriverGrantBucketAccessRequest;

/// A driver that must not be asked.
fn untouchable() -> Scripted {
    Scripted {
        create: hook(|_, _| async { panic!("asked") }),
        existing: hook(|_, _| async { panic!("asked") }),
        delete: hook(|_, _| async { panic!("asked") }),
        delete_by_name: hook(|_, _| async { panic!("asked") }),
        grant: hook(|_, _| async { panic!("asked") }),
        revoke: hook(|_, _| async { panic!("asked") }),
        revoke_by_name: hook(|_, _| async { panic!("asked") }),
        id_for: |_| None,
        account_id_for: |_| None,
    }
}

fn assert_refused<T: std::fmt::Debug>(answer: Result<Response<T>, Status>, reason: &str) {
    let status = answer.unwrap_err();
    assert_eq!((status.code(), status.message()), (Code::InvalidArgument, reason));
}

#[rstest]
#[case(|request: &mut Create| request.name.clear(), "name is empty")]
#[case(|request: &mut Create| request.name = "a".repeat(254), "name is longer than 253 bytes")]
#[case(|request: &mut Create| request.name = "BC".into(), "name is not a lower-case DNS-1123 subdomain")]
#[case(|request: &mut Create| request.protocols[0].r#type = 0, "protocols is unknown or not set")]
#[case(|request: &mut Create| request.protocols[0].r#type = 77, "protocols is unknown or not set")]
#[case(|request: &mut Create| request.protocols.push(s3()), "protocols names the same thing twice")]
#[case(|request: &mut Create| { request.parameters.insert("k".into(), "v".repeat(4096)); }, "parameters is longer than 4096 bytes")]
#[tokio::test]
async fn a_create_that_breaks_a_limit_is_refused(#[case] change: fn(&mut Create), #[case] reason: &str) {
    let served = Served::start(untouchable()).await;
    let mut request = create_request("bc-1");
    change(&mut request);
    assert_refused(served.client().await.driver_create_bucket(request.clone()).await, reason);
    let undo = proto::DriverDeleteBucketByNameRequest {
        name: request.name,
        protocols: request.protocols,
        parameters: request.parameters,
    };
    assert_refused(served.client().await.driver_delete_bucket_by_name(undo).await, reason);
}

#[rstest]
#[case(|request: &mut Grant| request.account_name.clear(), "account_name is empty")]
#[case(|request: &mut Grant| request.account_name = "a_b".into(), "account_name is not a lower-case DNS-1123 subdomain")]
#[case(|request: &mut Grant| request.protocol = None, "protocol is unknown or not set")]
#[case(|request: &mut Grant| request.authentication_type = None, "authentication_type is unknown or not set")]
#[case(|request: &mut Grant| request.authentication_type.as_mut().unwrap().r#type = 2, "service_account_name is empty")]
#[case(|request: &mut Grant| { request.authentication_type.as_mut().unwrap().r#type = 2; request.service_account_name = "a".repeat(254); },
    "service_account_name is longer than 253 bytes")]
#[case(|request: &mut Grant| request.buckets.clear(), "buckets is empty")]
#[case(|request: &mut Grant| request.buckets[1].bucket_id.clear(), "buckets[1].bucket_id is empty")]
#[case(|request: &mut Grant| request.buckets[1].bucket_id = "a".into(), "buckets names the same thing twice")]
#[case(|request: &mut Grant| request.buckets[1].access_mode = None, "buckets[1].access_mode is unknown or not set")]
#[case(|request: &mut Grant| request.buckets[0].access_mode.as_mut().unwrap().mode = 0, "buckets[0].access_mode is unknown or not set")]
#[case(|request: &mut Grant| { request.parameters.insert("k".repeat(4096), "v".into()); }, "parameters is longer than 4096 bytes")]
#[tokio::test]
async fn a_grant_that_breaks_a_limit_is_refused(#[case] change: fn(&mut Grant), #[case] reason: &str) {
    let served = Served::start(untouchable()).await;
    let mut request = grant_request("ba-1", &["a", "b"]);
    change(&mut request);
    assert_refused(served.client().await.driver_grant_bucket_access(request).await, reason);
}

/// COSI-GEN-10: an empty id never means "nothing to do".
#[tokio::test]
async fn an_empty_or_odd_or_endless_id_is_refused() {
    let served = Served::start(untouchable()).await;
    let mut client = served.client().await;
    let too_long = "x".repeat(2049);
    for (id, reason) in [
        ("", "is empty"),
        ("a b", "holds ' '; only letters, digits and / . _ - may be in it"),
        (too_long.as_str(), "is longer than 2048 bytes"),
    ] {
        let existing =
            proto::DriverGetExistingBucketRequest { existing_bucket_id: id.into(), ..Default::default() };
        assert_refused(
            client.driver_get_existing_bucket(existing).await,
            &format!("existing_bucket_id {reason}"),
        );
        assert_refused(client.driver_delete_bucket(delete_request(id)).await, &format!("bucket_id {reason}"));
        assert_refused(
            client.driver_revoke_bucket_access(revoke_request(id)).await,
            &format!("account_id {reason}"),
        );
    }
}

/// COSI-CREATE-5, COSI-EXISTING-3.
#[tokio::test]
async fn a_protocol_that_the_driver_does_not_support_is_refused_by_name() {
    let served = Served::start(untouchable()).await;
    let mut client = served.client().await;
    let azure = proto::ObjectProtocol { r#type: proto::object_protocol::Type::Azure.into() };
    let reason = "protocol Azure is not supported by driver scripted.example.com";
    let create = Create { protocols: vec![s3(), azure], ..create_request("bc-1") };
    assert_refused(client.driver_create_bucket(create).await, reason);
    let grant = Grant { protocol: Some(azure), ..grant_request("ba-1", &["a"]) };
    assert_refused(client.driver_grant_bucket_access(grant).await, reason);
    let existing = proto::DriverGetExistingBucketRequest {
        existing_bucket_id: "x".into(),
        protocols: vec![azure],
        ..Default::default()
    };
    assert_refused(client.driver_get_existing_bucket(existing).await, reason);
}

/// Leaving keys alive because a list is empty would help nobody.
#[tokio::test]
async fn a_revoke_without_buckets_reaches_the_driver() {
    let revoke = hook(|_, request: RevokeAccessRequest| async move {
        assert!(request.buckets.is_empty());
        Ok::<_, DriverError>(())
    });
    let served = Served::start(Scripted { revoke, ..Scripted::default() }).await;
    served.client().await.driver_revoke_bucket_access(revoke_request("ba-1")).await.unwrap();
}

/// C30. The driver answers S3 whatever it is asked, so another protocol ends in INTERNAL: the server refuses the answer.
#[test]
fn whatever_is_asked_the_answer_is_a_code_of_the_protocol_with_a_reason_and_the_server_lives() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (_served, client) = runtime.block_on(async {
        let served = Served::start(Scripted::default()).await;
        let client = served.client().await;
        (served, client)
    });
    let mut runner = TestRunner::new(Config { cases: 400, failure_persistence: None, ..Config::default() });
    let outcome = runner.run(&requests(), |case| {
        for status in runtime.block_on(call_all(&case, &mut client.clone())) {
            let known = [Code::InvalidArgument, Code::FailedPrecondition, Code::Internal];
            prop_assert!(known.contains(&status.code()), "{status:?}");
            prop_assert!(!status.message().is_empty() && status.details().is_empty());
            prop_assert!(!status.message().contains("panicked"), "{status:?}");
        }
        Ok(())
    });
    outcome.unwrap();
}
