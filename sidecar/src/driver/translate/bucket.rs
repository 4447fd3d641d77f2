//! Protocols, and what a driver says of a bucket.

use cosi_api::ObjectProtocol;
use cosi_lifecycle::bucket::CallOk;
use cosi_proto::v1alpha2 as wire;

use super::info::info;

/// The wire's form of a protocol.
pub(in crate::driver) fn protocol(protocol: ObjectProtocol) -> wire::ObjectProtocol {
    let number = match protocol {
        ObjectProtocol::S3 => wire::object_protocol::Type::S3,
        ObjectProtocol::Azure => wire::object_protocol::Type::Azure,
        ObjectProtocol::Gcs => wire::object_protocol::Type::Gcs,
    };
    wire::ObjectProtocol { r#type: number.into() }
}

/// The wire's form of a list of protocols.
pub(in crate::driver) fn protocols(protocols: &[ObjectProtocol]) -> Vec<wire::ObjectProtocol> {
    protocols.iter().copied().map(protocol).collect()
}

/// What Create or GetExisting answered: which protocols have info, and what of it is not empty.
pub(in crate::driver) fn bucket(
    id: String,
    of_protocols: Option<wire::ObjectProtocolAndBucketInfo>,
) -> CallOk {
    let (protocols, infos): (_, Vec<_>) = info(of_protocols).into_iter().unzip();
    CallOk::Bucket { id, protocols, info: infos.into_iter().flatten().collect() }
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
