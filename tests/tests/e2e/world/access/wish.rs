//! What a BucketAccess shall be, and what the controller hands over.

use cosi_api::BucketAccess;
use cosi_api::names::FINALIZER;
use serde_json::{Value, json};

use crate::world::{TestBucket, fresh_name};

/// A wish for access to Ready Buckets, as a user writes it, and what a controller makes of it.
#[derive(Clone)]
pub(crate) struct AccessWish {
    pub(crate) entries: Vec<Entry>,
    spec: Value,
    metadata: Value,
    status: Value,
}

/// Access to one bucket.
#[derive(Clone)]
pub(crate) struct Entry {
    pub(crate) bucket: String,
    pub(crate) id: String,
    pub(crate) claim: String,
    pub(crate) mode: &'static str,
    pub(crate) secret: String,
}

impl AccessWish {
    /// To read and write one bucket: S3, with keys.
    pub(crate) async fn to(bucket: &TestBucket) -> Self {
        Self::nothing().and(bucket, "ReadWrite").await
    }

    fn nothing() -> Self {
        Self {
            entries: vec![],
            spec: json!({ "bucketAccessClassName": "class", "protocol": "S3" }),
            metadata: json!({ "generateName": "access-", "finalizers": [FINALIZER] }),
            status: json!({ "readyToUse": false, "authenticationType": "Key" }),
        }
    }

    /// The same before the Bucket is Ready, for a driver whose ids are names.
    pub(crate) async fn to_not_ready(bucket: &TestBucket) -> Self {
        Self::nothing().with(bucket, bucket.name.clone(), "ReadWrite").await
    }

    /// And one bucket more.
    pub(crate) async fn and(self, bucket: &TestBucket, mode: &'static str) -> Self {
        let object = bucket.get().await.expect("the Bucket to be accessed");
        let id = object.status.and_then(|status| status.bucket_id).expect("a Bucket that is Ready");
        self.with(bucket, id, mode).await
    }

    async fn with(mut self, bucket: &TestBucket, id: String, mode: &'static str) -> Self {
        let object = bucket.get().await.expect("the Bucket to be accessed");
        self.entries.push(Entry {
            bucket: bucket.name.clone(),
            id,
            claim: object.spec.bucket_claim_ref.name,
            mode,
            secret: fresh_name("secret"),
        });
        self
    }

    /// Changes the last entry.
    pub(crate) fn entry(mut self, change: impl FnOnce(&mut Entry)) -> Self {
        change(self.entries.last_mut().expect("an entry"));
        self
    }

    /// What the application speaks.
    pub(crate) fn protocol(self, protocol: &str) -> Self {
        self.spec("protocol", protocol.into())
    }

    /// By a ServiceAccount instead of keys.
    pub(crate) fn service_account(self, name: &str) -> Self {
        self.spec("serviceAccountName", name.into()).status("authenticationType", "ServiceAccount".into())
    }

    /// One field of the spec.
    pub(crate) fn spec(mut self, field: &str, value: Value) -> Self {
        self.spec[field] = value;
        self
    }

    /// One field of the metadata.
    pub(crate) fn metadata(mut self, field: &str, value: Value) -> Self {
        self.metadata[field] = value;
        self
    }

    /// One field of the status that the controller hands over; `null` leaves it out.
    pub(crate) fn status(mut self, field: &str, value: Value) -> Self {
        self.status[field] = value;
        self
    }

    pub(super) fn object(&self) -> BucketAccess {
        let claim = |entry: &Entry| {
            json!({
                "bucketClaimName": entry.claim, "accessMode": entry.mode, "accessSecretName": entry.secret,
            })
        };
        let mut spec = self.spec.clone();
        spec["bucketClaims"] = self.entries.iter().map(claim).collect();
        let object = json!({
            "apiVersion": "objectstorage.k8s.io/v1alpha2", "kind": "BucketAccess",
            "metadata": self.metadata, "spec": spec,
        });
        serde_json::from_value(object).unwrap()
    }

    /// The n-th entry's Bucket.
    pub(crate) fn bucket(&self, n: usize) -> &str {
        &self.entries[n].bucket
    }

    /// `status.accessedBuckets`, as the controller finds them.
    pub(crate) fn accessed(&self) -> Value {
        let accessed = |entry: &Entry| json!({ "bucketName": entry.bucket, "bucketID": entry.id, "bucketClaimName": entry.claim });
        self.entries.iter().map(accessed).collect()
    }

    /// The merge patch by which the controller hands over.
    pub(super) fn hand_over(&self, driver: &str) -> Value {
        let mut status = json!({ "driverName": driver, "accessedBuckets": self.accessed() });
        for (field, value) in self.status.as_object().into_iter().flatten() {
            status[field] = value.clone();
        }
        json!({ "status": status })
    }
}
