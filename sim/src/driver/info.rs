//! Bucket information and credentials of each protocol, as a backend would give them.

use cosi_proto::v1alpha2 as wire;

use super::CANARY;

/// An object protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Protocol {
    S3,
    Azure,
    Gcs,
}

impl Protocol {
    pub(super) fn to_wire(self) -> wire::ObjectProtocol {
        let r#type = match self {
            Self::S3 => wire::object_protocol::Type::S3,
            Self::Azure => wire::object_protocol::Type::Azure,
            Self::Gcs => wire::object_protocol::Type::Gcs,
        };
        wire::ObjectProtocol { r#type: r#type.into() }
    }

    pub(super) fn from_wire(protocol: wire::ObjectProtocol) -> Option<Self> {
        match protocol.r#type() {
            wire::object_protocol::Type::Unknown => None,
            wire::object_protocol::Type::S3 => Some(Self::S3),
            wire::object_protocol::Type::Azure => Some(Self::Azure),
            wire::object_protocol::Type::Gcs => Some(Self::Gcs),
        }
    }
}

/// How users reach the bucket, for each of the protocols.
pub(super) fn bucket_info(id: &str, protocols: &[Protocol]) -> wire::ObjectProtocolAndBucketInfo {
    let style = wire::s3_addressing_style::Style::Path;
    let mut info = wire::ObjectProtocolAndBucketInfo::default();
    for protocol in protocols {
        match protocol {
            Protocol::S3 => {
                info.s3 = Some(wire::S3BucketInfo {
                    bucket_id: id.to_owned(),
                    endpoint: "http://s3.sim:9000".to_owned(),
                    region: "sim-1".to_owned(),
                    addressing_style: Some(wire::S3AddressingStyle { style: style.into() }),
                });
            }
            Protocol::Azure => {
                info.azure = Some(wire::AzureBucketInfo { storage_account: format!("account-of/{id}") });
            }
            Protocol::Gcs => {
                info.gcs =
                    Some(wire::GcsBucketInfo { project_id: "sim".to_owned(), bucket_name: id.to_owned() });
            }
        }
    }
    info
}

/// The credentials message of the protocol, filled as the kind of authentication demands.
pub(super) fn credentials(
    protocol: Protocol,
    key: Option<&(String, String)>,
    account: &str,
) -> wire::CredentialInfo {
    let (id, secret) = key.cloned().unwrap_or_default();
    let mut info = wire::CredentialInfo::default();
    match protocol {
        Protocol::S3 => {
            info.s3 = Some(wire::S3CredentialInfo { access_key_id: id, access_secret_key: secret });
        }
        Protocol::Azure => {
            info.azure =
                Some(wire::AzureCredentialInfo { access_token: secret, expiry_timestamp: String::new() });
        }
        Protocol::Gcs => {
            // An account without a key of its own uses its service account's.
            let of_account = |what: &str| match key {
                None => format!("{CANARY}-{what}-of-{account}"),
                Some(_) => String::new(),
            };
            info.gcs = Some(wire::GcsCredentialInfo {
                access_id: id,
                access_secret: secret,
                private_key_name: of_account("private-key"),
                service_account: of_account("robot"),
            });
        }
    }
    info
}

/// Every credential in it that isn't empty.
pub(super) fn secrets(info: &wire::CredentialInfo) -> Vec<String> {
    let s3 = info.s3.iter().flat_map(|s3| [&s3.access_key_id, &s3.access_secret_key]);
    let azure = info.azure.iter().map(|azure| &azure.access_token);
    let gcs = info
        .gcs
        .iter()
        .flat_map(|gcs| [&gcs.access_id, &gcs.access_secret, &gcs.private_key_name, &gcs.service_account]);
    s3.chain(azure).chain(gcs).filter(|text| !text.is_empty()).cloned().collect()
}
