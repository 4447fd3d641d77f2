//! What the schema doesn't know, and what it gives of its own: unknown fields, nulls and defaults.

use super::node::Node;
use super::print;
use serde_json::Value;

/// The fields that every object has and that no schema lists.
pub(super) const META_FIELDS: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// Takes out the fields of an object that the schema doesn't know, and adds their paths to `unknown`.
pub(super) fn unknown_fields(root: &Node, object: &mut Value, unknown: &mut Vec<String>) {
    if let Value::Object(fields) = object {
        fields.retain(|name, field| {
            META_FIELDS.contains(&name.as_str()) || keep(root, "", name, field, unknown)
        });
    }
    unknown.sort();
}

fn prune(node: &Node, path: &str, value: &mut Value, unknown: &mut Vec<String>) {
    match value {
        Value::Object(fields) => fields.retain(|name, field| keep(node, path, name, field, unknown)),
        Value::Array(items) => {
            let nothing = Node::default();
            let inner = node.items.as_deref().unwrap_or(&nothing);
            for (index, item) in items.iter_mut().enumerate() {
                prune(inner, &print::index(path, index), item, unknown);
            }
        }
        _ => {}
    }
}

fn keep(node: &Node, path: &str, name: &str, field: &mut Value, unknown: &mut Vec<String>) -> bool {
    let path = print::child(path, name);
    match node.field(name) {
        Some(inner) => prune(inner, &path, field, unknown),
        None if node.preserves_unknown => {}
        None => {
            unknown.push(path);
            return false;
        }
    }
    true
}

/// Takes out nulls where a value can't be null and has no default. Those in lists stay, and are refused later.
pub(super) fn nulls(node: &Node, value: &mut Value) {
    match value {
        Value::Object(fields) => fields.retain(|name, field| {
            let Some(inner) = node.field(name) else { return true };
            if field.is_null() && !inner.nullable && inner.default.is_none() {
                return false;
            }
            nulls(inner, field);
            true
        }),
        Value::Array(items) => {
            if let Some(inner) = node.items.as_deref() {
                for item in items {
                    nulls(inner, item);
                }
            }
        }
        _ => {}
    }
}

/// Fills in defaults where there is nothing, or a null that can't be.
pub(super) fn defaults(node: &Node, value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (name, inner) in &node.properties {
                if let Some(default) = &inner.default
                    && fields.get(name).is_none_or(|field| field.is_null() && !inner.nullable)
                {
                    fields.insert(name.clone(), default.clone());
                }
            }
            for (name, field) in fields {
                if let Some(inner) = node.field(name) {
                    default_in_place(inner, field);
                }
            }
        }
        Value::Array(items) => {
            if let Some(inner) = node.items.as_deref() {
                for item in items {
                    default_in_place(inner, item);
                }
            }
        }
        _ => {}
    }
}

fn default_in_place(node: &Node, value: &mut Value) {
    if let Some(default) = node.default.as_ref().filter(|_| value.is_null() && !node.nullable) {
        *value = default.clone();
    }
    defaults(node, value);
}
