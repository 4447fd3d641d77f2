//! The paths of a kind, and what can be done there.

use super::{kind_reference, schemas, version_path};
use crate::discovery;
use crate::schema::Kind;
use serde_json::{Map, Value, json};

/// A query parameter: its name, its type and what it does.
type Said = (&'static str, &'static str, &'static str);

const WRITE: [Said; 3] = [
    ("dryRun", "string", "Set to All to have nothing stored."),
    ("fieldManager", "string", "The name of who writes."),
    ("fieldValidation", "string", "What to do about unknown and repeated fields: Ignore, Warn or Strict."),
];

const FORCE: Said = ("force", "boolean", "Whether an apply takes fields from other managers.");

const DELETE: [Said; 3] = [
    ("dryRun", "string", "Set to All to have nothing deleted."),
    ("gracePeriodSeconds", "integer", "The time to give the object. None of the kinds here takes any."),
    ("propagationPolicy", "string", "What to do about dependents: Orphan, Background or Foreground."),
];

const LIST: [Said; 8] = [
    ("allowWatchBookmarks", "boolean", "Whether a watch tells revisions at which nothing changed."),
    ("continue", "string", "Where to go on, as an earlier answer said."),
    ("fieldSelector", "string", "Which objects, by their fields."),
    ("labelSelector", "string", "Which objects, by their labels."),
    ("limit", "integer", "The most objects of one answer."),
    ("resourceVersion", "string", "The revision to read from."),
    ("timeoutSeconds", "integer", "How long a watch goes on."),
    ("watch", "boolean", "Whether to go on with what changes."),
];

/// The paths of a kind with their operations.
pub(super) fn of(kind: &Kind) -> Map<String, Value> {
    let root = format!("/{}", version_path(kind));
    let place = if kind.namespaced { "/namespaces/{namespace}" } else { "" };
    let all = format!("{root}{place}/{}", kind.plural);
    let one = format!("{all}/{{name}}");
    let mut paths = Map::new();
    if kind.namespaced {
        paths.insert(format!("{root}/{}", kind.plural), json!({ "get": operation(kind, "list") }));
    }
    let mut collection = json!({ "get": operation(kind, "list"), "post": operation(kind, "post") });
    if discovery::verbs(kind).contains(&"deletecollection")
        && let Some(collection) = collection.as_object_mut()
    {
        collection.insert("delete".to_owned(), operation(kind, "deletecollection"));
    }
    paths.insert(all, collection);
    let single = json!({
        "get": operation(kind, "get"), "put": operation(kind, "put"),
        "patch": operation(kind, "patch"), "delete": operation(kind, "delete")
    });
    paths.insert(one.clone(), single);
    for (name, verbs) in discovery::subresources(kind) {
        let verbs = verbs.iter().map(|verb| if *verb == "update" { "put" } else { verb });
        let operations: Map<String, Value> =
            verbs.map(|verb| (verb.to_owned(), operation(kind, verb))).collect();
        paths.insert(format!("{one}/{name}"), Value::Object(operations));
    }
    paths
}

fn operation(kind: &Kind, action: &str) -> Value {
    let mut said: Vec<Said> = match action {
        "list" | "deletecollection" => LIST.to_vec(),
        "post" | "put" | "patch" => WRITE.to_vec(),
        "delete" => DELETE.to_vec(),
        _ => Vec::new(),
    };
    said.extend((action == "patch").then_some(FORCE));
    let name = match action {
        "list" => schemas::list_name(kind),
        _ => schemas::name(kind),
    };
    let answer = json!({ "schema": schemas::reference(&name) });
    let mut operation = Map::new();
    let mut say = |name: &str, value: Value| drop(operation.insert(name.to_owned(), value));
    say("description", json!(format!("{action} {}", kind.kind)));
    say("operationId", json!(format!("{action}{}{}", kind.version, kind.kind)));
    say("parameters", said.into_iter().map(parameter).collect());
    say("responses", json!({ "200": { "description": "OK", "content": { "application/json": answer } } }));
    say("x-kubernetes-action", json!(action));
    say("x-kubernetes-group-version-kind", kind_reference(kind));
    match action {
        "patch" => say("requestBody", patch_body(kind)),
        "post" | "put" => say("requestBody", json!({ "content": { "application/json": answer } })),
        _ => {}
    }
    Value::Object(operation)
}

fn patch_body(kind: &Kind) -> Value {
    let strategic = kind.builtin.then_some("application/strategic-merge-patch+json");
    let forms =
        ["application/apply-patch+yaml", "application/json-patch+json", "application/merge-patch+json"];
    let content: Map<String, Value> = forms
        .into_iter()
        .chain(strategic)
        .map(|form| (form.to_owned(), json!({ "schema": { "type": "object" } })))
        .collect();
    json!({ "content": content })
}

fn parameter((name, kind, description): Said) -> Value {
    json!({
        "name": name, "in": "query", "description": description,
        "schema": { "type": kind, "uniqueItems": true }
    })
}
