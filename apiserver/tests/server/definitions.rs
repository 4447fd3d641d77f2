//! CustomResourceDefinitions: there to be read.

use serde_json::{Value, json};

use crate::support::{delete, get, merge, post, send, server};

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const BUCKETS: &str = include_str!("../../../deploy/crds/buckets.yaml");

#[tokio::test]
async fn the_definitions_are_there_and_established() {
    let server = server();
    let all = get(&server, DEFINITIONS).await.body;
    assert_eq!(all["items"].as_array().unwrap().len(), 5);
    let one = get(&server, &format!("{DEFINITIONS}/buckets.objectstorage.k8s.io")).await.body;
    assert_eq!(one["spec"]["names"]["kind"], "Bucket");
    assert_eq!(one["status"]["conditions"][1]["type"], "Established");
}

#[tokio::test]
async fn the_files_that_were_built_in_can_be_applied() {
    let server = server();
    let path = format!("{DEFINITIONS}/buckets.objectstorage.k8s.io?fieldManager=test&force=true");
    let applied = send(&server, "PATCH", &path, "application/apply-patch+yaml", BUCKETS).await;
    assert_eq!(applied.code, 200, "{applied:?}");
}

#[tokio::test]
async fn other_kinds_are_refused() {
    let server = server();
    let path = format!("{DEFINITIONS}/buckets.objectstorage.k8s.io");
    let changed = merge(&server, &path, &json!({"spec": {"scope": "Namespaced"}})).await;
    assert_eq!((changed.code, &changed.body["reason"]), (422, &json!("Invalid")));
    assert_eq!(delete(&server, &path, &json!({})).await.code, 403);
    let mut other: Value = get(&server, &path).await.body;
    other["metadata"] = json!({"name": "others.example.org"});
    assert_eq!(post(&server, DEFINITIONS, &other).await.code, 403);
}
