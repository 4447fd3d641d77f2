//! `BucketAccess`: a user's wish for access to buckets.

use super::{BucketAccessAuthenticationType, BucketAccessMode, ObjectProtocol, Parameters, TimestampedError};
use crate::schema::{fields, rules};
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which access is wished for. Settled when the BucketAccess is made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, CustomResource)]
#[kube(
    group = "objectstorage.k8s.io",
    version = "v1alpha2",
    kind = "BucketAccess",
    plural = "bucketaccesses",
    namespaced,
    status = "BucketAccessStatus",
    derive = "PartialEq",
    doc = "A user's wish for access to the buckets of some claims, fulfilled by one Secret for each.",
    printcolumn(name = "Class", type_ = "string", json_path = ".spec.bucketAccessClassName"),
    printcolumn(name = "Protocol", type_ = "string", json_path = ".spec.protocol"),
    printcolumn(name = "Driver", type_ = "string", json_path = ".status.driverName"),
    printcolumn(name = "Ready", type_ = "boolean", json_path = ".status.readyToUse"),
    printcolumn(name = "Account", type_ = "string", json_path = ".status.accountID", priority = 1),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = rules::neither_added_nor_removed("serviceAccountName"))]
pub struct BucketAccessSpec {
    /// The claims whose buckets are to be accessed, each at most once, and the Secret to write for each.
    #[schemars(schema_with = "fields::bucket_claims", transform = rules::immutable("bucketClaims"))]
    pub bucket_claims: Vec<BucketClaimAccess>,

    /// The class to grant the access by.
    #[schemars(schema_with = "fields::short_text", transform = rules::immutable("bucketAccessClassName"))]
    pub bucket_access_class_name: String,

    /// The protocol that applications will speak. All claims' buckets must support it.
    #[schemars(transform = rules::immutable("protocol"))]
    pub protocol: ObjectProtocol,

    /// The ServiceAccount that the applications' Pods run as. Needed if the class says that Pods prove who they are by
    /// it; otherwise not used, but worth setting so that the same manifest works with every class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "fields::short_text", transform = rules::immutable("serviceAccountName"))]
    pub service_account_name: Option<String>,
}

/// Access to the bucket of one claim.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BucketClaimAccess {
    /// The claim, in the namespace of the BucketAccess.
    #[schemars(schema_with = "fields::resource_name")]
    pub bucket_claim_name: String,

    /// What may be done in its bucket.
    pub access_mode: BucketAccessMode,

    /// The Secret to make for it, in the namespace of the BucketAccess. No other access or claim may use the same
    /// name. It is deleted with the BucketAccess.
    #[schemars(schema_with = "fields::resource_name")]
    pub access_secret_name: String,
}

/// How far the wish is fulfilled.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = rules::never_removed("accountID"))]
#[schemars(transform = rules::never_removed("accessedBuckets"))]
#[schemars(transform = rules::never_removed("driverName"))]
#[schemars(transform = rules::never_removed("authenticationType"))]
#[schemars(transform = rules::never_removed("parameters"))]
pub struct BucketAccessStatus {
    /// Whether all Secrets hold working credentials.
    pub ready_to_use: bool,

    /// The driver's id of the account that the access is granted to.
    #[serde(rename = "accountID", default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "fields::id", transform = rules::immutable_once_set("accountID"))]
    pub account_id: Option<String>,

    /// The buckets behind the claims, as the controller found them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "fields::accessed_buckets", transform = rules::immutable_once_set("accessedBuckets"))]
    pub accessed_buckets: Option<Vec<AccessedBucket>>,

    /// The driver, as the class named it when the controller looked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "fields::driver_name", transform = rules::immutable_once_set("driverName"))]
    pub driver_name: Option<String>,

    /// How applications prove who they are, as the class said when the controller looked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "BucketAccessAuthenticationType", transform = rules::immutable_once_set("authenticationType"))]
    pub authentication_type: Option<BucketAccessAuthenticationType>,

    /// The class's parameters when the controller looked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "fields::parameters", transform = rules::immutable_once_set("parameters"))]
    pub parameters: Option<Parameters>,

    /// What went wrong last. Absent once all is well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "fields::error")]
    pub error: Option<TimestampedError>,
}

/// The bucket behind one claim of the spec.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AccessedBucket {
    /// The Bucket.
    #[schemars(schema_with = "fields::resource_name")]
    pub bucket_name: String,

    /// The driver's id of the bucket.
    #[serde(rename = "bucketID")]
    #[schemars(schema_with = "fields::id")]
    pub bucket_id: String,

    /// The claim of the spec that led here.
    #[schemars(schema_with = "fields::resource_name")]
    pub bucket_claim_name: String,
}
