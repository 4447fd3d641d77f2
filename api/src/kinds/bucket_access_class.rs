//! `BucketAccessClass`: how an administrator lets access be granted.

use super::{BucketAccessAuthenticationType, BucketAccessMode, MultiBucketAccess, Parameters};
use crate::schema::{fields, rules};
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How accesses of this class are granted. Settled when the class is made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, CustomResource)]
#[kube(
    group = "objectstorage.k8s.io",
    version = "v1alpha2",
    kind = "BucketAccessClass",
    derive = "PartialEq",
    doc = "A kind of access to buckets that users can ask for by its name.",
    printcolumn(name = "Driver", type_ = "string", json_path = ".spec.driverName"),
    printcolumn(name = "Authentication", type_ = "string", json_path = ".spec.authenticationType"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = rules::immutable("the spec of a BucketAccessClass"))]
pub struct BucketAccessClassSpec {
    /// The driver that grants the accesses.
    #[schemars(schema_with = "fields::driver_name")]
    pub driver_name: String,

    /// How applications prove who they are. 'Key': by a key or token in a Secret. 'ServiceAccount': by the
    /// ServiceAccount of their Pods.
    pub authentication_type: BucketAccessAuthenticationType,

    /// Settings that only the driver understands; see its documentation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "fields::parameters")]
    pub parameters: Option<Parameters>,

    /// Access modes that nobody gets by this class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "fields::access_modes")]
    pub disallowed_bucket_access_modes: Option<Vec<BucketAccessMode>>,

    /// How many claims one access may name. 'SingleBucket', which absence also means: one. 'MultipleBuckets': one or
    /// more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "MultiBucketAccess")]
    pub multi_bucket_access: Option<MultiBucketAccess>,
}
