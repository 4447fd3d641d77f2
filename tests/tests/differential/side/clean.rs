//! Takes away what a sequence left behind: where a page of a list ends depends on all objects that there are.

use http_body_util::BodyExt as _;
use serde_json::{Value, json};

use super::Side;
use crate::kinds::{KINDS, Kind};

impl Side {
    /// Removes all objects of the sequence of these kinds, and its namespaces.
    pub(crate) async fn clean(&self, kinds: &[&'static Kind]) {
        let namespaces = KINDS.iter().filter(|kind| kind.plural == "namespaces");
        for kind in kinds.iter().copied().chain(namespaces) {
            let list = self.plainly("GET", &format!("{}/{}", kind.api(), kind.plural), None).await;
            for item in list["items"].as_array().into_iter().flatten() {
                let field = |name: &str| item["metadata"][name].as_str().unwrap_or_default();
                let (namespace, name) = (field("namespace"), field("name"));
                if namespace.starts_with(&self.book.prefix) || name.starts_with(&self.book.prefix) {
                    self.remove(kind, namespace, name, item["metadata"]["finalizers"].is_array()).await;
                }
            }
        }
    }

    async fn remove(&self, kind: &Kind, namespace: &str, name: &str, finalizers: bool) {
        let scope = if namespace.is_empty() { String::new() } else { format!("/namespaces/{namespace}") };
        let path = format!("{}{scope}/{}/{name}", kind.api(), kind.plural);
        self.plainly("DELETE", &path, None).await;
        if finalizers {
            let none = json!({ "metadata": { "finalizers": null } });
            self.plainly("PATCH", &path, Some(none)).await;
        }
        if kind.plural == "namespaces" {
            let done =
                json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": name }, "spec": {} });
            self.plainly("PUT", &format!("{path}/finalize"), Some(done)).await;
        }
    }

    async fn plainly(&self, method: &str, path: &str, body: Option<Value>) -> Value {
        let kind = if method == "PATCH" { "application/merge-patch+json" } else { "application/json" };
        let request = http::Request::builder().method(method).uri(path).header("content-type", kind);
        let body = body.map(|body| body.to_string()).unwrap_or_default();
        let Ok(response) = self.client.send(request.body(body.into_bytes().into()).unwrap()).await else {
            return Value::Null;
        };
        let bytes =
            response.into_body().collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
        serde_json::from_slice(&bytes).unwrap_or_default()
    }
}
