//! Whether an applied object fits the schema well enough to be merged.

use super::element::Element;
use super::schema::Schema;
use super::set::shown;
use crate::schema::node::{ListType, Type};
use serde_json::Value;

/// What keeps an object from being merged, one text for each fault.
pub(super) fn faults(schema: Schema<'_>, value: &Value, path: &mut Vec<Element>, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            if schema.kind().is_some_and(|kind| kind != Type::Object) {
                return found.push(mistyped(schema, path, value));
            }
            for (name, field) in fields {
                path.push(Element::Field(name.clone()));
                if schema.is_open() || schema.declares(name) {
                    faults(schema.field(name), field, path, found);
                } else {
                    found.push(format!("{}: field not declared in schema", shown(path)));
                }
                path.pop();
            }
        }
        Value::Array(items) => {
            if schema.kind().is_some_and(|kind| kind != Type::Array) {
                return found.push(mistyped(schema, path, value));
            }
            item_faults(schema, items, path, found);
        }
        Value::Null => {}
        scalar => {
            let fits = matches!(
                (schema.kind(), scalar),
                (None, _)
                    | (Some(Type::String), Value::String(_))
                    | (Some(Type::Boolean), Value::Bool(_))
                    | (Some(Type::Integer | Type::Number), Value::Number(_))
            );
            if !fits {
                found.push(mistyped(schema, path, value));
            }
        }
    }
}

fn item_faults(schema: Schema<'_>, items: &[Value], path: &mut Vec<Element>, found: &mut Vec<String>) {
    let mut seen: Vec<Element> = Vec::new();
    for (index, item) in items.iter().enumerate() {
        if *schema.list() == ListType::Atomic {
            faults(schema.items(), item, path, found);
            continue;
        }
        let Some(step) = Element::of_item(schema.list(), item) else {
            let reason = "associative list with keys has an element that omits key field";
            found.push(format!("{}: element {index}: {reason}", shown(path)));
            continue;
        };
        if seen.contains(&step) {
            found.push(format!("{}: duplicate entries for key {step}", shown(path)));
            continue;
        }
        path.push(step.clone());
        faults(schema.items(), item, path, found);
        path.pop();
        seen.push(step);
    }
}

fn mistyped(schema: Schema<'_>, path: &[Element], value: &Value) -> String {
    let wanted = match schema.kind() {
        Some(Type::Object) => "map",
        Some(Type::Array) => "list",
        Some(Type::String) => "string",
        Some(Type::Boolean) => "boolean",
        _ => "numeric (int or float)",
    };
    format!("{}: expected {wanted}, got {value}", shown(path))
}
