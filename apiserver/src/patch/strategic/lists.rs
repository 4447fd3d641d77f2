//! Lists in strategic merge patches.

use super::{DIRECTIVE, Lookup, PatchError, SET_ORDER, merge_fields, plain};
use crate::schema::node::{ListType, Node};
use crate::schema::print;
use serde_json::{Map, Value};

/// The list after the changes: merged by value or by key where the schema says so, replaced otherwise.
pub(super) fn merge(
    node: Option<&Node>,
    items: Vec<Value>,
    changes: &[Value],
) -> Result<Vec<Value>, PatchError> {
    match node.map(|node| (&node.list, node)) {
        Some((ListType::Set, _)) => {
            let mut merged = items.clone();
            let new = changes.iter().filter(|change| !items.contains(change));
            merged.extend(new.cloned());
            Ok(arranged(merged, changes, &items, |one, other| one == other))
        }
        Some((ListType::Map(keys), node)) => match keys.as_slice() {
            [key] => merge_by_key(key, node.items.as_deref(), items, changes),
            _ => Ok(replaced(changes)),
        },
        _ => Ok(replaced(changes)),
    }
}

fn replaced(changes: &[Value]) -> Vec<Value> {
    changes.iter().filter_map(|change| plain(change, false)).collect()
}

fn merge_by_key(
    key: &str,
    node: Option<&Node>,
    items: Vec<Value>,
    changes: &[Value],
) -> Result<Vec<Value>, PatchError> {
    let before = items.clone();
    let (mut merged, changes) = follow_directives(key, items, changes)?;
    for change in &changes {
        let wanted = change.get(key).ok_or_else(|| no_key(change, key))?;
        let found = merged.iter_mut().find(|item| item.get(key) == Some(wanted));
        match (found, change) {
            (Some(Value::Object(fields)), Value::Object(changes)) => {
                let inner = |name: &str| node.and_then(|node| node.field(name));
                *fields = merge_fields(&inner, std::mem::take(fields), changes)?;
            }
            _ => merged.push(change.clone()),
        }
    }
    Ok(arranged(merged, &changes, &before, |one, other| one.get(key) == other.get(key)))
}

/// Takes out the items that changes say to delete, or all if one of them says to replace. What is left of the changes
/// comes back, too.
fn follow_directives(
    key: &str,
    mut items: Vec<Value>,
    changes: &[Value],
) -> Result<(Vec<Value>, Vec<Value>), PatchError> {
    let mut rest = Vec::new();
    let mut replace = false;
    for change in changes {
        let Value::Object(fields) = change else {
            return Err(PatchError::Mistyped(
                "expected a map[string]interface {}, but received another type".to_owned(),
            ));
        };
        match fields.get(DIRECTIVE).map(|directive| directive.as_str().unwrap_or_default()) {
            None => rest.push(change.clone()),
            Some("delete") => {
                let gone = fields.get(key).ok_or_else(|| no_key(change, key))?;
                items.retain(|item| item.get(key) != Some(gone));
            }
            Some("replace") => replace = true,
            Some("merge") => {
                let text = "merging lists cannot yet be specified in the patch";
                return Err(PatchError::Mistyped(text.to_owned()));
            }
            Some(other) => {
                let text = format!("unknown patch type: {other} in map: {}", print::shown(change));
                return Err(PatchError::Mistyped(text));
            }
        }
    }
    if replace { Ok((rest, Vec::new())) } else { Ok((items, rest)) }
}

fn no_key(item: &Value, key: &str) -> PatchError {
    PatchError::Mistyped(format!("map: {} does not contain declared merge key: {key}", print::shown(item)))
}

/// The items in the order of the patch, with those that only the server has put in by their order on the server.
fn arranged(
    merged: Vec<Value>,
    patch: &[Value],
    server: &[Value],
    same: impl Fn(&Value, &Value) -> bool,
) -> Vec<Value> {
    let place = |list: &[Value], item: &Value| list.iter().position(|other| same(other, item));
    let (mut named, rest): (Vec<Value>, Vec<Value>) =
        merged.into_iter().partition(|item| place(patch, item).is_some());
    named.sort_by_key(|item| place(patch, item));
    let mut arranged = Vec::with_capacity(named.len() + rest.len());
    let (mut named, mut rest) = (named.into_iter().peekable(), rest.into_iter().peekable());
    loop {
        let first = match (named.peek(), rest.peek()) {
            // What the server does not have yet comes as early as it can.
            (Some(left), Some(right)) => {
                !matches!((place(server, right), place(server, left)), (Some(right), Some(left)) if right < left)
            }
            (left, _) => left.is_some(),
        };
        match if first { named.next() } else { rest.next() } {
            Some(item) => arranged.push(item),
            None => return arranged,
        }
    }
}

/// Puts lists into the order that the patch gives.
pub(super) fn set_order(
    schema: &Lookup<'_>,
    fields: &mut Map<String, Value>,
    changes: &Map<String, Value>,
) -> Result<(), PatchError> {
    for (name, order) in changes {
        let Some(name) = name.strip_prefix(SET_ORDER) else { continue };
        let order = order.as_array().ok_or_else(|| {
            PatchError::Mistyped("expected a []interface {}, but received another type".to_owned())
        })?;
        let Some(Value::Array(items)) = fields.get_mut(name) else { continue };
        let before = std::mem::take(items);
        *items = match schema(name).map(|node| &node.list) {
            Some(ListType::Map(keys)) => arranged(before.clone(), order, &before, |one, other| {
                keys.iter().all(|key| one.get(key) == other.get(key))
            }),
            _ => arranged(before.clone(), order, &before, |one, other| one == other),
        };
    }
    Ok(())
}
