//! Who may do what with a bucket.

use super::ids::BucketId;

/// How the user of an access proves who it is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Authentication {
    /// By a key, which the driver makes.
    Key,
    /// By the Kubernetes `ServiceAccount` of the pods; the driver sets the backend up for it.
    ServiceAccount {
        /// The name of the `ServiceAccount`; not empty, at most 253 bytes.
        name: String,
    },
}

/// What an access may do with a bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AccessMode {
    /// Read and write.
    ReadWrite,
    /// Read, never write.
    ReadOnly,
    /// Write, never read.
    WriteOnly,
}

/// A bucket, and what may be done with it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct AccessedBucket {
    /// Which bucket.
    pub bucket_id: BucketId,
    /// What may be done.
    pub mode: AccessMode,
}
