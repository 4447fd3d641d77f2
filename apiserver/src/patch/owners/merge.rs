//! An object with what a manager applies laid over it.

use super::element::Element;
use super::schema::Schema;
use crate::schema::node::ListType;
use serde_json::Value;

/// The value with the applied one laid over it: maps and lists with keys item by item, all else replaced.
pub(super) fn merge(schema: Schema<'_>, live: &Value, applied: &Value) -> Value {
    if schema.is_atomic() {
        return applied.clone();
    }
    match (live, applied) {
        (Value::Object(live), Value::Object(applied)) => {
            let mut merged = live.clone();
            for (name, value) in applied {
                let value = match live.get(name) {
                    Some(live) => merge(schema.field(name), live, value),
                    None => value.clone(),
                };
                merged.insert(name.clone(), value);
            }
            Value::Object(merged)
        }
        (Value::Array(live), Value::Array(applied)) if *schema.list() != ListType::Atomic => {
            Value::Array(merge_items(schema, live, applied))
        }
        // Null says nothing of fields and items that have owners of their own.
        (Value::Object(fields), Value::Null) if !fields.is_empty() => live.clone(),
        (Value::Array(items), Value::Null) if !items.is_empty() && *schema.list() != ListType::Atomic => {
            live.clone()
        }
        _ => applied.clone(),
    }
}

/// The items of both lists. Those that only the live list has come as early as they can, without changing the order
/// in which the shared ones are applied.
fn merge_items(schema: Schema<'_>, live: &[Value], applied: &[Value]) -> Vec<Value> {
    let steps = |items: &[Value]| -> Vec<Option<Element>> {
        items.iter().map(|item| Element::of_item(schema, item)).collect()
    };
    let (live_steps, applied_steps) = (steps(live), steps(applied));
    let mut shared = applied_steps.iter().filter(|step| live_steps.contains(step)).peekable();
    let mut left = live.iter().zip(&live_steps).peekable();
    let mut merged = Vec::with_capacity(live.len() + applied.len());
    for (item, step) in applied.iter().zip(&applied_steps) {
        // What only the live list has goes first; a shared one is passed over unless its turn is next.
        while let Some((live_item, live_step)) = left.peek() {
            if !applied_steps.contains(live_step) {
                merged.push((*live_item).clone());
            } else if shared.peek() == Some(live_step) {
                break;
            }
            left.next();
        }
        if shared.peek() == Some(&step) {
            shared.next();
        }
        let place = live_steps.iter().position(|other| other == step);
        merged.push(match place.and_then(|place| live.get(place)) {
            Some(live_item) => merge(schema.items(), live_item, item),
            None => item.clone(),
        });
    }
    merged.extend(left.filter(|(_, step)| !applied_steps.contains(step)).map(|(item, _)| item.clone()));
    merged
}
