//! The five kinds and what their fields are made of. The doc comments of fields become the descriptions in the CRDs.

#![allow(clippy::duplicated_attributes, reason = "two printer columns of one type are no mistake")]

mod bucket;
mod bucket_access;
mod bucket_access_class;
mod bucket_claim;
mod bucket_class;
mod error;
mod words;

pub use bucket::{Bucket, BucketClaimReference, BucketSpec, BucketStatus};
pub use bucket_access::{
    AccessedBucket, BucketAccess, BucketAccessSpec, BucketAccessStatus, BucketClaimAccess,
};
pub use bucket_access_class::{BucketAccessClass, BucketAccessClassSpec};
pub use bucket_claim::{BucketClaim, BucketClaimSpec, BucketClaimStatus};
pub use bucket_class::{BucketClass, BucketClassSpec};
pub use error::TimestampedError;
pub use words::{
    BucketAccessAuthenticationType, BucketAccessMode, DeletionPolicy, MultiBucketAccess, ObjectProtocol,
    UnknownWord,
};

/// Settings that only the driver understands.
pub type Parameters = std::collections::BTreeMap<String, String>;
