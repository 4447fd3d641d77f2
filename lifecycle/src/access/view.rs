//! A BucketAccess as the machine sees it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use cosi_api::names::{CONTROLLER_MANAGEMENT_OVERRIDE, SIDECAR_CLEANUP_FINISHED, SIDECAR_LET_GO};
use cosi_api::{BucketAccess, BucketAccessAuthenticationType, BucketAccessMode, ObjectProtocol};

use crate::{Uid, split_finalizers};

/// Where a namespaced object is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Its namespace.
    pub namespace: Arc<str>,
    /// Its name.
    pub name: Arc<str>,
}

/// A BucketAccess object as it was read. One is kept per access, so it is compact.
#[allow(clippy::struct_excessive_bools, reason = "independent facts about an object")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessView {
    /// The UID: the account's name is made of it, so it is the idempotency key (R2).
    pub uid: Uid,
    /// Namespace and name.
    pub place: Place,
    /// The version that was read; every write is conditioned on it.
    pub resource_version: Box<str>,
    /// It has a deletionTimestamp.
    pub deleting: bool,
    /// Our finalizer is on it.
    pub finalizer: bool,
    /// Other parties' finalizers, kept as they are by every write (I4).
    pub other_finalizers: Box<[Box<str>]>,
    /// The annotation by which a person takes over the clean-up at the backend (R14).
    pub let_go: bool,
    /// The annotation by which the controller takes the object back.
    pub handed_back: bool,
    /// The annotation that says that a sidecar's work on its deletion is done.
    pub cleanup_finished: bool,
    /// What speaks the application.
    pub protocol: ObjectProtocol,
    /// What is wished for, claim by claim.
    pub wishes: Box<[Wish]>,
    /// `spec.serviceAccountName`.
    pub service_account: Option<Box<str>>,
    /// `status.readyToUse`.
    pub ready: bool,
    /// `status.accountID`.
    pub account_id: Option<Box<str>>,
    /// `status.driverName`: whose the access is; absent until the controller hands it over.
    pub driver: Option<Arc<str>>,
    /// `status.authenticationType`, from the class.
    pub authentication: Option<BucketAccessAuthenticationType>,
    /// `status.parameters`, from the class, passed to the driver as they are.
    pub parameters: Option<Arc<BTreeMap<String, String>>>,
    /// `status.accessedBuckets`.
    pub accessed: Box<[Accessed]>,
}

/// One entry of `spec.bucketClaims`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wish {
    /// The claim.
    pub claim: Box<str>,
    /// What may be done in its bucket.
    pub mode: BucketAccessMode,
    /// The Secret to write.
    pub secret: Arc<str>,
}

/// One entry of `status.accessedBuckets`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accessed {
    /// The claim that led here.
    pub claim: Box<str>,
    /// The Bucket.
    pub bucket: Arc<str>,
    /// The driver's id of the bucket, when the access was handed over.
    pub id: Box<str>,
}

impl AccessView {
    /// The view of an object as the API server returned it; `None` if it lacks a namespace, name, UID or resourceVersion,
    /// which the API server never does.
    #[must_use]
    pub fn of(access: &BucketAccess) -> Option<Self> {
        let meta = &access.metadata;
        let spec = &access.spec;
        let status = access.status.as_ref();
        let has = |name| meta.annotations.as_ref().is_some_and(|a| a.contains_key(name));
        let (finalizer, other_finalizers) = split_finalizers(meta.finalizers.as_deref());
        Some(Self {
            uid: meta.uid.as_deref()?.into(),
            place: Place { namespace: meta.namespace.as_deref()?.into(), name: meta.name.as_deref()?.into() },
            resource_version: meta.resource_version.as_deref()?.into(),
            deleting: meta.deletion_timestamp.is_some(),
            finalizer,
            other_finalizers,
            let_go: has(SIDECAR_LET_GO),
            handed_back: has(CONTROLLER_MANAGEMENT_OVERRIDE),
            cleanup_finished: has(SIDECAR_CLEANUP_FINISHED),
            protocol: spec.protocol,
            wishes: spec.bucket_claims.iter().map(Wish::of).collect(),
            service_account: spec.service_account_name.as_deref().map(Into::into),
            ready: status.is_some_and(|s| s.ready_to_use),
            account_id: status.and_then(|s| s.account_id.as_deref()).map(Into::into),
            driver: status.and_then(|s| s.driver_name.as_deref()).map(Into::into),
            authentication: status.and_then(|s| s.authentication_type),
            parameters: status.and_then(|s| s.parameters.clone()).map(Arc::new),
            accessed: status
                .and_then(|s| s.accessed_buckets.as_deref())
                .unwrap_or_default()
                .iter()
                .map(Accessed::of)
                .collect(),
        })
    }

    /// Whether the access is recorded as usable.
    #[must_use]
    pub const fn is_ready(&self) -> bool {
        self.ready && self.account_id.is_some()
    }

    /// Whether it is a sidecar's to work on: handed over, not taken back, and not done with.
    #[must_use]
    pub const fn is_managed(&self) -> bool {
        self.driver.is_some() && !self.handed_back && !(self.deleting && self.cleanup_finished)
    }

    /// Whether the difference between two views of an access is one that work can depend on. Labels and other parties'
    /// finalizers are not.
    #[must_use]
    pub fn matters(before: Option<&Self>, after: Option<&Self>) -> bool {
        let (Some(before), Some(after)) = (before, after) else {
            return before.is_some() || after.is_some();
        };
        let with_noise_of_after = Self {
            resource_version: after.resource_version.clone(),
            other_finalizers: after.other_finalizers.clone(),
            ..before.clone()
        };
        with_noise_of_after != *after
    }

    /// The Secrets that the access names, each once, in the order of the spec.
    pub(crate) fn secrets(&self) -> impl Iterator<Item = &Arc<str>> {
        let first = |i: usize, name: &Arc<str>| !self.wishes.iter().take(i).any(|w| w.secret == *name);
        self.wishes.iter().enumerate().filter(move |(i, w)| first(*i, &w.secret)).map(|(_, w)| &w.secret)
    }
}

impl Wish {
    fn of(claim: &cosi_api::BucketClaimAccess) -> Self {
        Self {
            claim: claim.bucket_claim_name.as_str().into(),
            mode: claim.access_mode,
            secret: claim.access_secret_name.as_str().into(),
        }
    }
}

impl Accessed {
    fn of(bucket: &cosi_api::AccessedBucket) -> Self {
        Self {
            claim: bucket.bucket_claim_name.as_str().into(),
            bucket: bucket.bucket_name.as_str().into(),
            id: bucket.bucket_id.as_str().into(),
        }
    }
}

/// A Secret as it was read; never its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretView {
    /// Its UID.
    pub uid: Uid,
    /// The version that was read; every write is conditioned on it.
    pub resource_version: Box<str>,
    /// It has a deletionTimestamp.
    pub deleting: bool,
    /// Our finalizer is on it.
    pub finalizer: bool,
    /// Other parties' finalizers.
    pub other_finalizers: Box<[Box<str>]>,
    /// The BucketAccess that its controller owner reference names; `None` if it has none, or it is of another kind.
    pub owner: Option<Owner>,
    /// It has owner references, of whatever kind.
    pub owned: bool,
    /// The keys of this crate's [`SecretData`](super::SecretData) that have a value, whatever the names under which the
    /// shell stores them.
    pub keys: BTreeSet<String>,
}

impl SecretView {
    /// Whether nothing holds it any more: it is gone with the write that took the last finalizer off.
    #[must_use]
    pub const fn is_gone(&self) -> bool {
        self.deleting && !self.finalizer && self.other_finalizers.is_empty()
    }
}

/// The BucketAccess that a Secret belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// Its name.
    pub name: Arc<str>,
    /// Its UID.
    pub uid: Uid,
}
