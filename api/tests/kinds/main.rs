//! The types say the same as the schemas: every field, under its name in the API, and nothing else.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod samples;

use cosi_api::{Bucket, BucketAccess, BucketAccessClass, BucketClaim, BucketClass};
use kube::core::cel::Validator;
use rstest::rstest;
use samples::sample;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

fn schema(kind: &str) -> Value {
    let crd = cosi_api::crds().into_iter().find(|crd| crd.spec.names.kind == kind).unwrap();
    serde_json::to_value(&crd.spec.versions[0]).unwrap()["schema"]["openAPIV3Schema"].clone()
}

fn reads_and_writes<K: Serialize + DeserializeOwned>(object: &Value) {
    let typed: K = serde_json::from_value(object.clone()).unwrap();
    assert_eq!(&serde_json::to_value(typed).unwrap(), object);
}

/// Takes away every field that `schema` doesn't require, lists and maps included.
fn strip(object: &mut Value, schema: &Value) {
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().map(|name| name.as_str().unwrap()).collect();
    if let (Some(fields), Some(properties)) = (object.as_object_mut(), schema["properties"].as_object()) {
        fields.retain(|name, _| !properties.contains_key(name) || required.contains(&name.as_str()));
        for (name, property) in properties {
            if let Some(field) = fields.get_mut(name) {
                strip(field, property);
            }
        }
    }
}

/// Both ways: each property of the schema is in the sample, each field of the sample is in the schema.
fn same_fields(path: &str, object: &Value, schema: &Value) {
    if let Some(properties) = schema["properties"].as_object() {
        let there: Vec<_> = object.as_object().unwrap().keys().filter(|name| !is_meta(path, name)).collect();
        assert_eq!(there, properties.keys().collect::<Vec<_>>(), "{path}");
        for (name, property) in properties {
            same_fields(&format!("{path}.{name}"), &object[name], property);
        }
    }
    for item in object.as_array().into_iter().flatten() {
        same_fields(&format!("{path}[]"), item, &schema["items"]);
    }
}

fn is_meta(path: &str, name: &str) -> bool {
    !path.contains('.') && ["apiVersion", "kind", "metadata"].contains(&name)
}

#[rstest]
#[case::bucket("Bucket", reads_and_writes::<Bucket>)]
#[case::claim("BucketClaim", reads_and_writes::<BucketClaim>)]
#[case::class("BucketClass", reads_and_writes::<BucketClass>)]
#[case::access("BucketAccess", reads_and_writes::<BucketAccess>)]
#[case::access_class("BucketAccessClass", reads_and_writes::<BucketAccessClass>)]
fn type_and_schema_have_the_same_fields(#[case] kind: &str, #[case] reads_and_writes: fn(&Value)) {
    let (full, schema) = (sample(kind), schema(kind));
    same_fields(kind, &full, &schema);
    reads_and_writes(&full);

    let mut least = full;
    strip(&mut least, &schema);
    reads_and_writes(&least);
}

#[rstest]
fn a_sample_that_stays_as_it_is_breaks_no_rule(
    #[values("Bucket", "BucketClass", "BucketAccess", "BucketAccessClass")] kind: &str,
) {
    let full = sample(kind);
    Validator::new().validate(&schema(kind), &full, Some(&full)).unwrap();
}

#[rstest]
#[case::id("Bucket", "/status/bucketID", json!("other"), "bucketID is immutable once set")]
#[case::claim_uid("Bucket", "/spec/bucketClaimRef/uid", json!("other"), "uid is immutable once set")]
#[case::claim_name("Bucket", "/spec/bucketClaimRef/name", json!("A_B"), "must be the name of an object")]
#[case::both("BucketClaim", "/spec/existingBucketName", json!("bucket"), "exactly one of")]
#[case::class("BucketClass", "/spec/driverName", json!("other"), "the spec of a BucketClass is immutable")]
#[case::account("BucketAccess", "/status/accountID", json!("other"), "accountID is immutable once set")]
fn rules_hold_without_a_server_too(
    #[case] kind: &str,
    #[case] field: &str,
    #[case] value: Value,
    #[case] message: &str,
) {
    let old = sample(kind);
    let mut new = old.clone();
    *new.pointer_mut(field).unwrap() = value;
    let errors = Validator::new().validate(&schema(kind), &new, Some(&old)).unwrap_err();
    assert!(errors.iter().any(|error| error.message.contains(message)), "{errors:?}");
}

#[test]
fn a_bucket_with_an_unknown_policy_cannot_be_read() {
    let mut bucket = sample("Bucket");
    bucket["spec"]["deletionPolicy"] = json!("Recycle");
    assert!(serde_json::from_value::<Bucket>(bucket).is_err());
}

#[test]
fn nulls_and_unknown_fields_are_read_over() {
    let mut bucket = sample("Bucket");
    bucket["status"]["error"] = Value::Null;
    bucket["spec"]["parameters"] = Value::Null;
    bucket["spec"]["later"] = json!({ "version": 2 });
    let read: Bucket = serde_json::from_value(bucket).unwrap();
    assert!(read.spec.parameters.is_none());
    assert!(read.status.unwrap().error.is_none());
}
