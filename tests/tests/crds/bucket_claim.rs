//! BucketClaim.

use crate::subject::{Subject, accepted, refused};
use cosi_api::BucketClaim;
use serde_json::{Value, json};

fn of_a_class() -> Value {
    json!({
        "spec": { "bucketClassName": "class", "protocols": ["S3", "GCS"] },
        "status": {
            "readyToUse": true, "boundBucketName": "bc-1", "protocols": ["S3"],
            "error": { "time": "2026-01-02T03:04:05Z", "message": "try again" },
        },
    })
}

fn of_a_bucket() -> Value {
    json!({ "spec": { "existingBucketName": "bucket" } })
}

fn spec(field: &str, value: impl Into<Value>) -> Value {
    json!({ "spec": { field: value.into() } })
}

fn status(field: &str, value: impl Into<Value>) -> Value {
    json!({ "status": { "readyToUse": true, field: value.into() } })
}

#[tokio::test]
async fn a_new_claim_names_a_class_or_a_bucket_but_not_both() {
    let Some(subject) = Subject::prepare::<BucketClaim>("crds: new BucketClaims", true, json!({})) else {
        return;
    };
    let one = "exactly one of bucketClassName and existingBucketName must be set";
    let (class, bucket) = ("spec.bucketClassName", "spec.existingBucketName");
    let class_and = |protocols: Value| json!({ "spec": { "bucketClassName": "c", "protocols": protocols } });
    subject
        .creations(&[
            accepted("a class", json!({ "spec": of_a_class()["spec"] })),
            accepted("a bucket", json!({ "spec": of_a_bucket()["spec"] })),
            refused("no spec", json!({}), "spec", "Required value"),
            refused("neither", json!({ "spec": {} }), "spec", one),
            refused("only protocols", spec("protocols", json!(["S3"])), "spec", one),
            refused(
                "both",
                json!({ "spec": { "bucketClassName": "c", "existingBucketName": "b" } }),
                "spec",
                one,
            ),
            accepted("class of 253", spec("bucketClassName", "c".repeat(253))),
            refused("class of 254", spec("bucketClassName", "c".repeat(254)), class, "Too long"),
            refused("class empty", spec("bucketClassName", ""), class, "at least 1 chars"),
            refused("class with '_'", spec("bucketClassName", "my_class"), class, "the name of an object"),
            accepted("bucket of 253", spec("existingBucketName", "b".repeat(253))),
            refused("bucket of 254", spec("existingBucketName", "b".repeat(254)), bucket, "Too long"),
            refused("bucket empty", spec("existingBucketName", ""), bucket, "at least 1 chars"),
            refused("bucket with capitals", spec("existingBucketName", "B"), bucket, "the name of an object"),
            accepted("all protocols", class_and(json!(["S3", "Azure", "GCS"]))),
            refused("no protocol", class_and(json!([])), "spec.protocols", "at least 1 items"),
            refused("S3 twice", class_and(json!(["S3", "S3"])), "spec.protocols[1]", "Duplicate value"),
            refused("another protocol", class_and(json!(["NFS"])), "spec.protocols[0]", "Unsupported value"),
        ])
        .await;
}

#[tokio::test]
async fn a_claim_of_a_class_stays_as_it_is() {
    let Some(subject) = Subject::prepare::<BucketClaim>("crds: BucketClaim of a class", true, of_a_class())
    else {
        return;
    };
    let class_gone = "bucketClassName cannot be added or removed";
    let protocols_gone = "protocols cannot be added or removed";
    let spec_rows = [
        refused("class", spec("bucketClassName", "other"), "spec.bucketClassName", "is immutable"),
        refused(
            "class for bucket",
            json!({ "spec": { "bucketClassName": null, "existingBucketName": "b" } }),
            "spec",
            class_gone,
        ),
        accepted("the order of protocols", spec("protocols", json!(["GCS", "S3"]))),
        refused("one protocol less", spec("protocols", json!(["S3"])), "spec.protocols", "is immutable"),
        refused("protocols away", spec("protocols", Value::Null), "spec", protocols_gone),
    ];
    let bound = "status.boundBucketName";
    let status_rows = [
        accepted("not ready any more", status("readyToUse", false)),
        refused("readyToUse away", status("readyToUse", Value::Null), "status.readyToUse", "Required value"),
        refused(
            "bound bucket",
            status("boundBucketName", "other"),
            bound,
            "boundBucketName is immutable once set",
        ),
        refused(
            "bound bucket away",
            status("boundBucketName", Value::Null),
            "status",
            "boundBucketName cannot be removed",
        ),
        accepted("protocols", status("protocols", json!(["Azure"]))),
        refused("protocols away", status("protocols", Value::Null), "status", "protocols cannot be removed"),
        accepted("error away", status("error", Value::Null)),
    ];
    subject.changes(&spec_rows, &status_rows).await;
}

#[tokio::test]
async fn a_claim_of_a_bucket_stays_as_it_is_and_gains_a_status() {
    let Some(subject) = Subject::prepare::<BucketClaim>("crds: BucketClaim of a bucket", true, of_a_bucket())
    else {
        return;
    };
    let bucket_gone = "existingBucketName cannot be added or removed";
    let protocols_gone = "protocols cannot be added or removed";
    let spec_rows = [
        refused("bucket", spec("existingBucketName", "other"), "spec.existingBucketName", "is immutable"),
        refused(
            "bucket for class",
            json!({ "spec": { "existingBucketName": null, "bucketClassName": "c" } }),
            "spec",
            bucket_gone,
        ),
        refused("protocols", spec("protocols", json!(["S3"])), "spec", protocols_gone),
    ];
    let bound = "status.boundBucketName";
    let status_rows = [
        accepted("every field", json!({ "status": of_a_class()["status"] })),
        refused("nothing", json!({ "status": {} }), "status.readyToUse", "Required value"),
        refused("bound bucket of 254", status("boundBucketName", "b".repeat(254)), bound, "Too long"),
        refused("bound bucket empty", status("boundBucketName", ""), bound, "at least 1 chars"),
        refused("bound bucket with '_'", status("boundBucketName", "a_b"), bound, "the name of an object"),
        refused("no protocol", status("protocols", json!([])), "status.protocols", "at least 1 items"),
        refused(
            "S3 twice",
            status("protocols", json!(["S3", "S3"])),
            "status.protocols[1]",
            "Duplicate value",
        ),
        refused("a bad time", status("error", json!({ "time": "today" })), "status.error.time", "date-time"),
        refused(
            "error too long",
            status("error", json!({ "message": "m".repeat(1_572_865) })),
            "status.error.message",
            "Too long",
        ),
    ];
    subject.changes(&spec_rows, &status_rows).await;
}
