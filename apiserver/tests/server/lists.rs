//! Lists.

use cosi_apiserver::ApiServer;
use serde_json::{Value, json};

use crate::support::{BUCKETS, SECRETS, bucket, delete, get, merge, post, server};

fn names(list: &Value) -> Vec<&str> {
    list["items"].as_array().unwrap().iter().map(|item| item["metadata"]["name"].as_str().unwrap()).collect()
}

async fn filled() -> ApiServer {
    let server = server();
    for name in ["a", "b", "c", "d", "e"] {
        post(&server, BUCKETS, &bucket(name)).await;
    }
    server
}

#[tokio::test]
async fn pages_show_the_list_as_it_was_when_it_began() {
    let server = filled().await;
    let first = get(&server, &format!("{BUCKETS}?limit=2")).await.body;
    assert_eq!((names(&first), &first["metadata"]["remainingItemCount"]), (vec!["a", "b"], &json!(3)));
    delete(&server, &format!("{BUCKETS}/d"), &json!({})).await;
    post(&server, BUCKETS, &bucket("cc")).await;
    let token = first["metadata"]["continue"].as_str().unwrap();
    let second = get(&server, &format!("{BUCKETS}?limit=2&continue={token}")).await.body;
    assert_eq!(names(&second), ["c", "d"]);
    assert_eq!(second["metadata"]["resourceVersion"], first["metadata"]["resourceVersion"]);
    let token = second["metadata"]["continue"].as_str().unwrap();
    let third = get(&server, &format!("{BUCKETS}?limit=2&continue={token}")).await.body;
    assert_eq!((names(&third), &third["metadata"]["continue"]), (vec!["e"], &json!("")));
    assert_eq!(names(&get(&server, BUCKETS).await.body), ["a", "b", "c", "cc", "e"]);
}

#[tokio::test]
async fn a_page_after_the_history_was_forgotten_is_gone() {
    let server = filled().await;
    let first = get(&server, &format!("{BUCKETS}?limit=2")).await.body;
    post(&server, BUCKETS, &bucket("f")).await;
    server.compact();
    let token = first["metadata"]["continue"].as_str().unwrap();
    let second = get(&server, &format!("{BUCKETS}?limit=2&continue={token}")).await;
    assert_eq!((second.code, &second.body["reason"]), (410, &json!("Expired")));
}

#[tokio::test]
async fn a_page_goes_on_at_a_place_among_all_namespaces_though_one_is_selected() {
    let server = server();
    for name in ["a", "b"] {
        post(&server, SECRETS, &json!({"metadata": {"name": name}})).await;
    }
    let first = get(&server, "/api/v1/secrets?limit=1").await.body;
    let token = first["metadata"]["continue"].as_str().unwrap();
    let path = "/api/v1/secrets?fieldSelector=metadata.namespace%3Ddefault";
    assert_eq!(names(&get(&server, &format!("{path}&continue={token}")).await.body), ["b"]);
}

#[tokio::test]
async fn a_list_of_an_exact_revision_shows_that_and_one_of_the_future_is_refused() {
    let server = filled().await;
    let then = server.revision();
    merge(&server, &format!("{BUCKETS}/a"), &json!({"metadata": {"labels": {"x": "y"}}})).await;
    let path = format!("{BUCKETS}?labelSelector=x&resourceVersion={then}");
    assert_eq!(names(&get(&server, &format!("{path}&resourceVersionMatch=Exact")).await.body), [""; 0]);
    assert_eq!(names(&get(&server, &path).await.body), ["a"]);
    let future = get(&server, &format!("{BUCKETS}?resourceVersion=9999")).await;
    assert_eq!((future.code, &future.headers["retry-after"]), (504, &http::HeaderValue::from_static("1")));
}

#[tokio::test]
async fn all_objects_of_a_selection_are_deleted_at_once() {
    let server = server();
    for (name, label) in [("a", "x"), ("b", "y"), ("c", "x")] {
        post(&server, SECRETS, &json!({"metadata": {"name": name, "labels": {"l": label}}})).await;
    }
    assert_eq!(delete(&server, &format!("{SECRETS}?labelSelector=l%3Dx"), &json!({})).await.code, 200);
    assert_eq!(names(&get(&server, SECRETS).await.body), ["b"]);
}
