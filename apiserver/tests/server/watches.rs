//! Watches.

use std::time::Duration;

use cosi_apiserver::{AnswerBody, ApiServer};
use http_body_util::{BodyExt as _, Empty};
use serde_json::{Value, json};
use tower::ServiceExt as _;

use crate::support::{BUCKETS, SECRETS, bucket, delete, get, merge, post, server};

/// How long a test waits for a line.
const DEADLINE: Duration = Duration::from_secs(10);

/// A watch, line by line.
pub(crate) struct Lines {
    body: AnswerBody,
    buffer: Vec<u8>,
}

pub(crate) async fn lines(server: &ApiServer, path: &str) -> Lines {
    let request = http::Request::get(path).body(Empty::<bytes::Bytes>::new()).unwrap();
    let response = server.clone().oneshot(request).await.unwrap();
    assert_eq!(response.status(), 200);
    Lines { body: response.into_body(), buffer: Vec::new() }
}

impl Lines {
    /// The next line; null at the end.
    pub(crate) async fn next(&mut self) -> Value {
        loop {
            if let Some(end) = self.buffer.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.buffer.drain(..=end).collect();
                return serde_json::from_slice(&line).unwrap();
            }
            match tokio::time::timeout(DEADLINE, self.body.frame()).await.expect("a line in time") {
                Some(frame) => self.buffer.extend_from_slice(frame.unwrap().data_ref().unwrap()),
                None => return Value::Null,
            }
        }
    }

    /// The type and the name of the next line.
    async fn brief(&mut self) -> String {
        let line = self.next().await;
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        format!("{} {}", text(&line["type"]), text(&line["object"]["metadata"]["name"]))
    }
}

#[tokio::test]
async fn a_watch_tells_what_is_there_and_what_changes() {
    let server = server();
    post(&server, BUCKETS, &bucket("a")).await;
    let mut watch = lines(&server, &format!("{BUCKETS}?watch=1")).await;
    assert_eq!(watch.brief().await, "ADDED a");
    post(&server, BUCKETS, &bucket("b")).await;
    merge(&server, &format!("{BUCKETS}/a"), &json!({"metadata": {"labels": {"x": "y"}}})).await;
    delete(&server, &format!("{BUCKETS}/b"), &json!({})).await;
    assert_eq!(watch.brief().await, "ADDED b");
    assert_eq!(watch.brief().await, "MODIFIED a");
    let gone = watch.next().await;
    assert_eq!(gone["type"], "DELETED");
    assert_eq!(gone["object"]["metadata"]["resourceVersion"], server.revision().to_string());
}

#[tokio::test]
async fn a_watch_goes_on_where_a_list_ended() {
    let server = server();
    post(&server, BUCKETS, &bucket("a")).await;
    let list = get(&server, BUCKETS).await.body;
    post(&server, BUCKETS, &bucket("b")).await;
    let revision = list["metadata"]["resourceVersion"].as_str().unwrap();
    let mut watch = lines(&server, &format!("{BUCKETS}?watch=1&resourceVersion={revision}")).await;
    assert_eq!(watch.brief().await, "ADDED b");
}

#[tokio::test]
async fn a_selected_object_that_changes_its_label_comes_and_goes() {
    let server = server();
    post(&server, BUCKETS, &bucket("a")).await;
    let mut watch = lines(&server, &format!("{BUCKETS}?watch=1&labelSelector=x%3Dy")).await;
    merge(&server, &format!("{BUCKETS}/a"), &json!({"metadata": {"labels": {"x": "y"}}})).await;
    assert_eq!(watch.brief().await, "ADDED a");
    merge(&server, &format!("{BUCKETS}/a"), &json!({"metadata": {"labels": {"x": "z"}}})).await;
    let gone = watch.next().await;
    assert_eq!(gone["type"], "DELETED");
    assert_eq!(gone["object"]["metadata"]["labels"]["x"], "y");
}

#[tokio::test]
async fn the_end_of_what_was_there_is_marked_for_who_asks() {
    let server = server();
    post(&server, BUCKETS, &bucket("a")).await;
    let query = "watch=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan";
    let mut watch = lines(&server, &format!("{BUCKETS}?{query}")).await;
    assert_eq!(watch.brief().await, "ADDED a");
    let mark = watch.next().await;
    assert_eq!(mark["type"], "BOOKMARK");
    assert_eq!(mark["object"]["metadata"]["annotations"], json!({"k8s.io/initial-events-end": "true"}));
}

#[tokio::test]
async fn what_was_there_is_told_before_what_was_written_before_anybody_read_on() {
    let server = server();
    post(&server, BUCKETS, &bucket("b")).await;
    let mut watch = lines(&server, &format!("{BUCKETS}?watch=1&allowWatchBookmarks=true")).await;
    post(&server, BUCKETS, &bucket("a")).await;
    merge(&server, &format!("{BUCKETS}/b"), &json!({"metadata": {"labels": {"x": "y"}}})).await;
    let first = watch.next().await;
    assert_eq!((&first["type"], &first["object"]["metadata"]["name"]), (&json!("ADDED"), &json!("b")));
    assert_eq!(first["object"]["metadata"]["labels"], Value::Null);
    assert_eq!(watch.next().await["type"], "BOOKMARK");
    assert_eq!(watch.brief().await, "ADDED a");
    assert_eq!(watch.brief().await, "MODIFIED b");
}

#[tokio::test]
async fn a_watch_from_before_the_history_is_told_so_and_ends() {
    let server = server();
    post(&server, BUCKETS, &bucket("a")).await;
    server.compact();
    let mut watch = lines(&server, &format!("{BUCKETS}?watch=1&resourceVersion=1")).await;
    let error = watch.next().await;
    assert_eq!((&error["type"], &error["object"]["code"]), (&json!("ERROR"), &json!(410)));
    assert_eq!(error["object"]["reason"], "Expired");
    assert_eq!(watch.next().await, Value::Null);
}

#[tokio::test]
async fn a_watch_that_falls_behind_the_history_is_told_so_and_ends() {
    let server = server();
    let mut watch = lines(&server, &format!("{BUCKETS}?watch=1")).await;
    post(&server, BUCKETS, &bucket("a")).await;
    server.compact();
    assert_eq!(watch.next().await["object"]["code"], 410);
    assert_eq!(watch.next().await, Value::Null);
}

#[tokio::test(start_paused = true)]
async fn a_watch_ends_after_the_time_that_was_asked_for_and_says_before_how_far_it_came() {
    let server = server();
    let query = "watch=1&allowWatchBookmarks=true&timeoutSeconds=90";
    let request =
        http::Request::get(format!("{SECRETS}?{query}")).body(Empty::<bytes::Bytes>::new()).unwrap();
    let mut body = server.clone().oneshot(request).await.unwrap().into_body();
    let started = tokio::time::Instant::now();
    let mark = body.frame().await.unwrap().unwrap().into_data().unwrap();
    assert!(String::from_utf8_lossy(&mark).contains("initial-events-end"));
    let line = body.frame().await.unwrap().unwrap().into_data().unwrap();
    let line: Value = serde_json::from_slice(&line).unwrap();
    assert_eq!(line["type"], "BOOKMARK");
    assert_eq!(line["object"]["metadata"]["resourceVersion"], server.revision().to_string());
    assert!(body.frame().await.is_none());
    assert_eq!(started.elapsed().as_secs(), 90);
}

#[tokio::test]
async fn kubes_watcher_follows_a_list_with_a_watch_in_the_same_process() {
    use futures::StreamExt as _;
    use k8s_openapi::api::core::v1::Secret;
    use kube::api::{DeleteParams, PostParams};
    use kube::runtime::watcher;
    let server = server();
    let client = kube::Client::new(server.clone(), "default");
    let secrets: kube::Api<Secret> = kube::Api::default_namespaced(client);
    let made: Secret = serde_json::from_value(json!({"metadata": {"name": "a"}})).unwrap();
    secrets.create(&PostParams::default(), &made).await.unwrap();
    let mut events = std::pin::pin!(watcher(secrets.clone(), watcher::Config::default()));
    let mut seen = Vec::new();
    while seen.len() < 3 {
        match tokio::time::timeout(DEADLINE, events.next()).await.unwrap().unwrap().unwrap() {
            watcher::Event::InitApply(secret) => {
                seen.push(format!("there {}", secret.metadata.name.unwrap()));
            }
            watcher::Event::InitDone => {
                secrets.delete("a", &DeleteParams::default()).await.unwrap();
                seen.push("done".to_owned());
            }
            watcher::Event::Delete(secret) => seen.push(format!("gone {}", secret.metadata.name.unwrap())),
            watcher::Event::Init | watcher::Event::Apply(_) => {}
        }
    }
    assert_eq!(seen, ["there a", "done", "gone a"]);
}
