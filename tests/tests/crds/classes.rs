//! BucketClass and BucketAccessClass.

use crate::subject::{Row, Subject, accepted, refused};
use cosi_api::{BucketAccessClass, BucketClass};
use serde_json::{Value, json};

fn bucket_class() -> Value {
    json!({ "spec": {
        "driverName": "driver.example.com", "deletionPolicy": "Retain", "parameters": { "tier": "hot" },
    } })
}

fn access_class() -> Value {
    json!({ "spec": {
        "driverName": "driver.example.com", "authenticationType": "Key", "parameters": { "tier": "hot" },
        "disallowedBucketAccessModes": ["WriteOnly", "ReadWrite"], "multiBucketAccess": "SingleBucket",
    } })
}

fn spec(field: &str, value: impl Into<Value>) -> Value {
    json!({ "spec": { field: value.into() } })
}

/// What both classes have in common.
fn common_forms() -> Vec<Row> {
    let many =
        |count: usize| (0..count).map(|n| (format!("k{n}"), json!("v"))).collect::<serde_json::Map<_, _>>();
    vec![
        accepted("as it is", json!({})),
        accepted("no parameters", spec("parameters", Value::Null)),
        refused("no spec", json!({ "spec": null }), "spec", "Required value"),
        refused("no driverName", spec("driverName", Value::Null), "spec.driverName", "Required value"),
        refused("driverName empty", spec("driverName", ""), "spec.driverName", "at least 1 chars"),
        refused("driverName of 64", spec("driverName", "d".repeat(64)), "spec.driverName", "Too long"),
        refused("driverName starts with '.'", spec("driverName", ".d"), "spec.driverName", "should match"),
        refused(
            "no parameter",
            spec("parameters", json!({ "tier": null })),
            "spec.parameters",
            "at least 1 properties",
        ),
        accepted("512 parameters", spec("parameters", many(511))),
        refused("513 parameters", spec("parameters", many(512)), "spec.parameters", "Too many"),
    ]
}

#[tokio::test]
async fn a_new_bucket_class_names_driver_and_policy() {
    let Some(subject) = Subject::prepare::<BucketClass>("crds: new BucketClasses", false, bucket_class())
    else {
        return;
    };
    subject.creations(&common_forms()).await;
    subject
        .creations(&[
            refused(
                "no policy",
                spec("deletionPolicy", Value::Null),
                "spec.deletionPolicy",
                "Required value",
            ),
            refused(
                "another policy",
                spec("deletionPolicy", "Keep"),
                "spec.deletionPolicy",
                "Unsupported value",
            ),
        ])
        .await;
}

#[tokio::test]
async fn a_bucket_class_stays_as_it_is() {
    let Some(subject) = Subject::prepare::<BucketClass>("crds: BucketClass", false, bucket_class()) else {
        return;
    };
    let why = "the spec of a BucketClass is immutable";
    let rows = [
        accepted("a label", json!({ "metadata": { "labels": { "a": "b" } } })),
        refused("driverName", spec("driverName", "other"), "spec", why),
        refused("policy", spec("deletionPolicy", "Delete"), "spec", why),
        refused("a parameter", spec("parameters", json!({ "tier": "cold" })), "spec", why),
        refused("parameters away", spec("parameters", Value::Null), "spec", why),
    ];
    subject.changes(&rows, &[]).await;
}

#[tokio::test]
async fn a_new_access_class_names_driver_and_authentication() {
    let Some(subject) =
        Subject::prepare::<BucketAccessClass>("crds: new BucketAccessClasses", false, access_class())
    else {
        return;
    };
    let (authentication, modes, several) =
        ("spec.authenticationType", "spec.disallowedBucketAccessModes", "spec.multiBucketAccess");
    subject.creations(&common_forms()).await;
    subject
        .creations(&[
            accepted("by ServiceAccount", spec("authenticationType", "ServiceAccount")),
            refused(
                "no authentication",
                spec("authenticationType", Value::Null),
                authentication,
                "Required value",
            ),
            refused(
                "another authentication",
                spec("authenticationType", "Token"),
                authentication,
                "Unsupported",
            ),
            accepted(
                "all modes",
                spec("disallowedBucketAccessModes", json!(["ReadOnly", "WriteOnly", "ReadWrite"])),
            ),
            accepted("modes away", spec("disallowedBucketAccessModes", Value::Null)),
            refused("no mode", spec("disallowedBucketAccessModes", json!([])), modes, "at least 1 items"),
            refused(
                "a mode twice",
                spec("disallowedBucketAccessModes", json!(["ReadOnly", "ReadOnly"])),
                "spec.disallowedBucketAccessModes[1]",
                "Duplicate value",
            ),
            refused(
                "another mode",
                spec("disallowedBucketAccessModes", json!(["Admin"])),
                "spec.disallowedBucketAccessModes[0]",
                "Unsupported",
            ),
            accepted("several buckets", spec("multiBucketAccess", "MultipleBuckets")),
            accepted("no word on several buckets", spec("multiBucketAccess", Value::Null)),
            refused(
                "another word on several buckets",
                spec("multiBucketAccess", "Two"),
                several,
                "Unsupported",
            ),
        ])
        .await;
}

#[tokio::test]
async fn an_access_class_stays_as_it_is() {
    let Some(subject) =
        Subject::prepare::<BucketAccessClass>("crds: BucketAccessClass", false, access_class())
    else {
        return;
    };
    let why = "the spec of a BucketAccessClass is immutable";
    let rows = [
        accepted("a label", json!({ "metadata": { "labels": { "a": "b" } } })),
        accepted(
            "the order of modes",
            spec("disallowedBucketAccessModes", json!(["ReadWrite", "WriteOnly"])),
        ),
        refused("driverName", spec("driverName", "other"), "spec", why),
        refused("authentication", spec("authenticationType", "ServiceAccount"), "spec", why),
        refused("a parameter", spec("parameters", json!({ "tier": "cold" })), "spec", why),
        refused("modes", spec("disallowedBucketAccessModes", json!(["ReadOnly"])), "spec", why),
        refused("modes away", spec("disallowedBucketAccessModes", Value::Null), "spec", why),
        refused("several buckets", spec("multiBucketAccess", "MultipleBuckets"), "spec", why),
        refused("several buckets away", spec("multiBucketAccess", Value::Null), "spec", why),
    ];
    subject.changes(&rows, &[]).await;
}
