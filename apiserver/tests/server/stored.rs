//! What is stored, and when a write that changes nothing that is shown changes what is stored.

use serde_json::{Value, json};

use crate::support::{Answer, BUCKETS, SECRETS, bucket, get, merge, post, put, send, server};

const EVENTS: &str = "/api/v1/namespaces/default/events";
const NEW_EVENTS: &str = "/apis/events.k8s.io/v1/namespaces/default/events";
const STRATEGIC_PATCH: &str = "application/strategic-merge-patch+json";

fn revision(answer: &Answer) -> &str {
    answer.body["metadata"]["resourceVersion"].as_str().unwrap()
}

#[tokio::test]
async fn nothing_in_a_secret_is_shown_as_no_bytes_and_is_stored_otherwise() {
    let server = server();
    let made = post(&server, SECRETS, &json!({ "metadata": { "name": "a" }, "data": { "a": null } })).await;
    assert_eq!(made.body["data"]["a"], "");
    let path = format!("{SECRETS}/a");
    let first = merge(&server, &path, &json!({})).await;
    assert_ne!(
        revision(&first),
        revision(&made),
        "the first write brings it into the form in which it is read"
    );
    assert_eq!(revision(&merge(&server, &path, &json!({})).await), revision(&first));
}

#[tokio::test]
async fn a_write_through_the_other_group_forgets_who_wrote_an_event() {
    let server = server();
    let event = json!({ "metadata": { "name": "a" }, "involvedObject": { "namespace": "default" }, "reason": "Done" });
    let made = post(&server, EVENTS, &event).await;
    assert!(made.body["metadata"]["managedFields"].is_array());
    let same = merge(&server, &format!("{NEW_EVENTS}/a"), &json!({})).await;
    assert_eq!(same.body["metadata"]["managedFields"], Value::Null);
    assert_ne!(revision(&same), revision(&made));
}

#[tokio::test]
async fn numbers_of_a_strategic_patch_are_cut_to_fit_before_they_are_checked() {
    let server = server();
    let leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
    post(&server, leases, &json!({ "metadata": { "name": "a" } })).await;
    let patch = json!({ "spec": { "leaseDurationSeconds": 3_000_000_000_u32 } }).to_string();
    let refused = send(&server, "PATCH", &format!("{leases}/a"), STRATEGIC_PATCH, &patch).await;
    assert_eq!(refused.code, 422);
    assert_eq!(refused.body["details"]["causes"][0]["field"], "spec.leaseDurationSeconds");
    let patch = json!({ "spec": { "holderIdentity": 5 } }).to_string();
    let refused = send(&server, "PATCH", &format!("{leases}/a"), STRATEGIC_PATCH, &patch).await;
    let told = refused.body["message"].as_str().unwrap();
    assert!(told.ends_with(": cannot convert int64 to string"), "{told}");
}

#[tokio::test]
async fn the_first_of_two_values_must_be_right_too() {
    let server = server();
    let body = r#"{"metadata": {"name": "a"}, "data": {"a": "twice", "a": "Yg=="}}"#;
    let refused = send(&server, "POST", SECRETS, "application/json", body).await;
    assert_eq!(refused.code, 400);
    assert_eq!(get(&server, &format!("{SECRETS}/a")).await.code, 404);
}

#[tokio::test]
async fn a_status_is_written_with_the_rest_as_it_is_read() {
    let server = server();
    post(&server, BUCKETS, &bucket("a")).await;
    let path = format!("{BUCKETS}/a");
    let mut empty = json!({ "metadata": { "name": "a", "ownerReferences": [] } });
    empty["apiVersion"] = bucket("a")["apiVersion"].clone();
    empty["kind"] = json!("Bucket");
    let by = format!("{path}?fieldManager=two");
    let applied = send(&server, "PATCH", &by, "application/apply-patch+yaml", &empty.to_string()).await;
    assert_eq!(applied.body["metadata"]["ownerReferences"], Value::Null, "an empty list is not shown");
    let status = format!("{path}/status");
    let first = put(&server, &status, &applied.body).await;
    assert_ne!(revision(&first), revision(&applied), "though it was stored");
    assert_eq!(revision(&put(&server, &status, &first.body).await), revision(&first));
}
