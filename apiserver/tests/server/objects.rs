//! Making, changing and deleting objects.

use serde_json::json;

use crate::support::{BUCKETS, SECRETS, bucket, delete, get, merge, post, put, send, server};

#[tokio::test]
async fn an_object_is_made_once_and_is_then_there() {
    let server = server();
    let made = post(&server, BUCKETS, &bucket("a")).await;
    assert_eq!(made.code, 201, "{made:?}");
    assert_eq!(made.body["metadata"]["generation"], 1);
    assert_eq!(get(&server, &format!("{BUCKETS}/a")).await.body, made.body);
    let again = post(&server, BUCKETS, &bucket("a")).await;
    assert_eq!((again.code, &again.body["reason"]), (409, &json!("AlreadyExists")));
    assert_eq!(again.body["message"], "buckets.objectstorage.k8s.io \"a\" already exists");
}

#[tokio::test]
async fn status_and_spec_are_written_apart() {
    let server = server();
    let mut with_status = bucket("a");
    with_status["status"] = json!({"readyToUse": true});
    let made = post(&server, BUCKETS, &with_status).await.body;
    assert_eq!(made["status"], json!(null));
    let path = format!("{BUCKETS}/a");
    let wanted = json!({"status": {"readyToUse": false}, "metadata": {"labels": {"a": "b"}}});
    let status = merge(&server, &format!("{path}/status"), &wanted).await.body;
    assert_eq!(status["status"], json!({"readyToUse": false}));
    assert_eq!(status["metadata"]["labels"], json!(null));
    assert_eq!(status["metadata"]["generation"], 1);
    let main =
        merge(&server, &path, &json!({"spec": {"deletionPolicy": "Retain"}, "status": null})).await.body;
    assert_eq!(main["metadata"]["generation"], 2);
    assert_eq!(main["status"], json!({"readyToUse": false}));
}

#[tokio::test]
async fn a_write_that_changes_nothing_makes_no_new_version() {
    let server = server();
    let made = post(&server, BUCKETS, &bucket("a")).await.body;
    let before = server.revision();
    let path = format!("{BUCKETS}/a");
    assert_eq!(merge(&server, &path, &json!({"metadata": {"labels": {}}})).await.body, made);
    assert_eq!(put(&server, &path, &made).await.body, made);
    assert_eq!(server.revision(), before);
}

#[tokio::test]
async fn a_write_for_an_older_version_is_refused() {
    let server = server();
    let made = post(&server, BUCKETS, &bucket("a")).await.body;
    let path = format!("{BUCKETS}/a");
    assert_eq!(merge(&server, &path, &json!({"metadata": {"labels": {"a": "b"}}})).await.code, 200);
    let late = put(&server, &path, &made).await;
    assert_eq!((late.code, &late.body["reason"]), (409, &json!("Conflict")));
    let mut nameless = made.clone();
    nameless["metadata"]["resourceVersion"] = json!(null);
    assert_eq!(put(&server, &path, &nameless).await.code, 422);
    let mut other = made;
    other["metadata"]["uid"] = json!("other");
    assert_eq!(put(&server, &path, &other).await.code, 409);
}

#[tokio::test]
async fn an_object_with_finalizers_goes_when_the_last_one_is_off() {
    let server = server();
    let mut kept = bucket("a");
    kept["metadata"]["finalizers"] = json!(["example.org/a"]);
    post(&server, BUCKETS, &kept).await;
    let path = format!("{BUCKETS}/a");
    let waiting = delete(&server, &path, &json!({})).await;
    assert_eq!((waiting.code, &waiting.body["metadata"]["generation"]), (200, &json!(2)));
    assert_eq!(waiting.body["metadata"]["deletionGracePeriodSeconds"], 0);
    let more =
        merge(&server, &path, &json!({"metadata": {"finalizers": ["example.org/a", "example.org/b"]}})).await;
    assert_eq!(more.code, 422, "{more:?}");
    let free = merge(&server, &path, &json!({"metadata": {"finalizers": null}})).await;
    assert_eq!(free.code, 200);
    assert_eq!(get(&server, &path).await.code, 404);
}

#[tokio::test]
async fn conditions_of_a_deletion_are_kept() {
    let server = server();
    let made = post(&server, SECRETS, &json!({"metadata": {"name": "a"}})).await.body;
    let path = format!("{SECRETS}/a");
    for wrong in [json!({"uid": "other"}), json!({"resourceVersion": "1"})] {
        assert_eq!(delete(&server, &path, &json!({"preconditions": wrong})).await.code, 409);
    }
    let uid = made["metadata"]["uid"].clone();
    let gone = delete(&server, &path, &json!({"preconditions": {"uid": uid}})).await;
    assert_eq!((gone.code, &gone.body["status"]), (200, &json!("Success")));
}

#[tokio::test]
async fn a_secret_gets_its_type_and_takes_texts() {
    let server = server();
    let made =
        post(&server, SECRETS, &json!({"metadata": {"name": "a"}, "stringData": {"k": "v"}})).await.body;
    assert_eq!((&made["type"], &made["data"]["k"]), (&json!("Opaque"), &json!("dg==")));
}

#[tokio::test]
async fn objects_need_a_namespace_that_is_there() {
    let server = server();
    let refused =
        post(&server, "/api/v1/namespaces/nowhere/secrets", &json!({"metadata": {"name": "a"}})).await;
    assert_eq!((refused.code, &refused.body["message"]), (404, &json!("namespaces \"nowhere\" not found")));
}

#[tokio::test]
async fn what_was_applied_in_another_form_is_written_anew_by_a_write_that_changes_nothing() {
    let server = server();
    let path = format!("{BUCKETS}/a");
    let mut applied = bucket("a");
    applied["metadata"]["labels"] = json!({});
    let apply = "application/apply-patch+yaml";
    let made = send(&server, "PATCH", &format!("{path}?fieldManager=m"), apply, &applied.to_string()).await;
    assert_eq!((made.code, &made.body["metadata"]["labels"]), (201, &json!(null)));
    let before = server.revision();
    for _ in 0..2 {
        assert_eq!(merge(&server, &path, &json!({})).await.code, 200);
        assert_eq!(server.revision(), before + 1);
    }
}

#[tokio::test]
async fn a_patched_object_must_say_what_it_is() {
    let server = server();
    post(&server, BUCKETS, &bucket("a")).await;
    post(&server, SECRETS, &json!({"metadata": {"name": "a"}})).await;
    let (bucket, secret) = (format!("{BUCKETS}/a"), format!("{SECRETS}/a"));
    for (path, patch, code) in [
        (&bucket, json!({"metadata": {"namespace": "other"}}), 200),
        (&bucket, json!({"kind": null}), 422),
        (&bucket, json!({"apiVersion": null}), 500),
        (&secret, json!({"kind": null}), 200),
        (&secret, json!({"apiVersion": null}), 400),
        (&secret, json!({"kind": "Other"}), 422),
    ] {
        assert_eq!(merge(&server, path, &patch).await.code, code, "{path} {patch}");
    }
    let other = merge(&server, &bucket, &json!({"apiVersion": "example.com/v1"})).await.body;
    assert_eq!(other["details"]["group"], "example.com");
}
