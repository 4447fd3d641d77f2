//! Lists whose items must differ: the second pass.

use super::{Cause, Node, print};
use crate::schema::node::ListType;
use serde_json::{Map, Value};

/// Adds the items that repeat an earlier one, each value once.
pub(super) fn check(node: &Node, path: &str, value: &Value, causes: &mut Vec<Cause>) {
    match value {
        Value::Array(items) => {
            match &node.list {
                ListType::Atomic => {}
                ListType::Set => repeated(path, items, causes),
                ListType::Map(keys) => check_keys(path, keys, items, causes),
            }
            let Some(inner) = node.items.as_deref() else { return };
            for (index, item) in items.iter().enumerate() {
                check(inner, &print::index(path, index), item, causes);
            }
        }
        Value::Object(fields) => {
            for (name, field) in fields {
                match (node.properties.get(name), node.values.as_deref()) {
                    (Some(inner), _) => check(inner, &print::child(path, name), field, causes),
                    (None, Some(inner)) => check(inner, &print::key(path, name), field, causes),
                    (None, None) => {}
                }
            }
        }
        _ => {}
    }
}

/// Whether no item repeats another.
pub(super) fn are_sound(node: &Node, value: &Value) -> bool {
    let mut causes = Vec::new();
    check(node, "", value, &mut causes);
    causes.is_empty()
}

fn check_keys(path: &str, keys: &[String], items: &[Value], causes: &mut Vec<Cause>) {
    if let Some((index, item)) = items.iter().enumerate().find(|(_, item)| !is_structure(item)) {
        let detail = "must be an object for an array of list-type map";
        causes.push(Cause::invalid(print::index(path, index), item, detail));
        return;
    }
    let key_of = |item: &Value| {
        let named = keys.iter().filter_map(|key| Some((key.clone(), item.get(key)?.clone())));
        Value::Object(named.collect::<Map<_, _>>())
    };
    repeated(path, &items.iter().map(key_of).collect::<Vec<_>>(), causes);
}

fn is_structure(item: &Value) -> bool {
    item.is_object() || item.is_null()
}

fn repeated(path: &str, values: &[Value], causes: &mut Vec<Cause>) {
    for (index, value) in values.iter().enumerate() {
        let earlier = values.iter().take(index).filter(|other| *other == value).count();
        if earlier == 1 {
            causes.push(Cause::duplicate(print::index(path, index), value));
        }
    }
}
