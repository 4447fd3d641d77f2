//! A server of its own for each test, and shorthands.

use cosi_apiserver::{ApiServer, Settings};
use http_body_util::{BodyExt as _, Full};
use serde_json::{Value, json};
use tower::ServiceExt as _;

pub(crate) const BUCKETS: &str = "/apis/objectstorage.k8s.io/v1alpha2/buckets";
pub(crate) const SECRETS: &str = "/api/v1/namespaces/default/secrets";

pub(crate) fn server() -> ApiServer {
    ApiServer::new(Settings::default()).unwrap()
}

/// An answer: the code and the document.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) code: u16,
    pub(crate) body: Value,
    pub(crate) headers: http::HeaderMap,
}

pub(crate) async fn send(server: &ApiServer, method: &str, path: &str, content: &str, body: &str) -> Answer {
    let mut request = http::Request::builder().method(method).uri(path).header("user-agent", "test/1");
    if !content.is_empty() {
        request = request.header("content-type", content);
    }
    let request = request.body(Full::new(bytes::Bytes::from(body.to_owned()))).unwrap();
    let response = server.clone().oneshot(request).await.unwrap();
    let (head, body) = response.into_parts();
    let bytes = body.collect().await.unwrap().to_bytes();
    let body = serde_json::from_slice(&bytes)
        .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(&bytes).into_owned()));
    Answer { code: head.status.as_u16(), body, headers: head.headers }
}

pub(crate) async fn get(server: &ApiServer, path: &str) -> Answer {
    send(server, "GET", path, "", "").await
}

pub(crate) async fn post(server: &ApiServer, path: &str, body: &Value) -> Answer {
    send(server, "POST", path, "application/json", &body.to_string()).await
}

pub(crate) async fn put(server: &ApiServer, path: &str, body: &Value) -> Answer {
    send(server, "PUT", path, "application/json", &body.to_string()).await
}

pub(crate) async fn merge(server: &ApiServer, path: &str, body: &Value) -> Answer {
    send(server, "PATCH", path, "application/merge-patch+json", &body.to_string()).await
}

pub(crate) async fn delete(server: &ApiServer, path: &str, options: &Value) -> Answer {
    send(server, "DELETE", path, "application/json", &options.to_string()).await
}

/// A Bucket that the definition accepts.
pub(crate) fn bucket(name: &str) -> Value {
    json!({
        "apiVersion": "objectstorage.k8s.io/v1alpha2", "kind": "Bucket",
        "metadata": { "name": name },
        "spec": {
            "driverName": "d.example.org", "deletionPolicy": "Delete",
            "bucketClaimRef": { "name": "c", "namespace": "default", "uid": "5a1f2b3c-7d4e-4f60-8a9b-0c1d2e3f4a5b" },
        },
    })
}
