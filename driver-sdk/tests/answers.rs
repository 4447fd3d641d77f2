//! A driver's nonsense is not passed on: INTERNAL, with a sentence that says what is wrong.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod common;

use common::*;
use cosi_driver_sdk::{
    AzureCredentials, Bucket, BucketId, BucketInfo, CreateBucketRequest, Credentials, GcsBucketInfo,
    GcsCredentials, GrantAccessRequest, GrantedAccess, S3BucketInfo, S3Credentials, Secret,
};
use cosi_proto::v1alpha2 as proto;
use proto::{authentication_type, object_protocol};
use rstest::rstest;
use tonic::{Code, Status};

async fn create_answered(info: BucketInfo) -> Result<proto::DriverCreateBucketResponse, Status> {
    let create = hook(move |_, _: CreateBucketRequest| {
        let answer = Bucket { id: BucketId::new("x").unwrap(), info: info.clone() };
        async move { Ok(answer) }
    });
    let served = Served::start(Scripted { create, ..Scripted::default() }).await;
    Ok(served.client().await.driver_create_bucket(create_request("bc-1")).await?.into_inner())
}

#[rstest]
#[case::nothing(BucketInfo::default(), "no info for any protocol")]
#[case::another(gcs_info().into(), "no info for protocol S3")]
#[case::endless(S3BucketInfo { endpoint: "x".repeat(4097), ..s3_info("x") }.into(), "S3 endpoint is longer than 4096 bytes")]
#[tokio::test]
async fn a_create_answer_without_the_protocols_asked_for_is_not_sent(
    #[case] info: BucketInfo,
    #[case] reason: &str,
) {
    let failure = create_answered(info).await.unwrap_err();
    assert_eq!(failure.code(), Code::Internal);
    assert!(failure.message().contains(reason), "{}", failure.message());
}

#[tokio::test]
async fn a_create_answer_may_leave_texts_empty_and_offer_more_protocols() {
    let info =
        BucketInfo { gcs: Some(gcs_info()), ..S3BucketInfo { region: String::new(), ..s3_info("x") }.into() };
    assert!(create_answered(info).await.unwrap().protocols.unwrap().gcs.is_some());
}

fn gcs_info() -> GcsBucketInfo {
    GcsBucketInfo { project_id: "p".into(), bucket_name: "b".into() }
}

async fn grant_answered(
    request: proto::DriverGrantBucketAccessRequest,
    change: fn(&mut GrantedAccess),
) -> Result<proto::DriverGrantBucketAccessResponse, Status> {
    let grant = hook(move |_, request: GrantAccessRequest| {
        let mut answer = granted(&request);
        change(&mut answer);
        async move { Ok(answer) }
    });
    let served = Served::start(Scripted { grant, ..Scripted::default() }).await;
    Ok(served.client().await.driver_grant_bucket_access(request).await?.into_inner())
}

fn id(text: &str) -> BucketId {
    text.parse().unwrap()
}

/// C36 among others.
#[rstest]
#[case(|answer: &mut GrantedAccess| { answer.buckets.remove(&id("b")); }, "no info for bucket b")]
#[case(|answer: &mut GrantedAccess| { answer.buckets.insert(id("c"), s3_info("c").into()); }, "bucket c, which the request doesn't name")]
#[case(|answer: &mut GrantedAccess| { answer.buckets.insert(id("a"), BucketInfo::default()); }, "bucket a is not for exactly protocol S3")]
#[case(|answer: &mut GrantedAccess| { answer.buckets.insert(id("a"), BucketInfo { gcs: Some(gcs_info()), ..s3_info("a").into() }); }, "exactly")]
#[case(|answer: &mut GrantedAccess| { answer.buckets.insert(id("a"), S3BucketInfo { endpoint: String::new(), ..s3_info("a") }.into()); }, "S3 endpoint is empty")]
#[case(|answer: &mut GrantedAccess| { answer.buckets.insert(id("a"), S3BucketInfo { region: String::new(), ..s3_info("a") }.into()); }, "S3 region is empty")]
#[case(|answer: &mut GrantedAccess| { answer.buckets.insert(id("a"), S3BucketInfo { bucket_id: String::new(), ..s3_info("a") }.into()); }, "S3 bucket id is empty")]
#[case(|answer: &mut GrantedAccess| answer.credentials = Credentials::Azure(AzureCredentials::default()), "credentials are not for protocol S3")]
#[case(|answer: &mut GrantedAccess| answer.credentials = Credentials::S3(S3Credentials::default()), "S3 access key id is empty")]
#[case(|answer: &mut GrantedAccess| answer.credentials = Credentials::S3(S3Credentials {
    access_key_id: Secret::new("canary"), access_secret_key: Secret::default() }), "S3 secret access key is empty")]
#[tokio::test]
async fn a_grant_answer_that_does_not_fit_the_request_is_not_sent(
    #[case] change: fn(&mut GrantedAccess),
    #[case] reason: &str,
) {
    let failure = grant_answered(grant_request("ba-1", &["a", "b"]), change).await.unwrap_err();
    assert_eq!(failure.code(), Code::Internal);
    assert!(failure.message().contains(reason), "{}", failure.message());
    assert!(!failure.message().contains("canary"));
}

fn by_service_account(
    mut request: proto::DriverGrantBucketAccessRequest,
) -> proto::DriverGrantBucketAccessRequest {
    let kind = authentication_type::Type::ServiceAccount.into();
    request.authentication_type = Some(proto::AuthenticationType { r#type: kind });
    request.service_account_name = "app".into();
    request
}

/// C33.
#[tokio::test]
async fn a_grant_for_a_service_account_needs_no_key() {
    let request = by_service_account(grant_request("ba-1", &["a"]));
    let answer =
        grant_answered(request, |answer| answer.credentials = Credentials::S3(S3Credentials::default()));
    assert!(answer.await.unwrap().credentials.unwrap().s3.is_some());
}

#[tokio::test]
async fn a_gcs_grant_for_a_service_account_needs_its_names() {
    let mut request = by_service_account(grant_request("ba-1", &["a"]));
    request.protocol = Some(proto::ObjectProtocol { r#type: object_protocol::Type::Gcs.into() });
    let without = grant_answered(request.clone(), |answer| {
        answer.buckets = [(id("a"), gcs_info().into())].into();
        answer.credentials = Credentials::Gcs(GcsCredentials::default());
    });
    assert!(without.await.unwrap_err().message().contains("GCS private key name is empty"));
    let with = grant_answered(request, |answer| {
        answer.buckets = [(id("a"), gcs_info().into())].into();
        answer.credentials = Credentials::Gcs(GcsCredentials {
            private_key_name: Secret::new("k"),
            service_account: Secret::new("s"),
            ..GcsCredentials::default()
        });
    });
    assert!(with.await.unwrap().credentials.unwrap().gcs.is_some());
}
