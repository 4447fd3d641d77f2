//! Between the wire and the lifecycle: protocols and bucket info.

use std::collections::BTreeMap;

use cosi_api::{ObjectProtocol, keys};
use cosi_lifecycle::bucket::CallOk;
use cosi_proto::v1alpha2 as wire;

/// The wire's form of a list of protocols.
pub(super) fn protocols(protocols: &[ObjectProtocol]) -> Vec<wire::ObjectProtocol> {
    let number = |protocol: &ObjectProtocol| match protocol {
        ObjectProtocol::S3 => wire::object_protocol::Type::S3,
        ObjectProtocol::Azure => wire::object_protocol::Type::Azure,
        ObjectProtocol::Gcs => wire::object_protocol::Type::Gcs,
    };
    protocols.iter().map(|p| wire::ObjectProtocol { r#type: number(p).into() }).collect()
}

/// What Create or GetExisting answered: which protocols have info, and what of it is not empty.
pub(super) fn bucket(id: String, info: Option<wire::ObjectProtocolAndBucketInfo>) -> CallOk {
    let wire::ObjectProtocolAndBucketInfo { s3, azure, gcs } = info.unwrap_or_default();
    let mut protocols = Vec::new();
    let mut pairs = Vec::new();
    if let Some(s3) = s3 {
        protocols.push(ObjectProtocol::S3);
        pairs.push((keys::s3::ADDRESSING_STYLE, style(s3.addressing_style).to_owned()));
        pairs.push((keys::s3::BUCKET_ID, s3.bucket_id));
        pairs.push((keys::s3::ENDPOINT, s3.endpoint));
        pairs.push((keys::s3::REGION, s3.region));
    }
    if let Some(azure) = azure {
        protocols.push(ObjectProtocol::Azure);
        pairs.push((keys::azure::STORAGE_ACCOUNT, azure.storage_account));
    }
    if let Some(gcs) = gcs {
        protocols.push(ObjectProtocol::Gcs);
        pairs.push((keys::gcs::PROJECT_ID, gcs.project_id));
        pairs.push((keys::gcs::BUCKET_NAME, gcs.bucket_name));
    }
    let info: BTreeMap<_, _> = pairs
        .into_iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(key, value)| (key.to_owned(), value))
        .collect();
    CallOk::Bucket { id, protocols, info }
}

/// `path` or `virtual`; empty if the driver said neither.
fn style(style: Option<wire::S3AddressingStyle>) -> &'static str {
    match style.map(|s| s.style()) {
        Some(wire::s3_addressing_style::Style::Path) => "path",
        Some(wire::s3_addressing_style::Style::Virtual) => "virtual",
        Some(wire::s3_addressing_style::Style::Unknown) | None => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_protocol_with_info_is_supported_and_empty_fields_are_left_out() {
        let info = wire::ObjectProtocolAndBucketInfo {
            s3: Some(wire::S3BucketInfo {
                bucket_id: "b".into(),
                endpoint: "http://s3".into(),
                region: String::new(),
                addressing_style: Some(wire::S3AddressingStyle { style: 2 }),
            }),
            azure: None,
            gcs: Some(wire::GcsBucketInfo::default()),
        };
        let CallOk::Bucket { id, protocols, info } = bucket("b".into(), Some(info)) else {
            panic!("not a bucket")
        };
        assert_eq!(id, "b");
        assert_eq!(protocols, [ObjectProtocol::S3, ObjectProtocol::Gcs]);
        let pairs: Vec<_> = info.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
        assert_eq!(
            pairs,
            [
                ("COSI_S3_ADDRESSING_STYLE", "virtual"),
                ("COSI_S3_BUCKET_ID", "b"),
                ("COSI_S3_ENDPOINT", "http://s3")
            ]
        );
    }

    #[test]
    fn an_answer_without_info_supports_nothing() {
        let CallOk::Bucket { protocols, info, .. } = bucket("b".into(), None) else { panic!("not a bucket") };
        assert!(protocols.is_empty() && info.is_empty());
    }
}
