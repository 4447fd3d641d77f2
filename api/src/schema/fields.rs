//! The forms that fields have. Every optional field is absent rather than empty, so nothing here may be empty.

use super::rules;
use crate::kinds::{AccessedBucket, BucketAccessMode, BucketClaimAccess, ObjectProtocol, TimestampedError};
use crate::value::{MAX_DRIVER_NAME, MAX_ID, MAX_NAME};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

const MAX_NAMESPACE: usize = 63;
const MAX_PARAMETERS: usize = 512;
const MAX_BUCKET_INFO: usize = 128;
const MAX_BUCKETS_PER_ACCESS: usize = 128;
const MAX_ERROR_MESSAGE: usize = 1_572_864;
const UID_LENGTH: usize = 36;

const ID_PATTERN: &str = "^[a-zA-Z0-9/._-]+$";
const DRIVER_NAME_PATTERN: &str = r"^[a-zA-Z0-9]([a-zA-Z0-9\-\.]{0,61}[a-zA-Z0-9])?$";
const UID_PATTERN: &str = r"^[0-9a-f]{8}-([0-9a-f]{4}\-){3}[0-9a-f]{12}$";

/// A driver's id of a bucket or account.
pub(crate) fn id(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "minLength": 1, "maxLength": MAX_ID, "pattern": ID_PATTERN })
}

/// A driver's name.
pub(crate) fn driver_name(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "string", "minLength": 1, "maxLength": MAX_DRIVER_NAME, "pattern": DRIVER_NAME_PATTERN
    })
}

/// The name of a Kubernetes object.
pub(crate) fn resource_name(generator: &mut SchemaGenerator) -> Schema {
    let mut schema = short_text(generator);
    rules::must_be_dns1123_subdomain(&mut schema);
    schema
}

/// The name of a namespace.
pub(crate) fn namespace_name(_: &mut SchemaGenerator) -> Schema {
    let mut schema = json_schema!({ "type": "string", "minLength": 1, "maxLength": MAX_NAMESPACE });
    rules::must_be_dns1123_label(&mut schema);
    schema
}

/// A name of which only the length is checked.
pub(crate) fn short_text(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "minLength": 1, "maxLength": MAX_NAME })
}

/// The UID of a Kubernetes object.
pub(crate) fn uid(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "string", "minLength": UID_LENGTH, "maxLength": UID_LENGTH, "pattern": UID_PATTERN
    })
}

/// Settings for a driver.
pub(crate) fn parameters(_: &mut SchemaGenerator) -> Schema {
    string_map(MAX_PARAMETERS)
}

/// Where and how a bucket is reached.
pub(crate) fn bucket_info(_: &mut SchemaGenerator) -> Schema {
    string_map(MAX_BUCKET_INFO)
}

/// A set of protocols.
pub(crate) fn protocols(generator: &mut SchemaGenerator) -> Schema {
    set_of::<ObjectProtocol>(generator, ObjectProtocol::ALL.len())
}

/// A set of access modes.
pub(crate) fn access_modes(generator: &mut SchemaGenerator) -> Schema {
    set_of::<BucketAccessMode>(generator, BucketAccessMode::ALL.len())
}

/// The claims of an access.
pub(crate) fn bucket_claims(generator: &mut SchemaGenerator) -> Schema {
    list_by_key::<BucketClaimAccess>(generator, "bucketClaimName")
}

/// The buckets behind the claims of an access.
pub(crate) fn accessed_buckets(generator: &mut SchemaGenerator) -> Schema {
    list_by_key::<AccessedBucket>(generator, "bucketName")
}

/// The error of a status.
pub(crate) fn error(generator: &mut SchemaGenerator) -> Schema {
    TimestampedError::json_schema(generator)
}

/// A point in time, RFC 3339.
pub(crate) fn date_time(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "format": "date-time" })
}

/// The text of an error.
pub(crate) fn error_message(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "minLength": 0, "maxLength": MAX_ERROR_MESSAGE })
}

fn string_map(max: usize) -> Schema {
    json_schema!({
        "type": "object", "minProperties": 1, "maxProperties": max, "additionalProperties": { "type": "string" }
    })
}

fn set_of<T: JsonSchema>(generator: &mut SchemaGenerator, max: usize) -> Schema {
    json_schema!({
        "type": "array", "minItems": 1, "maxItems": max, "items": T::json_schema(generator),
        "x-kubernetes-list-type": "set"
    })
}

fn list_by_key<T: JsonSchema>(generator: &mut SchemaGenerator, key: &str) -> Schema {
    json_schema!({
        "type": "array", "minItems": 1, "maxItems": MAX_BUCKETS_PER_ACCESS, "items": T::json_schema(generator),
        "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": [key]
    })
}
