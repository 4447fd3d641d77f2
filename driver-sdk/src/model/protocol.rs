//! Object storage protocols.

use std::fmt;

use cosi_proto::v1alpha2 as proto;
use proto::object_protocol::Type;

/// An object storage protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Protocol {
    /// S3.
    S3,
    /// Azure Blob Storage.
    Azure,
    /// Google Cloud Storage.
    Gcs,
}

impl Protocol {
    pub(crate) fn from_wire(wire: proto::ObjectProtocol) -> Option<Self> {
        match wire.r#type() {
            Type::Unknown => None,
            Type::S3 => Some(Self::S3),
            Type::Azure => Some(Self::Azure),
            Type::Gcs => Some(Self::Gcs),
        }
    }

    pub(crate) fn to_wire(self) -> proto::ObjectProtocol {
        let kind = match self {
            Self::S3 => Type::S3,
            Self::Azure => Type::Azure,
            Self::Gcs => Type::Gcs,
        };
        proto::ObjectProtocol { r#type: kind.into() }
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::S3 => "S3",
            Self::Azure => "Azure",
            Self::Gcs => "GCS",
        })
    }
}
