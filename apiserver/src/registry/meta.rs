//! An object's metadata, read and written field by field.

use serde_json::{Map, Value};

/// A text of the metadata; empty if it isn't there.
pub(crate) fn text<'a>(object: &'a Value, field: &str) -> &'a str {
    object
        .get("metadata")
        .and_then(|metadata| metadata.get(field))
        .and_then(Value::as_str)
        .unwrap_or_default()
}

/// A field of the metadata.
pub(crate) fn field<'a>(object: &'a Value, field: &str) -> Option<&'a Value> {
    object.get("metadata")?.get(field)
}

/// A number of the metadata; 0 if it isn't there.
pub(crate) fn number(object: &Value, name: &str) -> i64 {
    field(object, name).and_then(Value::as_i64).unwrap_or_default()
}

/// Whether somebody asked for the object's deletion.
pub(crate) fn is_deleting(object: &Value) -> bool {
    field(object, "deletionTimestamp").is_some()
}

/// The finalizers.
pub(crate) fn finalizers(object: &Value) -> Vec<&str> {
    texts(field(object, "finalizers"))
}

/// The texts in a list.
pub(crate) fn texts(list: Option<&Value>) -> Vec<&str> {
    list.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
}

/// The owner references.
pub(crate) fn owners(object: &Value) -> impl Iterator<Item = &Value> {
    field(object, "ownerReferences").and_then(Value::as_array).into_iter().flatten()
}

/// The metadata to be written to; made if it isn't there.
pub(crate) fn all(object: &mut Value) -> Option<&mut Map<String, Value>> {
    let metadata = object.as_object_mut()?.entry("metadata").or_insert_with(|| Value::Object(Map::new()));
    if !metadata.is_object() {
        *metadata = Value::Object(Map::new());
    }
    metadata.as_object_mut()
}

/// Sets a field of the metadata.
pub(crate) fn set(object: &mut Value, field: &str, value: impl Into<Value>) {
    if let Some(metadata) = all(object) {
        metadata.insert(field.to_owned(), value.into());
    }
}

/// Takes a field out of the metadata.
pub(crate) fn remove(object: &mut Value, field: &str) {
    if let Some(metadata) = all(object) {
        metadata.remove(field);
    }
}

/// Makes a field of the metadata what it is in another object.
pub(crate) fn copy(object: &mut Value, from: &Value, name: &str) {
    match field(from, name) {
        Some(value) => set(object, name, value.clone()),
        None => remove(object, name),
    }
}

/// Sets the finalizers; an empty list is left out.
pub(crate) fn set_finalizers(object: &mut Value, finalizers: Vec<String>) {
    if finalizers.is_empty() {
        remove(object, "finalizers");
    } else {
        set(object, "finalizers", finalizers);
    }
}
