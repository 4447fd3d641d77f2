//! Tables of kinds that a definition describes: it names the columns and where their values are.

use super::{Heading, age, name_column, text};
use crate::schema::Kind;
use jiff::Timestamp;
use serde_json::Value;

pub(super) fn columns(kind: &Kind) -> Vec<Heading> {
    let defined = kind.columns.iter().map(|column| Heading {
        name: column.name.clone(),
        kind: column.kind.clone(),
        format: "",
        description: match column.description.as_str() {
            "" => format!("Custom resource definition column (in JSONPath format): {}", column.json_path),
            said => said.to_owned(),
        },
        priority: column.priority,
    });
    std::iter::once(name_column(0)).chain(defined).collect()
}

pub(super) fn cells(kind: &Kind, object: &Value, now: Timestamp) -> Vec<Value> {
    let name = Value::from(text(object, "/metadata/name"));
    let defined = kind.columns.iter().map(|column| cell(&column.kind, find(object, &column.json_path), now));
    std::iter::once(name).chain(defined).collect()
}

/// Follows a path of field names, which is all that our definitions use.
fn find<'a>(object: &'a Value, path: &str) -> Option<&'a Value> {
    path.trim_start_matches('.').split('.').try_fold(object, |at, name| at.get(name))
}

fn cell(kind: &str, value: Option<&Value>, now: Timestamp) -> Value {
    match (kind, value) {
        ("date", Some(Value::String(time))) => Value::from(age::since(time, now)),
        ("string", Some(Value::String(text))) => Value::from(text.as_str()),
        ("string", Some(other)) if !other.is_null() => Value::from(other.to_string()),
        ("boolean", Some(value @ Value::Bool(_)))
        | ("integer" | "number", Some(value @ Value::Number(_))) => value.clone(),
        _ => Value::Null,
    }
}
