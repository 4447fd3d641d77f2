//! `BucketClaim`: a user's wish for a bucket.

use super::{ObjectProtocol, TimestampedError};
use crate::schema::{fields, rules};
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is wished for: a new bucket of a class, or one that exists. Settled when the claim is made.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, CustomResource)]
#[kube(
    group = "objectstorage.k8s.io",
    version = "v1alpha2",
    kind = "BucketClaim",
    namespaced,
    status = "BucketClaimStatus",
    derive = "PartialEq",
    doc = "A user's wish for a bucket, which a controller fulfils by a Bucket.",
    printcolumn(name = "Bucket", type_ = "string", json_path = ".status.boundBucketName"),
    printcolumn(name = "Class", type_ = "string", json_path = ".spec.bucketClassName"),
    printcolumn(name = "Ready", type_ = "boolean", json_path = ".status.readyToUse"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = rules::exactly_one_of("bucketClassName", "existingBucketName"))]
#[schemars(transform = rules::neither_added_nor_removed("bucketClassName"))]
#[schemars(transform = rules::neither_added_nor_removed("existingBucketName"))]
#[schemars(transform = rules::neither_added_nor_removed("protocols"))]
pub struct BucketClaimSpec {
    /// The class to make a new bucket by. Either this or existingBucketName.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "fields::resource_name", transform = rules::immutable("bucketClassName"))]
    pub bucket_class_name: Option<String>,

    /// The protocols that the bucket must support. Name all that applications rely on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "fields::protocols", transform = rules::immutable("protocols"))]
    pub protocols: Option<Vec<ObjectProtocol>>,

    /// The Bucket to bind to, which must name this claim. Either this or bucketClassName.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "fields::resource_name", transform = rules::immutable("existingBucketName"))]
    pub existing_bucket_name: Option<String>,
}

/// How far the wish is fulfilled.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = rules::never_removed("boundBucketName"))]
#[schemars(transform = rules::never_removed("protocols"))]
pub struct BucketClaimStatus {
    /// Whether the bucket can be used.
    pub ready_to_use: bool,

    /// The Bucket that this claim is bound to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "fields::resource_name", transform = rules::immutable_once_set("boundBucketName"))]
    pub bound_bucket_name: Option<String>,

    /// The protocols by which a BucketAccess can ask for this claim's bucket.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "fields::protocols")]
    pub protocols: Option<Vec<ObjectProtocol>>,

    /// What went wrong last. Absent once all is well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "fields::error")]
    pub error: Option<TimestampedError>,
}
