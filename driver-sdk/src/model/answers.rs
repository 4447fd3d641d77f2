//! What a driver answers.

use std::collections::BTreeMap;

use super::credentials::Credentials;
use super::ids::{AccountId, BucketId};
use super::info::BucketInfo;

/// A bucket that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bucket {
    /// By which later calls name it.
    pub id: BucketId,
    /// What it supports: at least what was asked for.
    pub info: BucketInfo,
}

/// An account that is there and may use exactly the buckets asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrantedAccess {
    /// By which later calls name it.
    pub account_id: AccountId,
    /// For each bucket asked for, how to find it by the protocol asked for; nothing else.
    pub buckets: BTreeMap<BucketId, BucketInfo>,
    /// For the protocol asked for.
    pub credentials: Credentials,
}
