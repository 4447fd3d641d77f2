//! The schemas of kinds.

use super::kind_reference;
use crate::schema::Kind;
use crate::schema::node::{ListType, Node};
use serde_json::{Map, Value, json};

/// The name of the schema of metadata.
const META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
/// The name of the schema of a list's metadata.
const LIST_META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta";

/// The name of a kind's schema.
pub(super) fn name(kind: &Kind) -> String {
    if kind.builtin {
        let group = match kind.group.split('.').next() {
            Some(group) if !group.is_empty() => group,
            _ => "core",
        };
        return format!("io.k8s.api.{group}.{}.{}", kind.version, kind.kind);
    }
    let reversed: Vec<&str> = kind.group.rsplit('.').collect();
    format!("{}.{}.{}", reversed.join("."), kind.version, kind.kind)
}

/// The name of the schema of a kind's lists.
pub(super) fn list_name(kind: &Kind) -> String {
    format!("{}List", name(kind))
}

/// A reference to a schema.
pub(super) fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

/// The schemas that all kinds refer to.
pub(super) fn shared() -> Map<String, Value> {
    let mut schemas = Map::new();
    let mut meta = described(Kind::metadata());
    add(
        &mut meta,
        "description",
        json!("What every object has: its name, its labels, and what the server keeps of it."),
    );
    schemas.insert(META.to_owned(), meta);
    let list = json!({
        "description": "What a list has: its revision, and where it goes on.",
        "type": "object",
        "properties": {
            "continue": { "type": "string" },
            "remainingItemCount": { "type": "integer", "format": "int64" },
            "resourceVersion": { "type": "string" }
        }
    });
    schemas.insert(LIST_META.to_owned(), list);
    schemas
}

/// The schemas of a kind and of its lists.
pub(super) fn of(kind: &Kind) -> Map<String, Value> {
    let mut schema = if kind.builtin { described(&kind.root) } else { kind.written.clone() };
    add(&mut schema, "x-kubernetes-group-version-kind", json!([kind_reference(kind)]));
    if let Some(properties) = schema.get_mut("properties") {
        add(
            properties,
            "apiVersion",
            json!({ "description": "Group and version of the kind.", "type": "string" }),
        );
        add(properties, "kind", json!({ "description": "The name of the kind.", "type": "string" }));
        let metadata = json!({ "description": "The object's metadata.", "allOf": [reference(META)] });
        add(properties, "metadata", metadata);
    }
    let list = json!({
        "description": format!("A list of objects of kind {}.", kind.kind),
        "type": "object",
        "required": ["items"],
        "properties": {
            "apiVersion": { "type": "string" },
            "kind": { "type": "string" },
            "metadata": { "allOf": [reference(LIST_META)] },
            "items": { "type": "array", "items": { "allOf": [reference(&name(kind))] } }
        },
        "x-kubernetes-group-version-kind":
            [{ "group": kind.group, "kind": kind.list_kind, "version": kind.version }]
    });
    Map::from_iter([(name(kind), schema), (list_name(kind), list)])
}

fn add(object: &mut Value, name: &str, value: Value) {
    if let Some(fields) = object.as_object_mut() {
        fields.insert(name.to_owned(), value);
    }
}

/// A schema of ours as OpenAPI writes it.
fn described(node: &Node) -> Value {
    let mut schema = Map::new();
    let mut say = |name: &str, value: Value| drop(schema.insert(name.to_owned(), value));
    if let Some(kind) = node.kind {
        say("type", json!(kind.as_str()));
    }
    if let Some(format) = &node.limits.format {
        say("format", json!(format));
    }
    // Of a value that may be anything it is not said.
    if node.atomic && !node.properties.is_empty() {
        say("x-kubernetes-map-type", json!("atomic"));
    }
    if !node.properties.is_empty() {
        let properties: Map<String, Value> =
            node.properties.iter().map(|(name, node)| (name.clone(), described(node))).collect();
        say("properties", Value::Object(properties));
    }
    if let Some(values) = &node.values {
        say("additionalProperties", described(values));
    }
    if let Some(items) = &node.items {
        say("items", described(items));
        match &node.list {
            ListType::Atomic => say("x-kubernetes-list-type", json!("atomic")),
            ListType::Set => {
                say("x-kubernetes-list-type", json!("set"));
                say("x-kubernetes-patch-strategy", json!("merge"));
            }
            ListType::Map(keys) => {
                say("x-kubernetes-list-type", json!("map"));
                say("x-kubernetes-list-map-keys", json!(keys));
                say("x-kubernetes-patch-strategy", json!("merge"));
                say("x-kubernetes-patch-merge-key", json!(keys.first()));
            }
        }
    }
    Value::Object(schema)
}
