//! What a driver is asked. All of it has been checked.

use std::collections::BTreeSet;

use super::access::{AccessedBucket, Authentication};
use super::ids::{AccountId, AccountName, BucketId, BucketName};
use super::parameters::Parameters;
use super::protocol::Protocol;

/// Make a bucket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreateBucketRequest {
    /// Idempotency key and proposed name.
    pub name: BucketName,
    /// What the bucket must support; empty: the driver's choice.
    pub protocols: BTreeSet<Protocol>,
    /// From the class.
    pub parameters: Parameters,
}

/// Describe a bucket that somebody made outside of COSI.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GetExistingBucketRequest {
    /// Which bucket.
    pub bucket_id: BucketId,
    /// What the bucket must support; empty: the driver's choice.
    pub protocols: BTreeSet<Protocol>,
    /// From the Bucket.
    pub parameters: Parameters,
}

/// Delete a bucket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeleteBucketRequest {
    /// Which bucket.
    pub bucket_id: BucketId,
    /// As when it was made.
    pub parameters: Parameters,
}

/// Undo a [`CreateBucketRequest`] with these same fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeleteBucketByNameRequest {
    /// As in the request to be undone.
    pub name: BucketName,
    /// As in the request to be undone.
    pub protocols: BTreeSet<Protocol>,
    /// As in the request to be undone.
    pub parameters: Parameters,
}

/// Make an account that may use buckets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrantAccessRequest {
    /// Idempotency key and proposed name.
    pub account_name: AccountName,
    /// The protocol to be used.
    pub protocol: Protocol,
    /// How the user proves who it is.
    pub authentication: Authentication,
    /// From the class.
    pub parameters: Parameters,
    /// What may be used, and how: at least one, none twice.
    pub buckets: Vec<AccessedBucket>,
}

/// Take an account away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RevokeAccessRequest {
    /// Which account.
    pub account_id: AccountId,
    /// As granted.
    pub protocol: Protocol,
    /// As granted.
    pub authentication: Authentication,
    /// As granted.
    pub parameters: Parameters,
    /// As granted; they may be gone by now.
    pub buckets: Vec<BucketId>,
}

/// Undo a [`GrantAccessRequest`] with these same fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RevokeAccessByNameRequest {
    /// As in the request to be undone.
    pub account_name: AccountName,
    /// As in the request to be undone.
    pub protocol: Protocol,
    /// As in the request to be undone.
    pub authentication: Authentication,
    /// As in the request to be undone.
    pub parameters: Parameters,
    /// As in the request to be undone; they may be gone by now.
    pub buckets: Vec<BucketId>,
}
