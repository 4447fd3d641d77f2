//! Whether an applied object fits the schema well enough to be merged.

use super::element::Element;
use super::schema::Schema;
use super::set::shown;
use crate::schema::node::{ListType, Type};
use crate::schema::{Kind, print};
use serde_json::Value;

/// What keeps an applied object from being merged, one text for each fault.
pub(super) fn faults_of(kind: &Kind, applied: &Value) -> Vec<String> {
    let mut found = Vec::new();
    faults(Schema::Root(kind), applied, &mut Vec::new(), &mut found);
    found
}

/// Whether the fields of an object can have owners. Repeated items, which an applied object can't have, do no harm.
pub(super) fn can_be_owned(kind: &Kind, object: &Value) -> bool {
    faults_of(kind, object).iter().all(|fault| fault.contains(REPEATED))
}

/// How the fault of a repeated item is told.
const REPEATED: &str = ": duplicate entries for key ";

fn faults(schema: Schema<'_>, value: &Value, path: &mut Vec<Element>, found: &mut Vec<String>) {
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
            if !fits && !schema.is_any_scalar() {
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
        let Some(step) = Element::of_item(schema, item).filter(|_| !item.is_null()) else {
            found.push(format!("{}: element {index}: {}", shown(path), unusable(schema.list(), item)));
            continue;
        };
        if seen.contains(&step) {
            found.push(format!("{}{REPEATED}{step}", shown(path)));
            continue;
        }
        path.push(step.clone());
        faults(schema.items(), item, path, found);
        path.pop();
        seen.push(step);
    }
}

/// Why an item can't be told apart from others.
fn unusable(list: &ListType, item: &Value) -> String {
    let ListType::Map(keys) = list else {
        return match item {
            Value::Object(_) => "associative list without keys has an element that's a map type".to_owned(),
            Value::Array(_) => "not supported: associative list with lists as elements".to_owned(),
            _ => "associative list without keys has an element that's an explicit null".to_owned(),
        };
    };
    match item {
        Value::Null => "associative list with keys may not have a null element".to_owned(),
        Value::Object(_) => {
            let keys = keys.iter().map(|key| print::quoted(key)).collect::<Vec<_>>().join(" ");
            format!(
                "associative list with keys has an element that omits all key fields [{keys}] (and doesn't have default values for any key fields)"
            )
        }
        _ => "associative list with keys may not have non-map elements".to_owned(),
    }
}

fn mistyped(schema: Schema<'_>, path: &[Element], value: &Value) -> String {
    let (wanted, got) = match schema.kind() {
        Some(Type::Object) => ("map", format!("&{{{}}}", print::shown(value))),
        Some(Type::Array) => ("list", format!("&{{{}}}", print::shown(value))),
        _ if schema.is_any_scalar() => ("any scalar", format!("&{{{}}}", print::shown(value))),
        Some(Type::String) => {
            ("string", format!("&value.valueUnstructured{{Value:{}}}", print::source(value)))
        }
        Some(Type::Boolean) => ("boolean", format!("&{{{}}}", print::shown(value))),
        _ => ("numeric (int or float)", go_type(value).to_owned()),
    };
    format!("{}: expected {wanted}, got {got}", shown(path))
}

/// The type of a value as Go has it.
fn go_type(value: &Value) -> &'static str {
    match value {
        Value::String(_) => "string",
        Value::Bool(_) => "bool",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
        Value::Null | Value::Number(_) => "<nil>",
    }
}
