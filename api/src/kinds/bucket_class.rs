//! `BucketClass`: how an administrator lets buckets be made.

use super::{DeletionPolicy, Parameters};
use crate::schema::{fields, rules};
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How buckets of this class are made. Settled when the class is made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, CustomResource)]
#[kube(
    group = "objectstorage.k8s.io",
    version = "v1alpha2",
    kind = "BucketClass",
    derive = "PartialEq",
    doc = "A kind of bucket that users can claim by its name.",
    printcolumn(name = "Driver", type_ = "string", json_path = ".spec.driverName"),
    printcolumn(name = "Policy", type_ = "string", json_path = ".spec.deletionPolicy"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = rules::immutable("the spec of a BucketClass"))]
pub struct BucketClassSpec {
    /// The driver that makes the buckets.
    #[schemars(schema_with = "fields::driver_name")]
    pub driver_name: String,

    /// What the buckets' own policy is at first. 'Retain' keeps a bucket when its claim is deleted, 'Delete' deletes it.
    pub deletion_policy: DeletionPolicy,

    /// Settings that only the driver understands; see its documentation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "fields::parameters")]
    pub parameters: Option<Parameters>,
}
