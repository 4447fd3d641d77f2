//! Requests for accounts, and what comes of them.

use cosi_proto::v1alpha2::{
    AccessMode, AuthenticationType, DriverGrantBucketAccessRequest, DriverGrantBucketAccessResponse,
    DriverRevokeBucketAccessByNameRequest, DriverRevokeBucketAccessRequest, S3CredentialInfo,
    access_mode::Mode, authentication_type, driver_grant_bucket_access_request::AccessedBucket,
    driver_revoke_bucket_access_by_name_request,
};

use super::{
    client,
    place::{Driver, s3},
};

pub(crate) fn by_key() -> AuthenticationType {
    AuthenticationType { r#type: authentication_type::Type::Key.into() }
}

pub(crate) fn grant(name: &str, buckets: &[(&str, Mode)]) -> DriverGrantBucketAccessRequest {
    let bucket = |(id, mode): &(&str, Mode)| AccessedBucket {
        bucket_id: (*id).to_owned(),
        access_mode: Some(AccessMode { mode: (*mode).into() }),
    };
    DriverGrantBucketAccessRequest {
        account_name: name.into(),
        protocol: s3().pop(),
        authentication_type: Some(by_key()),
        buckets: buckets.iter().map(bucket).collect(),
        ..Default::default()
    }
}

pub(crate) fn revoke(id: &str) -> DriverRevokeBucketAccessRequest {
    DriverRevokeBucketAccessRequest {
        account_id: id.into(),
        protocol: s3().pop(),
        authentication_type: Some(by_key()),
        ..Default::default()
    }
}

pub(crate) fn undo(name: &str, buckets: &[&str]) -> DriverRevokeBucketAccessByNameRequest {
    let bucket = |id: &&str| driver_revoke_bucket_access_by_name_request::AccessedBucket {
        bucket_id: (*id).to_owned(),
    };
    DriverRevokeBucketAccessByNameRequest {
        account_name: name.into(),
        protocol: s3().pop(),
        authentication_type: Some(by_key()),
        buckets: buckets.iter().map(bucket).collect(),
        ..Default::default()
    }
}

pub(crate) async fn granted(
    driver: &Driver,
    name: &str,
    buckets: &[(&str, Mode)],
) -> DriverGrantBucketAccessResponse {
    driver.rpc().await.driver_grant_bucket_access(grant(name, buckets)).await.unwrap().into_inner()
}

pub(crate) fn key(answer: &DriverGrantBucketAccessResponse) -> S3CredentialInfo {
    answer.credentials.clone().unwrap().s3.unwrap()
}

/// A client made of nothing but the answer to a grant.
pub(crate) fn user(answer: &DriverGrantBucketAccessResponse) -> aws_sdk_s3::Client {
    let info = answer.buckets[0].bucket_info.clone().unwrap().s3.unwrap();
    let key = key(answer);
    client(&info.endpoint, &key.access_key_id, &key.access_secret_key)
}
