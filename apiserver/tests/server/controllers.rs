//! Garbage collection and the deletion of namespaces.

use cosi_apiserver::ApiServer;
use serde_json::{Value, json};

use crate::support::{BUCKETS, SECRETS, bucket, delete, get, merge, post, server};

const CLAIMS: &str = "/apis/objectstorage.k8s.io/v1alpha2/namespaces/default/bucketclaims";

fn claim(name: &str) -> Value {
    json!({
        "apiVersion": "objectstorage.k8s.io/v1alpha2", "kind": "BucketClaim", "metadata": { "name": name },
        "spec": { "bucketClassName": "c", "protocols": ["S3"] },
    })
}

fn owned_by(owner: &Value, blocks: bool) -> Value {
    json!({
        "apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"], "controller": true, "blockOwnerDeletion": blocks,
    })
}

/// A claim that owns a Secret.
async fn family(server: &ApiServer, blocks: bool) -> Value {
    let owner = post(server, CLAIMS, &claim("owner")).await.body;
    let secret = json!({"metadata": {"name": "owned", "ownerReferences": [owned_by(&owner, blocks)]}});
    assert_eq!(post(server, SECRETS, &secret).await.code, 201);
    server.settle();
    assert_eq!(get(server, &format!("{SECRETS}/owned")).await.code, 200);
    owner
}

#[tokio::test]
async fn dependents_go_after_their_owner() {
    let server = server();
    family(&server, true).await;
    delete(&server, &format!("{CLAIMS}/owner"), &json!({"propagationPolicy": "Background"})).await;
    assert_eq!(get(&server, &format!("{SECRETS}/owned")).await.code, 200);
    server.settle();
    assert_eq!(get(&server, &format!("{SECRETS}/owned")).await.code, 404);
}

#[tokio::test]
async fn dependents_go_before_an_owner_that_is_deleted_in_the_foreground() {
    let server = server();
    family(&server, true).await;
    let pinned = json!({"metadata": {"finalizers": ["example.org/pin"]}});
    merge(&server, &format!("{SECRETS}/owned"), &pinned).await;
    delete(&server, &format!("{CLAIMS}/owner"), &json!({"propagationPolicy": "Foreground"})).await;
    server.settle();
    let waiting = get(&server, &format!("{CLAIMS}/owner")).await.body;
    assert_eq!(waiting["metadata"]["finalizers"], json!(["foregroundDeletion"]));
    let pinned = get(&server, &format!("{SECRETS}/owned")).await.body;
    assert_ne!(pinned["metadata"]["deletionTimestamp"], json!(null));
    merge(&server, &format!("{SECRETS}/owned"), &json!({"metadata": {"finalizers": null}})).await;
    server.settle();
    assert_eq!(get(&server, &format!("{CLAIMS}/owner")).await.code, 404);
}

#[tokio::test]
async fn orphans_stay_and_forget_their_owner() {
    let server = server();
    family(&server, true).await;
    delete(&server, &format!("{CLAIMS}/owner"), &json!({"propagationPolicy": "Orphan"})).await;
    server.settle();
    assert_eq!(get(&server, &format!("{CLAIMS}/owner")).await.code, 404);
    let orphan = get(&server, &format!("{SECRETS}/owned")).await;
    assert_eq!((orphan.code, &orphan.body["metadata"]["ownerReferences"]), (200, &json!(null)));
}

#[tokio::test]
async fn an_owner_of_another_uid_is_no_owner() {
    let server = server();
    let mut owner = post(&server, CLAIMS, &claim("owner")).await.body;
    owner["metadata"]["uid"] = json!("00000000-0000-4000-8000-000000000000");
    let secret = json!({"metadata": {"name": "owned", "ownerReferences": [owned_by(&owner, false)]}});
    post(&server, SECRETS, &secret).await;
    server.settle();
    assert_eq!(get(&server, &format!("{SECRETS}/owned")).await.code, 404);
}

#[tokio::test]
async fn an_owner_of_an_unknown_kind_or_in_another_scope_is_left_to_others() {
    let server = server();
    let owner = post(&server, CLAIMS, &claim("owner")).await.body;
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "name": "a", "uid": "1"});
    post(&server, SECRETS, &json!({"metadata": {"name": "of-pod", "ownerReferences": [pod]}})).await;
    let mut wide = bucket("wide");
    wide["metadata"]["ownerReferences"] = json!([owned_by(&owner, false)]);
    post(&server, BUCKETS, &wide).await;
    delete(&server, &format!("{CLAIMS}/owner"), &json!({})).await;
    server.settle();
    assert_eq!(get(&server, &format!("{SECRETS}/of-pod")).await.code, 200);
    assert_eq!(get(&server, &format!("{BUCKETS}/wide")).await.code, 200);
}

#[tokio::test]
async fn one_of_several_owners_that_goes_is_only_forgotten() {
    let server = server();
    let (one, other) =
        (post(&server, CLAIMS, &claim("one")).await.body, post(&server, CLAIMS, &claim("other")).await.body);
    let mut second = owned_by(&other, false);
    second["controller"] = json!(false);
    let secret = json!({"metadata": {"name": "owned", "ownerReferences": [owned_by(&one, false), second]}});
    post(&server, SECRETS, &secret).await;
    delete(&server, &format!("{CLAIMS}/one"), &json!({})).await;
    server.settle();
    let left = get(&server, &format!("{SECRETS}/owned")).await.body;
    assert_eq!(left["metadata"]["ownerReferences"].as_array().unwrap().len(), 1);
    delete(&server, &format!("{CLAIMS}/other"), &json!({})).await;
    server.settle();
    assert_eq!(get(&server, &format!("{SECRETS}/owned")).await.code, 404);
}

#[tokio::test]
async fn what_happened_before_the_history_begins_is_made_up_for() {
    let server = server();
    family(&server, false).await;
    delete(&server, &format!("{CLAIMS}/owner"), &json!({})).await;
    server.compact();
    server.settle();
    assert_eq!(get(&server, &format!("{SECRETS}/owned")).await.code, 404);
}

#[tokio::test]
async fn a_namespace_goes_when_all_that_is_in_it_is_gone() {
    let server = server();
    let space = "/api/v1/namespaces/space";
    post(&server, "/api/v1/namespaces", &json!({"metadata": {"name": "space"}})).await;
    let pinned = json!({"metadata": {"name": "pinned", "finalizers": ["example.org/pin"]}});
    post(&server, &format!("{space}/secrets"), &pinned).await;
    post(&server, &format!("{space}/secrets"), &json!({"metadata": {"name": "free"}})).await;
    let answer = delete(&server, space, &json!({})).await;
    assert_eq!((answer.code, &answer.body["status"]["phase"]), (200, &json!("Terminating")));
    let refused = post(&server, &format!("{space}/secrets"), &json!({"metadata": {"name": "late"}})).await;
    assert_eq!(refused.code, 403);
    assert_eq!(refused.body["details"]["causes"][0]["reason"], "NamespaceTerminating");
    server.settle();
    assert_eq!(get(&server, &format!("{space}/secrets/free")).await.code, 404);
    assert_eq!(get(&server, space).await.code, 200);
    merge(&server, &format!("{space}/secrets/pinned"), &json!({"metadata": {"finalizers": null}})).await;
    server.settle();
    assert_eq!(get(&server, space).await.code, 404);
}

#[tokio::test]
async fn some_namespaces_cannot_be_deleted() {
    let server = server();
    assert_eq!(delete(&server, "/api/v1/namespaces/default", &json!({})).await.code, 403);
}

#[tokio::test]
async fn a_server_in_use_needs_nobody_to_settle_it() {
    let server = server();
    let stop = tokio_util::sync::CancellationToken::new();
    let running = tokio::spawn(cosi_apiserver::controllers::run(server.clone(), stop.clone()));
    post(&server, "/api/v1/namespaces", &json!({"metadata": {"name": "space"}})).await;
    let mut watch =
        crate::watches::lines(&server, "/api/v1/namespaces?watch=true&fieldSelector=metadata.name%3Dspace")
            .await;
    delete(&server, "/api/v1/namespaces/space", &json!({})).await;
    while watch.next().await["type"] != "DELETED" {}
    stop.cancel();
    running.await.unwrap();
}
