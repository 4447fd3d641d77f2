//! One object of each kind with all fields set, written as the API spells them.

use serde_json::{Value, json};

pub(crate) fn sample(kind: &str) -> Value {
    let mut object = match kind {
        "Bucket" => bucket(),
        "BucketClaim" => claim(),
        "BucketClass" => class(),
        "BucketAccess" => access(),
        "BucketAccessClass" => access_class(),
        other => panic!("no sample of {other}"),
    };
    object["apiVersion"] = json!("objectstorage.k8s.io/v1alpha2");
    object["kind"] = json!(kind);
    object["metadata"] = json!({ "name": "sample" });
    object
}

fn error() -> Value {
    json!({ "time": "2026-01-02T03:04:05Z", "message": "try again" })
}

fn bucket() -> Value {
    json!({
        "spec": {
            "driverName": "driver.example.com",
            "deletionPolicy": "Delete",
            "parameters": { "tier": "hot" },
            "protocols": ["S3", "Azure", "GCS"],
            "bucketClaimRef": {
                "name": "claim", "namespace": "team", "uid": "0b0e1bd5-9a1c-4f3b-9d0e-3b1f3c7a9f11",
            },
            "existingBucketID": "tenant/bucket",
        },
        "status": {
            "readyToUse": true,
            "bucketID": "tenant/bucket",
            "protocols": ["S3"],
            "bucketInfo": { "COSI_S3_BUCKET_ID": "bucket" },
            "error": error(),
        },
    })
}

/// Both of two fields that exclude each other: the rules forbid it, the form doesn't.
fn claim() -> Value {
    json!({
        "spec": { "bucketClassName": "class", "protocols": ["S3"], "existingBucketName": "bucket" },
        "status": { "readyToUse": true, "boundBucketName": "bc-1", "protocols": ["S3"], "error": error() },
    })
}

fn class() -> Value {
    json!({ "spec": {
        "driverName": "driver.example.com", "deletionPolicy": "Retain", "parameters": { "tier": "hot" },
    } })
}

fn access() -> Value {
    json!({
        "spec": {
            "bucketClaims": [
                { "bucketClaimName": "claim", "accessMode": "ReadOnly", "accessSecretName": "secret" },
            ],
            "bucketAccessClassName": "class",
            "protocol": "S3",
            "serviceAccountName": "account",
        },
        "status": {
            "readyToUse": true,
            "accountID": "tenant/account",
            "accessedBuckets": [
                { "bucketName": "bc-1", "bucketID": "tenant/bucket", "bucketClaimName": "claim" },
            ],
            "driverName": "driver.example.com",
            "authenticationType": "ServiceAccount",
            "parameters": { "tier": "hot" },
            "error": error(),
        },
    })
}

fn access_class() -> Value {
    json!({ "spec": {
        "driverName": "driver.example.com",
        "authenticationType": "Key",
        "parameters": { "tier": "hot" },
        "disallowedBucketAccessModes": ["ReadWrite", "WriteOnly"],
        "multiBucketAccess": "MultipleBuckets",
    } })
}
