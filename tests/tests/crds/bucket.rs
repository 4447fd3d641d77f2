//! Bucket.

use crate::subject::{Row, Subject, accepted, refused};
use cosi_api::Bucket;
use serde_json::{Value, json};

const UID: &str = "0b0e1bd5-9a1c-4f3b-9d0e-3b1f3c7a9f11";
const OTHER_UID: &str = "1b0e1bd5-9a1c-4f3b-9d0e-3b1f3c7a9f11";
const ID_RULE: &str = "should match '^[a-zA-Z0-9/._-]+$'";

/// Nothing but what is required.
fn least() -> Value {
    json!({ "spec": {
        "driverName": "driver.example.com",
        "deletionPolicy": "Delete",
        "bucketClaimRef": { "name": "claim", "namespace": "default" },
    } })
}

/// Every field.
fn full() -> Value {
    json!({
        "spec": {
            "driverName": "driver.example.com",
            "deletionPolicy": "Delete",
            "parameters": { "tier": "hot", "zone": "a" },
            "protocols": ["S3", "GCS"],
            "bucketClaimRef": { "name": "claim", "namespace": "default", "uid": UID },
            "existingBucketID": "tenant/bucket",
        },
        "status": {
            "readyToUse": true,
            "bucketID": "tenant/bucket",
            "protocols": ["S3", "GCS"],
            "bucketInfo": { "COSI_S3_BUCKET_ID": "bucket" },
            "error": { "time": "2026-01-02T03:04:05Z", "message": "try again" },
        },
    })
}

fn spec(field: &str, value: impl Into<Value>) -> Value {
    json!({ "spec": { field: value.into() } })
}

fn claim(field: &str, value: impl Into<Value>) -> Value {
    spec("bucketClaimRef", json!({ field: value.into() }))
}

fn status(field: &str, value: impl Into<Value>) -> Value {
    json!({ "status": { "readyToUse": true, field: value.into() } })
}

fn map_of(count: usize) -> Value {
    (0..count).map(|n| (format!("k{n}"), json!("v"))).collect::<serde_json::Map<_, _>>().into()
}

#[tokio::test]
async fn a_new_bucket_needs_its_required_fields_in_their_right_form() {
    let Some(subject) = Subject::prepare::<Bucket>("crds: new Buckets", false, least()) else {
        return;
    };
    subject.creations(&[requirements(), forms(), claim_forms()].concat()).await;
}

fn requirements() -> Vec<Row> {
    vec![
        accepted("no more than required", json!({})),
        accepted("every field", json!({ "spec": full()["spec"] })),
        refused("no spec", json!({ "spec": null }), "spec", "Required value"),
        refused("no driverName", spec("driverName", Value::Null), "spec.driverName", "Required value"),
        refused(
            "no deletionPolicy",
            spec("deletionPolicy", Value::Null),
            "spec.deletionPolicy",
            "Required value",
        ),
        refused(
            "no bucketClaimRef",
            spec("bucketClaimRef", Value::Null),
            "spec.bucketClaimRef",
            "Required value",
        ),
        refused("no claim name", claim("name", Value::Null), "spec.bucketClaimRef.name", "Required value"),
        refused(
            "no claim namespace",
            claim("namespace", Value::Null),
            "spec.bucketClaimRef.namespace",
            "Required value",
        ),
    ]
}

fn forms() -> Vec<Row> {
    vec![
        accepted("driverName of 63", spec("driverName", "d".repeat(63))),
        accepted("driverName with capitals", spec("driverName", "My-Driver.Example.com")),
        refused("driverName of 64", spec("driverName", "d".repeat(64)), "spec.driverName", "Too long"),
        refused("driverName empty", spec("driverName", ""), "spec.driverName", "at least 1 chars"),
        refused("driverName ends in '-'", spec("driverName", "driver-"), "spec.driverName", "should match"),
        refused("driverName with '_'", spec("driverName", "my_driver"), "spec.driverName", "should match"),
        refused(
            "another policy",
            spec("deletionPolicy", "Recycle"),
            "spec.deletionPolicy",
            "Unsupported value",
        ),
        accepted("512 parameters", spec("parameters", map_of(512))),
        refused("513 parameters", spec("parameters", map_of(513)), "spec.parameters", "Too many"),
        refused("no parameter", spec("parameters", json!({})), "spec.parameters", "at least 1 properties"),
        accepted("all protocols", spec("protocols", json!(["GCS", "Azure", "S3"]))),
        refused("no protocol", spec("protocols", json!([])), "spec.protocols", "at least 1 items"),
        refused("S3 twice", spec("protocols", json!(["S3", "S3"])), "spec.protocols[1]", "Duplicate value"),
        refused(
            "another protocol",
            spec("protocols", json!(["s3"])),
            "spec.protocols[0]",
            "Unsupported value",
        ),
        accepted("id of 2048", spec("existingBucketID", "i".repeat(2048))),
        accepted("id of all kinds of characters", spec("existingBucketID", "/aZ09._-/")),
        refused(
            "id of 2049",
            spec("existingBucketID", "i".repeat(2049)),
            "spec.existingBucketID",
            "Too long",
        ),
        refused("id empty", spec("existingBucketID", ""), "spec.existingBucketID", "at least 1 chars"),
        refused("id with a space", spec("existingBucketID", "a b"), "spec.existingBucketID", ID_RULE),
        refused("id ends a line", spec("existingBucketID", "ab\n"), "spec.existingBucketID", ID_RULE),
    ]
}

fn claim_forms() -> Vec<Row> {
    let (name, namespace, uid) =
        ("spec.bucketClaimRef.name", "spec.bucketClaimRef.namespace", "spec.bucketClaimRef.uid");
    vec![
        accepted("claim name of 253", claim("name", "c".repeat(253))),
        accepted("claim name with dots", claim("name", "a.b-c.d0")),
        refused("claim name of 254", claim("name", "c".repeat(254)), name, "Too long"),
        refused("claim name empty", claim("name", ""), name, "at least 1 chars"),
        refused("claim name with capitals", claim("name", "Claim"), name, "the name of an object"),
        refused("claim name with '..'", claim("name", "a..b"), name, "the name of an object"),
        accepted("namespace of 63", claim("namespace", "n".repeat(63))),
        refused("namespace of 64", claim("namespace", "n".repeat(64)), namespace, "Too long"),
        refused("namespace empty", claim("namespace", ""), namespace, "at least 1 chars"),
        refused("namespace with a dot", claim("namespace", "a.b"), namespace, "the name of a namespace"),
        accepted("uid", claim("uid", UID)),
        refused("uid empty", claim("uid", ""), uid, "at least 36 chars"),
        refused("uid with capitals", claim("uid", UID.to_uppercase()), uid, "should match"),
        refused("uid without dashes", claim("uid", "0".repeat(36)), uid, "should match"),
        refused("uid too long", claim("uid", format!("{UID}0")), uid, "Too long"),
    ]
}

#[tokio::test]
async fn of_a_full_bucket_only_the_policy_and_the_status_can_change() {
    let Some(subject) = Subject::prepare::<Bucket>("crds: full Bucket", false, full()) else {
        return;
    };
    let spec_rows = [changes_of_full_spec(), changes_of_full_claim_ref()].concat();
    subject.changes(&spec_rows, &changes_of_full_status()).await;
}

fn changes_of_full_spec() -> Vec<Row> {
    let (parameters, protocols, id) = ("spec.parameters", "spec.protocols", "spec.existingBucketID");
    let fixed = "is immutable";
    let away = |field: &str, why| refused(why, spec(field, Value::Null), "spec", why);
    vec![
        accepted("policy to Retain", spec("deletionPolicy", "Retain")),
        refused("policy away", spec("deletionPolicy", Value::Null), "spec.deletionPolicy", "Required value"),
        refused("driverName", spec("driverName", "other"), "spec.driverName", "driverName is immutable"),
        refused("a parameter's value", spec("parameters", json!({ "tier": "cold" })), parameters, fixed),
        refused("one more parameter", spec("parameters", json!({ "x": "y" })), parameters, fixed),
        refused("one parameter less", spec("parameters", json!({ "tier": null })), parameters, fixed),
        away("parameters", "parameters cannot be added or removed"),
        accepted("the order of protocols", spec("protocols", json!(["GCS", "S3"]))),
        refused("one more protocol", spec("protocols", json!(["S3", "GCS", "Azure"])), protocols, fixed),
        refused("one protocol less", spec("protocols", json!(["S3"])), protocols, fixed),
        away("protocols", "protocols cannot be added or removed"),
        refused("existingBucketID", spec("existingBucketID", "other"), id, "existingBucketID is immutable"),
        away("existingBucketID", "existingBucketID cannot be added or removed"),
    ]
}

fn changes_of_full_claim_ref() -> Vec<Row> {
    let (name, namespace, uid) =
        ("spec.bucketClaimRef.name", "spec.bucketClaimRef.namespace", "spec.bucketClaimRef.uid");
    let uid_gone = "uid cannot be removed once set";
    vec![
        refused("claim name", claim("name", "other"), name, "name is immutable"),
        refused("claim name away", claim("name", Value::Null), name, "Required value"),
        refused("claim namespace", claim("namespace", "other"), namespace, "namespace is immutable"),
        refused("claim namespace away", claim("namespace", Value::Null), namespace, "Required value"),
        refused("claim uid", claim("uid", OTHER_UID), uid, "uid is immutable once set"),
        refused("claim uid away", claim("uid", Value::Null), "spec.bucketClaimRef", uid_gone),
    ]
}

fn changes_of_full_status() -> Vec<Row> {
    vec![
        accepted("not ready any more", status("readyToUse", false)),
        refused("readyToUse away", status("readyToUse", Value::Null), "status.readyToUse", "Required value"),
        refused("bucketID", status("bucketID", "other"), "status.bucketID", "bucketID is immutable once set"),
        refused(
            "bucketID away",
            status("bucketID", Value::Null),
            "status",
            "bucketID cannot be removed once set",
        ),
        accepted("protocols", status("protocols", json!(["Azure"]))),
        refused(
            "protocols away",
            status("protocols", Value::Null),
            "status",
            "protocols cannot be removed once set",
        ),
        accepted("bucketInfo", status("bucketInfo", json!({ "COSI_S3_BUCKET_ID": "other" }))),
        accepted("bucketInfo away", status("bucketInfo", Value::Null)),
        accepted("error away", status("error", Value::Null)),
        accepted("the whole status away", json!({ "status": null })),
    ]
}

#[tokio::test]
async fn a_least_bucket_gains_nothing_but_its_claims_uid_and_a_status() {
    let Some(subject) = Subject::prepare::<Bucket>("crds: least Bucket", false, least()) else {
        return;
    };
    let spec_rows = [
        accepted("claim uid", claim("uid", UID)),
        refused(
            "parameters",
            spec("parameters", json!({ "a": "b" })),
            "spec",
            "parameters cannot be added or removed",
        ),
        refused(
            "protocols",
            spec("protocols", json!(["S3"])),
            "spec",
            "protocols cannot be added or removed",
        ),
        refused(
            "existingBucketID",
            spec("existingBucketID", "id"),
            "spec",
            "existingBucketID cannot be added or removed",
        ),
    ];
    subject.changes(&spec_rows, &first_statuses()).await;
}

fn first_statuses() -> Vec<Row> {
    let (id, info, message) = ("status.bucketID", "status.bucketInfo", "status.error.message");
    vec![
        accepted("every field", json!({ "status": full()["status"] })),
        accepted("not ready, no more", json!({ "status": { "readyToUse": false } })),
        refused("nothing", json!({ "status": {} }), "status.readyToUse", "Required value"),
        refused(
            "an error without readyToUse",
            json!({ "status": { "error": { "message": "m" } } }),
            "status.readyToUse",
            "Required value",
        ),
        accepted("id of 2048", status("bucketID", "i".repeat(2048))),
        accepted("id of all kinds of characters", status("bucketID", "/aZ09._-/")),
        refused("id of 2049", status("bucketID", "i".repeat(2049)), id, "Too long"),
        refused("id empty", status("bucketID", ""), id, "at least 1 chars"),
        refused("id with a colon", status("bucketID", "arn:x"), id, ID_RULE),
        refused("no protocol", status("protocols", json!([])), "status.protocols", "at least 1 items"),
        refused(
            "S3 twice",
            status("protocols", json!(["S3", "S3"])),
            "status.protocols[1]",
            "Duplicate value",
        ),
        refused(
            "another protocol",
            status("protocols", json!(["NFS"])),
            "status.protocols[0]",
            "Unsupported",
        ),
        accepted("info of 128", status("bucketInfo", map_of(128))),
        refused("info of 129", status("bucketInfo", map_of(129)), info, "Too many"),
        refused("info empty", status("bucketInfo", json!({})), info, "at least 1 properties"),
        accepted("error without time", status("error", json!({ "message": "m" }))),
        accepted("error with nothing", status("error", json!({}))),
        accepted("error with an empty message", status("error", json!({ "message": "" }))),
        accepted("error of 1 MiB", status("error", json!({ "message": "m".repeat(1 << 20) }))),
        refused(
            "error too long",
            status("error", json!({ "message": "m".repeat(1_572_865) })),
            message,
            "Too long",
        ),
        refused("a bad time", status("error", json!({ "time": "today" })), "status.error.time", "date-time"),
    ]
}

#[tokio::test]
async fn a_status_taken_away_as_a_whole_makes_room_for_another_id() {
    let Some(subject) = Subject::prepare::<Bucket>("crds: wiped status", false, full()) else {
        return;
    };
    let stored = subject.make().await;
    let wiped = subject.put_status(&stored, &Value::Null).await.unwrap();
    assert!(wiped.get("status").is_none(), "{wiped}");

    let again =
        subject.put_status(&wiped, &json!({ "readyToUse": true, "bucketID": "other" })).await.unwrap();
    assert_eq!(again["status"]["bucketID"], "other");
    subject.remove().await;
}

/// With `nullable` in the schema the null would be stored, and `has(self.bucketID)` be true without an id.
#[tokio::test]
async fn a_null_is_never_stored() {
    let Some(subject) = Subject::prepare::<Bucket>("crds: nulls", false, least()) else {
        return;
    };
    let stored = subject.make().await;
    let answer =
        subject.put_status(&stored, &json!({ "readyToUse": false, "bucketID": null })).await.unwrap();
    subject.remove().await;
    assert_eq!(answer["status"], json!({ "readyToUse": false }));
}
