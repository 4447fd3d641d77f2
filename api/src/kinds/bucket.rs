//! `Bucket`: one bucket at a backend.

use super::{DeletionPolicy, ObjectProtocol, Parameters, TimestampedError};
use crate::schema::{fields, rules};
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the bucket shall be. Settled when the Bucket is made, but for deletionPolicy and the uid of the claim.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, CustomResource)]
#[kube(
    group = "objectstorage.k8s.io",
    version = "v1alpha2",
    kind = "Bucket",
    status = "BucketStatus",
    derive = "PartialEq",
    doc = "A bucket at an object store, made for a BucketClaim or there before.",
    printcolumn(name = "Driver", type_ = "string", json_path = ".spec.driverName"),
    printcolumn(name = "Policy", type_ = "string", json_path = ".spec.deletionPolicy"),
    printcolumn(name = "Ready", type_ = "boolean", json_path = ".status.readyToUse"),
    printcolumn(
        name = "Claim-Namespace",
        type_ = "string",
        json_path = ".spec.bucketClaimRef.namespace",
        priority = 1
    ),
    printcolumn(name = "Claim", type_ = "string", json_path = ".spec.bucketClaimRef.name", priority = 1),
    printcolumn(name = "ID", type_ = "string", json_path = ".status.bucketID", priority = 1),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = rules::neither_added_nor_removed("parameters"))]
#[schemars(transform = rules::neither_added_nor_removed("protocols"))]
#[schemars(transform = rules::neither_added_nor_removed("existingBucketID"))]
pub struct BucketSpec {
    /// The driver that looks after this bucket.
    #[schemars(schema_with = "fields::driver_name", transform = rules::immutable("driverName"))]
    pub driver_name: String,

    /// What happens to the bucket at the backend when its claim is deleted. 'Retain' keeps it, 'Delete' deletes it
    /// with all that is in it as far as the driver allows. An administrator may change this at any time.
    pub deletion_policy: DeletionPolicy,

    /// Settings that only the driver understands; see its documentation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "fields::parameters", transform = rules::immutable("parameters"))]
    pub parameters: Option<Parameters>,

    /// The protocols that the bucket must support. Absent: whatever the driver supports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "fields::protocols", transform = rules::immutable("protocols"))]
    pub protocols: Option<Vec<ObjectProtocol>>,

    /// The BucketClaim that this bucket is for. Who makes a Bucket for an existing backend bucket names the claim that
    /// may have it and leaves the uid out; it is filled in when the claim binds.
    pub bucket_claim_ref: BucketClaimReference,

    /// The driver's id of a bucket that already exists at the backend. Present: the bucket is looked up, never made.
    #[serde(rename = "existingBucketID", default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "fields::id", transform = rules::immutable("existingBucketID"))]
    pub existing_bucket_id: Option<String>,
}

/// Which BucketClaim a Bucket is for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(transform = rules::never_removed("namespace"))]
#[schemars(transform = rules::never_removed("uid"))]
pub struct BucketClaimReference {
    /// The claim's name.
    #[schemars(schema_with = "fields::resource_name", transform = rules::immutable("name"))]
    pub name: String,

    /// The claim's namespace.
    #[schemars(schema_with = "fields::namespace_name", transform = rules::immutable("namespace"))]
    pub namespace: String,

    /// The claim's UID. Present: the claim is bound to this Bucket, and no later claim of the same name is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "fields::uid", transform = rules::immutable_once_set("uid"))]
    pub uid: Option<String>,
}

/// What the bucket is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = rules::never_removed("bucketID"))]
#[schemars(transform = rules::never_removed("protocols"))]
pub struct BucketStatus {
    /// Whether the bucket can be used.
    pub ready_to_use: bool,

    /// The driver's id of the bucket.
    #[serde(rename = "bucketID", default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "fields::id", transform = rules::immutable_once_set("bucketID"))]
    pub bucket_id: Option<String>,

    /// The protocols that the bucket supports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "fields::protocols")]
    pub protocols: Option<Vec<ObjectProtocol>>,

    /// Where and how the bucket is reached, under the key names that Secrets of accesses use. Nothing secret is in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "fields::bucket_info")]
    pub bucket_info: Option<Parameters>,

    /// What went wrong last. Absent once all is well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "fields::error")]
    pub error: Option<TimestampedError>,
}
