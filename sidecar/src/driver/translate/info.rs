//! What a client needs to know of a bucket.

use std::collections::BTreeMap;

use cosi_api::{ObjectProtocol, keys};
use cosi_proto::v1alpha2 as wire;

/// For each protocol that has info, what of it is not empty, by the keys of `status.bucketInfo`.
pub(super) fn info(
    info: Option<wire::ObjectProtocolAndBucketInfo>,
) -> Vec<(ObjectProtocol, BTreeMap<String, String>)> {
    let wire::ObjectProtocolAndBucketInfo { s3, azure, gcs } = info.unwrap_or_default();
    let s3 = s3.map(|s3| {
        let pairs = [
            (keys::s3::ADDRESSING_STYLE, style(s3.addressing_style).to_owned()),
            (keys::s3::BUCKET_ID, s3.bucket_id),
            (keys::s3::ENDPOINT, s3.endpoint),
            (keys::s3::REGION, s3.region),
        ];
        (ObjectProtocol::S3, filled(pairs))
    });
    let azure = azure.map(|azure| {
        (ObjectProtocol::Azure, filled([(keys::azure::STORAGE_ACCOUNT, azure.storage_account)]))
    });
    let gcs = gcs.map(|gcs| {
        let pairs = [(keys::gcs::PROJECT_ID, gcs.project_id), (keys::gcs::BUCKET_NAME, gcs.bucket_name)];
        (ObjectProtocol::Gcs, filled(pairs))
    });
    [s3, azure, gcs].into_iter().flatten().collect()
}

fn filled(pairs: impl IntoIterator<Item = (&'static str, String)>) -> BTreeMap<String, String> {
    let pairs = pairs.into_iter().filter(|(_, value)| !value.is_empty());
    pairs.map(|(key, value)| (key.to_owned(), value)).collect()
}

/// `path` or `virtual`; empty if the driver said neither.
fn style(style: Option<wire::S3AddressingStyle>) -> &'static str {
    match style.map(|s| s.style()) {
        Some(wire::s3_addressing_style::Style::Path) => "path",
        Some(wire::s3_addressing_style::Style::Virtual) => "virtual",
        Some(wire::s3_addressing_style::Style::Unknown) | None => "",
    }
}
