//! BucketAccess.

use crate::subject::{Row, Subject, accepted, refused};
use cosi_api::BucketAccess;
use serde_json::{Value, json};

const ID_RULE: &str = "should match '^[a-zA-Z0-9/._-]+$'";

fn wish(number: usize) -> Value {
    json!({ "bucketClaimName": format!("claim-{number}"), "accessMode": "ReadWrite", "accessSecretName": "secret" })
}

fn found(number: usize) -> Value {
    json!({ "bucketName": format!("bc-{number}"), "bucketID": "tenant/id", "bucketClaimName": "claim-1" })
}

fn least() -> Value {
    json!({ "spec": { "bucketClaims": [wish(1)], "bucketAccessClassName": "class", "protocol": "S3" } })
}

fn full() -> Value {
    json!({
        "spec": {
            "bucketClaims": [wish(1), wish(2)], "bucketAccessClassName": "class", "protocol": "S3",
            "serviceAccountName": "account",
        },
        "status": {
            "readyToUse": true, "accountID": "tenant/account", "accessedBuckets": [found(1), found(2)],
            "driverName": "driver.example.com", "authenticationType": "Key", "parameters": { "tier": "hot" },
            "error": { "time": "2026-01-02T03:04:05Z", "message": "try again" },
        },
    })
}

fn map_of(count: usize) -> Value {
    (0..count).map(|n| (format!("k{n}"), json!("v"))).collect::<serde_json::Map<_, _>>().into()
}

fn spec(field: &str, value: impl Into<Value>) -> Value {
    json!({ "spec": { field: value.into() } })
}

fn status(field: &str, value: impl Into<Value>) -> Value {
    json!({ "status": { "readyToUse": true, field: value.into() } })
}

/// The first list entry of `entry`, with one field changed (null: without it).
fn with(mut entry: Value, field: &str, value: impl Into<Value>) -> Value {
    let fields = entry.as_object_mut().unwrap();
    match value.into() {
        Value::Null => fields.remove(field),
        value => fields.insert(field.to_owned(), value),
    };
    json!([entry])
}

#[tokio::test]
async fn a_new_access_needs_its_required_fields_in_their_right_form() {
    let Some(subject) = Subject::prepare::<BucketAccess>("crds: new BucketAccesses", true, least()) else {
        return;
    };
    subject.creations(&[forms(), claim_forms()].concat()).await;
}

fn forms() -> Vec<Row> {
    let (claims, class, account) =
        ("spec.bucketClaims", "spec.bucketAccessClassName", "spec.serviceAccountName");
    vec![
        accepted("no more than required", json!({})),
        accepted("every field", json!({ "spec": full()["spec"] })),
        refused("no spec", json!({ "spec": null }), "spec", "Required value"),
        refused("bucketClaims away", spec("bucketClaims", Value::Null), claims, "Required value"),
        refused("no claim", spec("bucketClaims", json!([])), claims, "at least 1 items"),
        accepted("128 claims", spec("bucketClaims", (0..128).map(wish).collect::<Vec<_>>())),
        refused(
            "129 claims",
            spec("bucketClaims", (0..129).map(wish).collect::<Vec<_>>()),
            claims,
            "Too many",
        ),
        refused(
            "a claim twice",
            spec("bucketClaims", json!([wish(1), wish(1)])),
            "spec.bucketClaims[1]",
            "Duplicate value",
        ),
        refused("no class", spec("bucketAccessClassName", Value::Null), class, "Required value"),
        accepted("a class name of other characters", spec("bucketAccessClassName", "My Class")),
        accepted("class of 253", spec("bucketAccessClassName", "c".repeat(253))),
        refused("class of 254", spec("bucketAccessClassName", "c".repeat(254)), class, "Too long"),
        refused("class empty", spec("bucketAccessClassName", ""), class, "at least 1 chars"),
        refused("no protocol", spec("protocol", Value::Null), "spec.protocol", "Required value"),
        refused("another protocol", spec("protocol", "NFS"), "spec.protocol", "Unsupported value"),
        accepted("account of 253", spec("serviceAccountName", "s".repeat(253))),
        refused("account of 254", spec("serviceAccountName", "s".repeat(254)), account, "Too long"),
        refused("account empty", spec("serviceAccountName", ""), account, "at least 1 chars"),
    ]
}

fn claim_forms() -> Vec<Row> {
    let (claim, mode, secret) = (
        "spec.bucketClaims[0].bucketClaimName",
        "spec.bucketClaims[0].accessMode",
        "spec.bucketClaims[0].accessSecretName",
    );
    let claims = |field: &str, value: Value| spec("bucketClaims", with(wish(1), field, value));
    vec![
        refused("no claim name", claims("bucketClaimName", Value::Null), claim, "Required value"),
        refused("claim of 254", claims("bucketClaimName", "c".repeat(254).into()), claim, "Too long"),
        refused("claim empty", claims("bucketClaimName", "".into()), claim, "at least 1 chars"),
        refused("claim with capitals", claims("bucketClaimName", "C".into()), claim, "the name of an object"),
        accepted("read only", claims("accessMode", "ReadOnly".into())),
        accepted("write only", claims("accessMode", "WriteOnly".into())),
        refused("no mode", claims("accessMode", Value::Null), mode, "Required value"),
        refused("another mode", claims("accessMode", "Admin".into()), mode, "Unsupported value"),
        refused("no Secret", claims("accessSecretName", Value::Null), secret, "Required value"),
        refused("Secret of 254", claims("accessSecretName", "s".repeat(254).into()), secret, "Too long"),
        refused("Secret empty", claims("accessSecretName", "".into()), secret, "at least 1 chars"),
        refused("Secret with '_'", claims("accessSecretName", "a_b".into()), secret, "the name of an object"),
    ]
}

#[tokio::test]
async fn of_a_full_access_only_readiness_and_error_can_change() {
    let Some(subject) = Subject::prepare::<BucketAccess>("crds: full BucketAccess", true, full()) else {
        return;
    };
    subject.changes(&changes_of_full_spec(), &changes_of_full_status()).await;
}

fn changes_of_full_spec() -> Vec<Row> {
    let other_mode = json!([with(wish(1), "accessMode", "ReadOnly")[0], wish(2)]);
    let other_secret = json!([with(wish(1), "accessSecretName", "other")[0], wish(2)]);
    let claims = "spec.bucketClaims";
    vec![
        accepted("the order of claims", spec("bucketClaims", json!([wish(2), wish(1)]))),
        refused(
            "one claim less",
            spec("bucketClaims", json!([wish(1)])),
            claims,
            "bucketClaims is immutable",
        ),
        refused(
            "one more claim",
            spec("bucketClaims", json!([wish(1), wish(2), wish(3)])),
            claims,
            "is immutable",
        ),
        refused("a mode", spec("bucketClaims", other_mode), claims, "is immutable"),
        refused("a Secret", spec("bucketClaims", other_secret), claims, "is immutable"),
        refused(
            "class",
            spec("bucketAccessClassName", "other"),
            "spec.bucketAccessClassName",
            "is immutable",
        ),
        refused("protocol", spec("protocol", "GCS"), "spec.protocol", "protocol is immutable"),
        refused("account", spec("serviceAccountName", "other"), "spec.serviceAccountName", "is immutable"),
        refused(
            "account away",
            spec("serviceAccountName", Value::Null),
            "spec",
            "serviceAccountName cannot be added or removed",
        ),
    ]
}

fn changes_of_full_status() -> Vec<Row> {
    let other_id = json!([with(found(1), "bucketID", "other")[0], found(2)]);
    let (buckets, authentication) = ("status.accessedBuckets", "status.authenticationType");
    let away = |field: &str| status(field, Value::Null);
    vec![
        accepted("not ready any more", status("readyToUse", false)),
        accepted("error away", away("error")),
        refused("readyToUse away", away("readyToUse"), "status.readyToUse", "Required value"),
        refused(
            "account",
            status("accountID", "other"),
            "status.accountID",
            "accountID is immutable once set",
        ),
        refused("account away", away("accountID"), "status", "accountID cannot be removed once set"),
        accepted("the order of buckets", status("accessedBuckets", json!([found(2), found(1)]))),
        refused(
            "one bucket less",
            status("accessedBuckets", json!([found(1)])),
            buckets,
            "is immutable once set",
        ),
        refused("a bucket's id", status("accessedBuckets", other_id), buckets, "is immutable once set"),
        refused(
            "buckets away",
            away("accessedBuckets"),
            "status",
            "accessedBuckets cannot be removed once set",
        ),
        refused("driver", status("driverName", "other"), "status.driverName", "is immutable once set"),
        refused("driver away", away("driverName"), "status", "driverName cannot be removed once set"),
        refused(
            "authentication",
            status("authenticationType", "ServiceAccount"),
            authentication,
            "is immutable once set",
        ),
        refused(
            "authentication away",
            away("authenticationType"),
            "status",
            "authenticationType cannot be removed",
        ),
        refused(
            "a parameter",
            status("parameters", json!({ "a": "b" })),
            "status.parameters",
            "is immutable once set",
        ),
        refused("parameters away", away("parameters"), "status", "parameters cannot be removed once set"),
    ]
}

#[tokio::test]
async fn a_least_access_gains_nothing_but_a_status() {
    let Some(subject) = Subject::prepare::<BucketAccess>("crds: least BucketAccess", true, least()) else {
        return;
    };
    let spec_rows = [refused(
        "account",
        spec("serviceAccountName", "account"),
        "spec",
        "serviceAccountName cannot be added or removed",
    )];
    subject.changes(&spec_rows, &[first_statuses(), first_accessed_buckets()].concat()).await;
}

fn first_statuses() -> Vec<Row> {
    let (account, driver, parameters) = ("status.accountID", "status.driverName", "status.parameters");
    let authentication = "status.authenticationType";
    vec![
        accepted("every field", json!({ "status": full()["status"] })),
        refused("nothing", json!({ "status": {} }), "status.readyToUse", "Required value"),
        accepted("account of 2048", status("accountID", "i".repeat(2048))),
        refused("account of 2049", status("accountID", "i".repeat(2049)), account, "Too long"),
        refused("account empty", status("accountID", ""), account, "at least 1 chars"),
        refused("account with '+'", status("accountID", "a+b"), account, ID_RULE),
        refused("driver of 64", status("driverName", "d".repeat(64)), driver, "Too long"),
        refused("driver empty", status("driverName", ""), driver, "at least 1 chars"),
        refused("driver with '_'", status("driverName", "a_b"), driver, "should match"),
        refused(
            "another authentication",
            status("authenticationType", "Token"),
            authentication,
            "Unsupported",
        ),
        refused("no parameter", status("parameters", json!({})), parameters, "at least 1 properties"),
        accepted("512 parameters", status("parameters", map_of(512))),
        refused("513 parameters", status("parameters", map_of(513)), parameters, "Too many"),
        refused("a bad time", status("error", json!({ "time": "today" })), "status.error.time", "date-time"),
        refused(
            "error too long",
            status("error", json!({ "message": "m".repeat(1_572_865) })),
            "status.error.message",
            "Too long",
        ),
    ]
}

fn first_accessed_buckets() -> Vec<Row> {
    let buckets = "status.accessedBuckets";
    let (name, id, claim) = (
        "status.accessedBuckets[0].bucketName",
        "status.accessedBuckets[0].bucketID",
        "status.accessedBuckets[0].bucketClaimName",
    );
    let one = |field: &str, value: Value| status("accessedBuckets", with(found(1), field, value));
    let many = |count: usize| status("accessedBuckets", (0..count).map(found).collect::<Vec<_>>());
    vec![
        refused("no bucket", status("accessedBuckets", json!([])), buckets, "at least 1 items"),
        accepted("128 buckets", many(128)),
        refused("129 buckets", many(129), buckets, "Too many"),
        refused(
            "a bucket twice",
            status("accessedBuckets", json!([found(1), found(1)])),
            "status.accessedBuckets[1]",
            "Duplicate value",
        ),
        refused("no bucket name", one("bucketName", Value::Null), name, "Required value"),
        refused("bucket name of 254", one("bucketName", "b".repeat(254).into()), name, "Too long"),
        refused("bucket name empty", one("bucketName", "".into()), name, "at least 1 chars"),
        refused("bucket name with capitals", one("bucketName", "B".into()), name, "the name of an object"),
        refused("no bucket id", one("bucketID", Value::Null), id, "Required value"),
        refused("bucket id with a space", one("bucketID", "a b".into()), id, ID_RULE),
        refused("bucket id empty", one("bucketID", "".into()), id, "at least 1 chars"),
        refused("bucket id of 2049", one("bucketID", "i".repeat(2049).into()), id, "Too long"),
        refused("no claim name", one("bucketClaimName", Value::Null), claim, "Required value"),
        refused("claim name of 254", one("bucketClaimName", "c".repeat(254).into()), claim, "Too long"),
        refused("claim name empty", one("bucketClaimName", "".into()), claim, "at least 1 chars"),
        refused("claim name with '_'", one("bucketClaimName", "a_b".into()), claim, "the name of an object"),
    ]
}
