//! What stands in a Secret: each protocol, each kind of authentication, and both spellings for S3 (protocol.md §4).

use std::collections::BTreeMap;

use cosi_proto::v1alpha2::authentication_type;
use cosi_sim::driver::{CANARY, On, Protocol, Request};
use rstest::rstest;

use super::start_with;
use crate::world::{AccessWish, Setup};

const COSI: &[&str] = &[
    "COSI_PROTOCOL=S3",
    "COSI_S3_ACCESS_KEY_ID=?",
    "COSI_S3_ACCESS_SECRET_KEY=?",
    "COSI_S3_ADDRESSING_STYLE=path",
    "COSI_S3_BUCKET_ID=id",
    "COSI_S3_ENDPOINT=http://s3.sim:9000",
    "COSI_S3_REGION=sim-1",
];
const AWS: &[&str] = &[
    "AWS_ACCESS_KEY_ID=?",
    "AWS_DEFAULT_REGION=sim-1",
    "AWS_ENDPOINT_URL=http://s3.sim:9000",
    "AWS_S3_ADDRESSING_STYLE=path",
    "AWS_SECRET_ACCESS_KEY=?",
    "BUCKET_NAME=id",
    "COSI_PROTOCOL=S3",
];
const BOTH: &[&str] = &[
    "AWS_ACCESS_KEY_ID=?",
    "AWS_DEFAULT_REGION=sim-1",
    "AWS_ENDPOINT_URL=http://s3.sim:9000",
    "AWS_S3_ADDRESSING_STYLE=path",
    "AWS_SECRET_ACCESS_KEY=?",
    "BUCKET_NAME=id",
    "COSI_PROTOCOL=S3",
    "COSI_S3_ACCESS_KEY_ID=?",
    "COSI_S3_ACCESS_SECRET_KEY=?",
    "COSI_S3_ADDRESSING_STYLE=path",
    "COSI_S3_BUCKET_ID=id",
    "COSI_S3_ENDPOINT=http://s3.sim:9000",
    "COSI_S3_REGION=sim-1",
];
const S3_ROBOT: &[&str] = &[
    "COSI_PROTOCOL=S3",
    "COSI_S3_ADDRESSING_STYLE=path",
    "COSI_S3_BUCKET_ID=id",
    "COSI_S3_ENDPOINT=http://s3.sim:9000",
    "COSI_S3_REGION=sim-1",
];
const AZURE: &[&str] =
    &["COSI_AZURE_ACCESS_TOKEN=?", "COSI_AZURE_STORAGE_ACCOUNT=account-of/id", "COSI_PROTOCOL=Azure"];
const AZURE_ROBOT: &[&str] = &["COSI_AZURE_STORAGE_ACCOUNT=account-of/id", "COSI_PROTOCOL=Azure"];
const GCS: &[&str] = &[
    "COSI_GCS_ACCESS_ID=?",
    "COSI_GCS_ACCESS_SECRET=?",
    "COSI_GCS_BUCKET_NAME=id",
    "COSI_GCS_PROJECT_ID=sim",
    "COSI_PROTOCOL=GCS",
];
const GCS_ROBOT: &[&str] = &[
    "COSI_GCS_BUCKET_NAME=id",
    "COSI_GCS_PRIVATE_KEY_NAME=?",
    "COSI_GCS_PROJECT_ID=sim",
    "COSI_GCS_SERVICE_ACCOUNT=?",
    "COSI_PROTOCOL=GCS",
];

/// The Secret's content as `KEY=value`; `?` for a credential, `id` for the bucket's id.
fn shown(credentials: BTreeMap<String, String>, id: &str) -> Vec<String> {
    let value = |text: String| if text.contains(CANARY) { "?".to_owned() } else { text.replace(id, "id") };
    credentials.into_iter().map(|(key, text)| format!("{key}={}", value(text))).collect()
}

#[rstest]
#[case::cosi_names("S3", Protocol::S3, "cosi", COSI)]
#[case::aws_names("S3", Protocol::S3, "aws", AWS)]
#[case::both("S3", Protocol::S3, "both", BOTH)]
#[case::azure_has_one_spelling("Azure", Protocol::Azure, "aws", AZURE)]
#[case::gcs("GCS", Protocol::Gcs, "cosi", GCS)]
#[tokio::test]
async fn a_secret_holds_what_applications_need(
    #[case] protocol: &str,
    #[case] driven: Protocol,
    #[case] keys: &str,
    #[case] expected: &[&str],
) {
    let setup = Setup::traced().driver(|driver| driver.protocols = vec![Protocol::S3, driven]);
    let setup = if driven == Protocol::S3 { Setup::traced() } else { setup };
    let setup = setup.arg(format!("--secret-keys={keys}"));
    let Some((world, bucket)) = start_with(setup).await else { return };
    let access = world.access(AccessWish::to(&bucket).await.protocol(protocol)).await;
    access.wait_ready().await;
    assert_eq!(shown(access.credentials(0).await, access.wish_id(0)), expected);
    access.go().await;
    world.end().await;
}

/// Without the flag, the names are COSI's.
#[tokio::test]
async fn the_names_are_cosis_unless_told_otherwise() {
    let Some((world, bucket)) = super::start().await else { return };
    let access = super::ready(&world, &bucket).await;
    assert_eq!(shown(access.credentials(0).await, access.wish_id(0)), COSI);
    access.go().await;
    world.end().await;
}

/// C33: the ServiceAccount's name is on the wire, and no keys are required in the answer.
#[rstest]
#[case::s3("S3", Protocol::S3, S3_ROBOT)]
#[case::azure("Azure", Protocol::Azure, AZURE_ROBOT)]
#[case::gcs("GCS", Protocol::Gcs, GCS_ROBOT)]
#[tokio::test]
async fn a_service_account_needs_no_keys(
    #[case] protocol: &str,
    #[case] driven: Protocol,
    #[case] expected: &[&str],
) {
    let setup = Setup::traced();
    let setup = match driven {
        Protocol::S3 => setup,
        other => setup.driver(|driver| driver.protocols.push(other)),
    };
    let Some((world, bucket)) = start_with(setup).await else { return };
    let wish = AccessWish::to(&bucket).await.protocol(protocol).service_account("robot");
    let access = world.access(wish).await;
    access.wait_ready().await;
    assert_eq!(shown(access.credentials(0).await, access.wish_id(0)), expected);
    access.go().await;
    let calls = world.driver.calls(&On::any().named(&access.account_name()));
    assert_eq!(calls.len(), 2, "Grant and Revoke");
    for call in calls {
        let (authentication, name) = match call.request {
            Request::Grant(r) => (r.authentication_type, r.service_account_name),
            Request::Revoke(r) => (r.authentication_type, r.service_account_name),
            other => panic!("{other:?}"),
        };
        assert_eq!(authentication.unwrap().r#type(), authentication_type::Type::ServiceAccount);
        assert_eq!(name, "robot");
    }
    world.end().await;
}

/// A ServiceAccount that nobody named: the driver could only guess, so it is not asked.
#[tokio::test]
async fn a_service_account_without_a_name_is_told_and_not_sent() {
    let Some((world, bucket)) = super::start().await else { return };
    let wish = AccessWish::to(&bucket).await.status("authenticationType", "ServiceAccount".into());
    let access = world.access(wish).await;
    access.wait_error("serviceAccountName").await;
    assert_eq!(world.driver.count(&On::grant()), 0);
    access.go().await;
    world.end().await;
}
