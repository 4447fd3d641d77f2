//! A Bucket as the machine sees it: what matters for decisions, and compact, since one is kept per Bucket.

use std::collections::BTreeMap;
use std::sync::Arc;

use cosi_api::names::{SIDECAR_LET_GO, claim_is_being_deleted};
use cosi_api::{Bucket, DeletionPolicy, ObjectProtocol};

use crate::{Uid, split_finalizers};

/// The claim that a Bucket was made for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimRef {
    /// Name of the BucketClaim.
    pub name: Box<str>,
    /// Its namespace.
    pub namespace: Box<str>,
    /// Its UID; absent on a static Bucket that no claim has bound yet.
    pub uid: Option<Uid>,
}

/// A Bucket object as it was read.
#[allow(clippy::struct_excessive_bools, reason = "independent facts about an object")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BucketView {
    /// The name: the only idempotency key (R2).
    pub name: Arc<str>,
    /// The driver that it names, which is ours.
    pub driver: Arc<str>,
    /// The UID: tells apart two objects that had the same name one after the other.
    pub uid: Uid,
    /// The version that was read; every write is conditioned on it.
    pub resource_version: Box<str>,
    /// It has a deletionTimestamp.
    pub deleting: bool,
    /// Our finalizer is on it.
    pub finalizer: bool,
    /// Other parties' finalizers, kept as they are by every write (I4).
    pub other_finalizers: Box<[Box<str>]>,
    /// One of the two annotations that say: the claim is being deleted.
    pub claim_deleting: bool,
    /// The annotation by which a person takes over the clean-up (R14).
    pub let_go: bool,
    /// What becomes of the backend bucket when the Bucket is deleted.
    pub policy: DeletionPolicy,
    /// The claim.
    pub claim: ClaimRef,
    /// Protocols that the bucket must speak.
    pub protocols: Box<[ObjectProtocol]>,
    /// Parameters of the class, passed to the driver as they are.
    pub parameters: Option<Arc<BTreeMap<String, String>>>,
    /// The id of a static Bucket.
    pub existing_id: Option<Box<str>>,
    /// `status.readyToUse`; `None` if there is no status.
    pub ready: Option<bool>,
    /// `status.bucketID`.
    pub bucket_id: Option<Box<str>>,
}

impl BucketView {
    /// The view of an object as the API server returned it; `None` if it lacks a name, UID or resourceVersion, which the
    /// API server never does.
    #[must_use]
    pub fn of(bucket: &Bucket) -> Option<Self> {
        let meta = &bucket.metadata;
        let spec = &bucket.spec;
        let status = bucket.status.as_ref();
        let annotations = meta.annotations.as_ref();
        let (finalizer, other_finalizers) = split_finalizers(meta.finalizers.as_deref());
        Some(Self {
            name: meta.name.as_deref()?.into(),
            driver: spec.driver_name.as_str().into(),
            uid: meta.uid.as_deref()?.into(),
            resource_version: meta.resource_version.as_deref()?.into(),
            deleting: meta.deletion_timestamp.is_some(),
            finalizer,
            other_finalizers,
            claim_deleting: annotations.is_some_and(claim_is_being_deleted),
            let_go: annotations.is_some_and(|a| a.contains_key(SIDECAR_LET_GO)),
            policy: spec.deletion_policy,
            claim: ClaimRef {
                name: spec.bucket_claim_ref.name.as_str().into(),
                namespace: spec.bucket_claim_ref.namespace.as_str().into(),
                uid: spec.bucket_claim_ref.uid.as_deref().map(Into::into),
            },
            protocols: spec.protocols.as_deref().unwrap_or_default().into(),
            parameters: spec.parameters.clone().map(Arc::new),
            existing_id: spec.existing_bucket_id.as_deref().map(Into::into),
            ready: status.map(|s| s.ready_to_use),
            bucket_id: status.and_then(|s| s.bucket_id.as_deref()).map(Into::into),
        })
    }

    /// Whether the backend bucket was there before the Bucket object: the existing id alone tells.
    #[must_use]
    pub const fn is_static(&self) -> bool {
        self.existing_id.is_some()
    }

    /// Whether any finalizer keeps the object from going away when it is deleted.
    #[must_use]
    pub const fn is_held(&self) -> bool {
        self.finalizer || !self.other_finalizers.is_empty()
    }

    /// Whether the bucket is recorded as usable.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.ready == Some(true)
    }

    /// Whether the difference between two views of a name is one that work can depend on. Own status writes, labels and
    /// other parties' finalizers are not.
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
}
