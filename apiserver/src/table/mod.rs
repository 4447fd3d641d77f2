//! Objects as tables, which is how kubectl asks for what it prints.

mod age;
mod builtin;
mod defined;

use crate::schema::Kind;
use jiff::Timestamp;
use serde_json::{Map, Value, json};

/// How much of each object comes along with its row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Include {
    /// The metadata.
    #[default]
    Metadata,
    /// Nothing.
    None,
    /// All of it.
    Object,
}

/// A column's heading.
struct Heading {
    name: String,
    kind: String,
    format: &'static str,
    description: String,
    priority: i32,
}

/// A table of objects of one kind. `metadata` is that of the list, or the resourceVersion of the one object; ages are
/// counted up to `now`. The later events of a watch leave the headings out.
#[must_use]
pub fn table(
    kind: &Kind,
    objects: &[Value],
    metadata: &Value,
    include: Include,
    headings: bool,
    now: Timestamp,
) -> Value {
    let rows: Vec<Value> = objects
        .iter()
        .map(|object| json!({ "cells": cells(kind, object, now), "object": included(object, include) }))
        .collect();
    let mut table = Map::new();
    table.insert("kind".to_owned(), json!("Table"));
    table.insert("apiVersion".to_owned(), json!("meta.k8s.io/v1"));
    table.insert("metadata".to_owned(), metadata.clone());
    let columns = if headings { columns(kind).iter().map(described).collect() } else { Value::Null };
    table.insert("columnDefinitions".to_owned(), columns);
    table.insert("rows".to_owned(), Value::from(rows));
    Value::Object(table)
}

/// An object of which only the metadata is told.
#[must_use]
pub fn partial(object: &Value) -> Value {
    json!({
        "kind": "PartialObjectMetadata",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": object.get("metadata").cloned().unwrap_or_else(|| json!({}))
    })
}

fn included(object: &Value, include: Include) -> Value {
    match include {
        Include::Metadata => partial(object),
        Include::None => Value::Null,
        Include::Object => object.clone(),
    }
}

fn columns(kind: &Kind) -> Vec<Heading> {
    if kind.builtin { builtin::columns(kind) } else { defined::columns(kind) }
}

fn cells(kind: &Kind, object: &Value, now: Timestamp) -> Vec<Value> {
    if kind.builtin { builtin::cells(kind, object, now) } else { defined::cells(kind, object, now) }
}

fn described(column: &Heading) -> Value {
    json!({
        "name": column.name, "type": column.kind, "format": column.format,
        "description": column.description, "priority": column.priority
    })
}

/// The column that every table begins with.
fn name_column(priority: i32) -> Heading {
    Heading {
        name: "Name".to_owned(),
        kind: "string".to_owned(),
        format: "name",
        description: "The object's name, which is unique in its namespace.".to_owned(),
        priority,
    }
}

/// A text in an object; empty if it isn't there.
fn text<'a>(object: &'a Value, pointer: &str) -> &'a str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests;
