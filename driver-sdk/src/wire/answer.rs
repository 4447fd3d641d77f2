//! From a driver's answer to the wire. What breaks the protocol's rules is not sent: the sidecar would have to refuse it,
//! and an older one may believe it.

use std::collections::BTreeSet;

use cosi_proto::v1alpha2 as proto;
use proto::driver_grant_bucket_access_response::BucketInfo as WireAccessedBucket;
use proto::s3_addressing_style::Style;

use crate::error::DriverError;
use crate::model::access::Authentication;
use crate::model::answers::{Bucket, GrantedAccess};
use crate::model::credentials::{Credentials, Secret};
use crate::model::ids::BucketId;
use crate::model::info::{AddressingStyle, BucketInfo, DriverInfo};
use crate::model::protocol::Protocol;
use crate::model::requests::GrantAccessRequest;

/// Longest text in info and credentials, in bytes.
const MAX_TEXT: usize = 4096;

/// A driver's answer that is not fit to be sent. The text holds nothing of what the driver answered but ids.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum InvalidAnswer {
    #[error("it has no info for any protocol")]
    NoProtocol,
    #[error("it has no info for protocol {0}, which the request asked for")]
    ProtocolMissing(Protocol),
    #[error("it has info for bucket {0}, which the request doesn't name")]
    BucketForeign(BucketId),
    #[error("it has no info for bucket {0}")]
    BucketMissing(BucketId),
    #[error("its info for bucket {0} is not for exactly protocol {1}")]
    BucketProtocol(BucketId, Protocol),
    #[error("its credentials are not for protocol {0}")]
    CredentialsProtocol(Protocol),
    #[error("{0} is empty")]
    Empty(&'static str),
    #[error("{0} is longer than {MAX_TEXT} bytes")]
    TooLong(&'static str),
}

impl From<InvalidAnswer> for DriverError {
    fn from(error: InvalidAnswer) -> Self {
        Self::internal(format!("the driver's answer breaks the protocol: {error}"))
    }
}

/// What an access was to be for, kept aside while the driver works.
pub(crate) struct Wanted {
    protocol: Protocol,
    authentication: Authentication,
    buckets: BTreeSet<BucketId>,
}

impl From<&GrantAccessRequest> for Wanted {
    fn from(request: &GrantAccessRequest) -> Self {
        Self {
            protocol: request.protocol,
            authentication: request.authentication.clone(),
            buckets: request.buckets.iter().map(|bucket| bucket.bucket_id.clone()).collect(),
        }
    }
}

pub(crate) fn driver_info(info: &DriverInfo) -> proto::DriverGetInfoResponse {
    proto::DriverGetInfoResponse {
        name: info.name().to_owned(),
        supported_protocols: info.protocols().iter().map(|protocol| protocol.to_wire()).collect(),
    }
}

/// Id and info of a bucket that supports what was asked for (COSI-CREATE-7).
pub(crate) fn bucket(
    bucket: Bucket,
    wanted: &BTreeSet<Protocol>,
) -> Result<(String, proto::ObjectProtocolAndBucketInfo), InvalidAnswer> {
    let found = bucket.info.protocols();
    if found.is_empty() {
        return Err(InvalidAnswer::NoProtocol);
    }
    if let Some(missing) = wanted.difference(&found).next() {
        return Err(InvalidAnswer::ProtocolMissing(*missing));
    }
    let info = bucket_info(bucket.info);
    texts(&info).try_for_each(|(name, text)| fits(name, text))?;
    Ok((bucket.id.into(), info))
}

/// COSI-GRANT-7 and -8.
pub(crate) fn granted(
    access: GrantedAccess,
    wanted: &Wanted,
) -> Result<proto::DriverGrantBucketAccessResponse, InvalidAnswer> {
    if let Some(id) = wanted.buckets.iter().find(|id| !access.buckets.contains_key(id)) {
        return Err(InvalidAnswer::BucketMissing(id.clone()));
    }
    let buckets =
        access.buckets.into_iter().map(|(id, info)| accessed(id, info, wanted)).collect::<Result<_, _>>()?;
    check_credentials(&access.credentials, wanted)?;
    Ok(proto::DriverGrantBucketAccessResponse {
        account_id: access.account_id.into(),
        buckets,
        credentials: Some(credentials(access.credentials)),
    })
}

fn accessed(id: BucketId, info: BucketInfo, wanted: &Wanted) -> Result<WireAccessedBucket, InvalidAnswer> {
    if !wanted.buckets.contains(&id) {
        return Err(InvalidAnswer::BucketForeign(id));
    }
    if info.protocols() != BTreeSet::from([wanted.protocol]) {
        return Err(InvalidAnswer::BucketProtocol(id, wanted.protocol));
    }
    let info = bucket_info(info);
    texts(&info).try_for_each(|(name, text)| needed(name, text))?;
    Ok(WireAccessedBucket { bucket_id: id.into(), bucket_info: Some(info) })
}

fn bucket_info(info: BucketInfo) -> proto::ObjectProtocolAndBucketInfo {
    proto::ObjectProtocolAndBucketInfo {
        s3: info.s3.map(|s3| proto::S3BucketInfo {
            bucket_id: s3.bucket_id,
            endpoint: s3.endpoint,
            region: s3.region,
            addressing_style: Some(addressing_style(s3.addressing_style)),
        }),
        azure: info.azure.map(|azure| proto::AzureBucketInfo { storage_account: azure.storage_account }),
        gcs: info
            .gcs
            .map(|gcs| proto::GcsBucketInfo { project_id: gcs.project_id, bucket_name: gcs.bucket_name }),
    }
}

fn addressing_style(style: AddressingStyle) -> proto::S3AddressingStyle {
    let style = match style {
        AddressingStyle::Path => Style::Path,
        AddressingStyle::Virtual => Style::Virtual,
    };
    proto::S3AddressingStyle { style: style.into() }
}

/// The texts in the info of those protocols that are there.
fn texts(info: &proto::ObjectProtocolAndBucketInfo) -> impl Iterator<Item = (&'static str, &str)> {
    let s3 = info.s3.iter().flat_map(|s3| {
        [("S3 bucket id", &s3.bucket_id), ("S3 endpoint", &s3.endpoint), ("S3 region", &s3.region)]
    });
    let azure = info.azure.iter().map(|azure| ("Azure storage account", &azure.storage_account));
    let gcs = info
        .gcs
        .iter()
        .flat_map(|gcs| [("GCS project id", &gcs.project_id), ("GCS bucket name", &gcs.bucket_name)]);
    s3.chain(azure).chain(gcs).map(|(name, text)| (name, text.as_str()))
}

fn fits(name: &'static str, text: &str) -> Result<(), InvalidAnswer> {
    if text.len() > MAX_TEXT { Err(InvalidAnswer::TooLong(name)) } else { Ok(()) }
}

fn needed(name: &'static str, text: &str) -> Result<(), InvalidAnswer> {
    if text.is_empty() { Err(InvalidAnswer::Empty(name)) } else { fits(name, text) }
}

fn check_credentials(credentials: &Credentials, wanted: &Wanted) -> Result<(), InvalidAnswer> {
    if credentials.protocol() != wanted.protocol {
        return Err(InvalidAnswer::CredentialsProtocol(wanted.protocol));
    }
    let by_key = wanted.authentication == Authentication::Key;
    let check = |name, secret: &Secret, is_needed: bool| {
        if is_needed { needed(name, secret.expose()) } else { fits(name, secret.expose()) }
    };
    match credentials {
        Credentials::S3(s3) => {
            check("S3 access key id", &s3.access_key_id, by_key)?;
            check("S3 secret access key", &s3.access_secret_key, by_key)
        }
        Credentials::Azure(azure) => {
            check("Azure access token", &azure.access_token, by_key)?;
            check("Azure expiry timestamp", &azure.expiry_timestamp, false)
        }
        Credentials::Gcs(gcs) => {
            check("GCS access id", &gcs.access_id, by_key)?;
            check("GCS access secret", &gcs.access_secret, by_key)?;
            check("GCS private key name", &gcs.private_key_name, !by_key)?;
            check("GCS service account", &gcs.service_account, !by_key)
        }
    }
}

fn credentials(credentials: Credentials) -> proto::CredentialInfo {
    let mut wire = proto::CredentialInfo::default();
    match credentials {
        Credentials::S3(s3) => {
            wire.s3 = Some(proto::S3CredentialInfo {
                access_key_id: s3.access_key_id.into_exposed(),
                access_secret_key: s3.access_secret_key.into_exposed(),
            });
        }
        Credentials::Azure(azure) => {
            wire.azure = Some(proto::AzureCredentialInfo {
                access_token: azure.access_token.into_exposed(),
                expiry_timestamp: azure.expiry_timestamp.into_exposed(),
            });
        }
        Credentials::Gcs(gcs) => {
            wire.gcs = Some(proto::GcsCredentialInfo {
                access_id: gcs.access_id.into_exposed(),
                access_secret: gcs.access_secret.into_exposed(),
                private_key_name: gcs.private_key_name.into_exposed(),
                service_account: gcs.service_account.into_exposed(),
            });
        }
    }
    wire
}
