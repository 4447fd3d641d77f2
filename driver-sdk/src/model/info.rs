//! What a driver tells about itself and about a bucket.

use std::collections::BTreeSet;

use super::protocol::Protocol;
use super::value::{self, InvalidValue, Problem};

/// Who a driver is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DriverInfo {
    name: String,
    protocols: BTreeSet<Protocol>,
}

impl DriverInfo {
    /// A name, unique in a cluster, and the protocols that the driver supports.
    ///
    /// # Errors
    /// If the name is not made of lower-case RFC 1035 labels joined by dots, at most 63 characters, or no protocol is given.
    pub fn new(
        name: impl Into<String>,
        protocols: impl IntoIterator<Item = Protocol>,
    ) -> Result<Self, InvalidValue> {
        let (name, protocols) = (name.into(), BTreeSet::from_iter(protocols));
        value::driver_name(&name).map_err(|problem| InvalidValue::new("driver name", problem))?;
        if protocols.is_empty() {
            return Err(InvalidValue::new("list of supported protocols", Problem::Empty));
        }
        Ok(Self { name, protocols })
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The protocols; at least one.
    #[must_use]
    pub fn protocols(&self) -> &BTreeSet<Protocol> {
        &self.protocols
    }
}

/// The protocols by which a bucket can be used, and how. At least one is needed in an answer (COSI-CREATE-7).
///
/// In an answer to a create, text inside may be empty; in an answer to a grant, none may (COSI-GRANT-7). No text is longer
/// than 4096 bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BucketInfo {
    /// By S3.
    pub s3: Option<S3BucketInfo>,
    /// By Azure's protocol.
    pub azure: Option<AzureBucketInfo>,
    /// By Google Cloud Storage's protocol.
    pub gcs: Option<GcsBucketInfo>,
}

impl BucketInfo {
    /// The protocols that are there.
    #[must_use]
    pub fn protocols(&self) -> BTreeSet<Protocol> {
        let there = [
            self.s3.as_ref().map(|_| Protocol::S3),
            self.azure.as_ref().map(|_| Protocol::Azure),
            self.gcs.as_ref().map(|_| Protocol::Gcs),
        ];
        there.into_iter().flatten().collect()
    }
}

impl From<S3BucketInfo> for BucketInfo {
    fn from(s3: S3BucketInfo) -> Self {
        Self { s3: Some(s3), ..Self::default() }
    }
}

impl From<AzureBucketInfo> for BucketInfo {
    fn from(azure: AzureBucketInfo) -> Self {
        Self { azure: Some(azure), ..Self::default() }
    }
}

impl From<GcsBucketInfo> for BucketInfo {
    fn from(gcs: GcsBucketInfo) -> Self {
        Self { gcs: Some(gcs), ..Self::default() }
    }
}

/// How a client finds a bucket by S3.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct S3BucketInfo {
    /// The bucket's name as an S3 client gives it.
    pub bucket_id: String,
    /// URL of the S3 service.
    pub endpoint: String,
    /// Region of the S3 service.
    pub region: String,
    /// How the bucket goes into the URL.
    pub addressing_style: AddressingStyle,
}

/// How a bucket goes into an S3 URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddressingStyle {
    /// In the path.
    Path,
    /// In the host name.
    Virtual,
}

/// How a client finds a bucket at Azure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AzureBucketInfo {
    /// Id of the storage account.
    pub storage_account: String,
}

/// How a client finds a bucket at Google Cloud Storage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GcsBucketInfo {
    /// Id of the project.
    pub project_id: String,
    /// The bucket's name as a client gives it.
    pub bucket_name: String,
}
