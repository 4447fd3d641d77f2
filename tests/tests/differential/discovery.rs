//! What the servers say of themselves: groups, resources, and the schemas that kubectl reads. Only what the embedded
//! server has is compared; a real one serves more.

use std::time::Duration;

use http_body_util::{BodyExt as _, Collected};
use kube::Client;
use serde_json::{Map, Value, json};
use tokio::time::{Instant, sleep};

use crate::compare::{Place, places};

const TOLD_WITHIN: Duration = Duration::from_secs(30);
const EVERY: Duration = Duration::from_millis(100);

/// All groups and kinds in one document.
const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/// By which fields the items of a list are known.
const NAMES: [&str; 6] =
    ["/metadata/name", "/name", "/resource", "/subresource", "/groupVersion", "/version"];

/// The documents that are compared, and as what they are asked for.
const DOCUMENTS: [(&str, &str); 13] = [
    ("/api", ""),
    ("/apis", ""),
    ("/api", AGGREGATED),
    ("/apis", AGGREGATED),
    ("/apis", "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList"),
    ("/apis/objectstorage.k8s.io", ""),
    ("/apis/coordination.k8s.io", ""),
    ("/api/v1", ""),
    ("/apis/objectstorage.k8s.io/v1alpha2", ""),
    ("/apis/coordination.k8s.io/v1", ""),
    ("/apis/events.k8s.io/v1", ""),
    ("/apis/apiextensions.k8s.io/v1", ""),
    ("/apis/nonsense.example/v1", ""),
];

/// What differs in what both servers say, each with its place. A real server tells of new kinds a moment after it serves
/// them: that is waited for.
pub(crate) async fn differences(real: &Client, model: &Client) -> Vec<String> {
    let deadline = Instant::now() + TOLD_WITHIN;
    loop {
        let told = now(real, model).await;
        if told.is_empty() || Instant::now() > deadline {
            return told;
        }
        sleep(EVERY).await;
    }
}

async fn now(real: &Client, model: &Client) -> Vec<String> {
    let mut told = Vec::new();
    for (path, accept) in DOCUMENTS {
        let [mut theirs, mut ours] = [ask(real, path, accept).await, ask(model, path, accept).await];
        limit(&mut theirs, &mut ours);
        tell(&mut told, path, &places(&theirs, &ours));
    }
    let index = ask(model, "/openapi/v3", "application/json").await;
    for group in index["paths"].as_object().into_iter().flat_map(Map::keys) {
        let path = format!("/openapi/v3/{group}");
        let [theirs, ours] = [ask(real, &path, "").await, ask(model, &path, "").await];
        let kinds = ours["components"]["schemas"].as_object().into_iter().flat_map(Map::keys);
        // The definitions' own schema is not described: nobody writes them here.
        for name in kinds.filter(|name| is_kind(&ours, name) && !name.contains("apiextensions")) {
            let schemas = [resolved(&theirs, name), resolved(&ours, name)];
            tell(&mut told, &format!("{path} {name}"), &places(&schemas[0], &schemas[1]));
        }
    }
    told
}

fn tell(told: &mut Vec<String>, what: &str, places: &[Place]) {
    let all = places.iter().filter(|place| !place.at.ends_with("/serverAddress"));
    told.extend(all.map(|place| format!("{what} {place}")));
}

async fn ask(client: &Client, path: &str, accept: &str) -> Value {
    let mut request = http::Request::get(path);
    if !accept.is_empty() {
        request = request.header("accept", accept);
    }
    let response = client.send(request.body(Vec::new().into()).unwrap()).await.unwrap();
    let kind = response.headers().get("content-type").map(|kind| kind.to_str().unwrap().to_owned());
    let bytes = response.into_body().collect().await.map(Collected::to_bytes).unwrap();
    match serde_json::from_slice(&bytes) {
        Ok(Value::Object(mut document)) => {
            document.insert("content type".to_owned(), json!(kind));
            Value::Object(document)
        }
        _ => json!(String::from_utf8_lossy(&bytes)),
    }
}

fn name(item: &Value) -> Option<&str> {
    NAMES.iter().find_map(|pointer| item.pointer(pointer)?.as_str())
}

/// Takes out of lists what the embedded server does not have. The order of resources depends on when they were made.
fn limit(real: &mut Value, model: &mut Value) {
    match (real, model) {
        (Value::Object(theirs), Value::Object(ours)) => {
            for (field, value) in theirs {
                let Some(other) = ours.get_mut(field) else { continue };
                limit(value, other);
                for list in [value, other].into_iter().filter(|_| field == "resources") {
                    if let Some(items) = list.as_array_mut() {
                        items.sort_by_key(|item| name(item).map(str::to_owned));
                    }
                }
            }
        }
        (Value::Array(theirs), Value::Array(ours)) => {
            theirs.retain(|item| name(item).is_none() || ours.iter().any(|own| name(own) == name(item)));
            for (value, other) in theirs.iter_mut().zip(ours) {
                limit(value, other);
            }
        }
        // The real server offers Protocol Buffers, too.
        (Value::String(text), _) => *text = text.replace(", application/vnd.kubernetes.protobuf", ""),
        _ => {}
    }
}

/// Whether a schema is that of objects which can be stored.
fn is_kind(document: &Value, name: &str) -> bool {
    let kind = &document["components"]["schemas"][name]["x-kubernetes-group-version-kind"][0]["kind"];
    kind.as_str().is_some_and(|kind| !kind.ends_with("List"))
}

/// A schema without references, and without what people read.
fn resolved(document: &Value, name: &str) -> Value {
    plain(document, &document["components"]["schemas"][name], !name.starts_with("io.k8s.api."))
}

/// `whole` if it is known which fields are required and what they are without being given: that of built-in kinds is not.
fn plain(document: &Value, schema: &Value, whole: bool) -> Value {
    const OF_DEFINITIONS: [&str; 3] = ["required", "default", "enum"];
    let Value::Object(said) = schema else { return schema.clone() };
    let mut kept = Map::new();
    for (word, value) in said {
        match (word.as_str(), value) {
            ("description", _) => {}
            ("$ref", Value::String(path)) => {
                let name = path.rsplit('/').next().unwrap_or_default();
                if let Value::Object(inner) = plain(document, &document["components"]["schemas"][name], false)
                {
                    kept.extend(inner);
                }
            }
            ("allOf", Value::Array(all)) => {
                for part in all {
                    if let Value::Object(inner) = plain(document, part, whole) {
                        kept.extend(inner);
                    }
                }
            }
            ("properties", Value::Object(fields)) => {
                let fields = fields.iter().map(|(name, field)| (name.clone(), plain(document, field, whole)));
                kept.insert(word.clone(), fields.collect());
            }
            ("items" | "additionalProperties", inner) => {
                kept.insert(word.clone(), plain(document, inner, whole));
            }
            (word, _) if !whole && OF_DEFINITIONS.contains(&word) => {}
            _ => drop(kept.insert(word.clone(), value.clone())),
        }
    }
    Value::Object(kept)
}
