//! Taking out what a manager applied before and applies no more.

use super::compare::paths;
use super::element::Element;
use super::managers::Managers;
use super::schema::Schema;
use super::set::Set;
use crate::schema::Kind;
use crate::schema::node::ListType;
use serde_json::Value;

/// The object without the fields of `last`, which the manager applied before, unless somebody (the manager itself, by
/// what it applies now, included) owns them.
pub(super) fn prune(kind: &Kind, merged: Value, last: &Set, managers: &Managers) -> Value {
    if last.is_empty() {
        return merged;
    }
    let root = Schema::Root(kind);
    let named = |set: &Set| set.with_named_fields(root);
    let last = named(last);
    let owned = managers.values().fold(Set::default(), |all, owned| all.union(&owned.set));
    let all = named(&paths(kind, &merged));

    let bare = remove(root, &merged, &last);
    let kept = named(&paths(kind, &bare)).union(&named(&owned));
    let owned_only = remove(root, &merged, &all.difference(&kept));

    let gone = all.difference(&named(&paths(kind, &owned_only))).intersection(&last);
    remove(root, &merged, &gone)
}

/// The value without the paths of the set.
fn remove(schema: Schema<'_>, value: &Value, set: &Set) -> Value {
    if schema.is_atomic() {
        return value.clone();
    }
    match value {
        Value::Object(fields) => fields
            .iter()
            .filter_map(|(name, field)| {
                let step = Element::Field(name.clone());
                Some((name.clone(), without(schema.field(name), field, set, &step)?))
            })
            .collect(),
        Value::Array(items) if *schema.list() != ListType::Atomic => items
            .iter()
            .filter_map(|item| match Element::of_item(schema, item) {
                Some(step) => without(schema.items(), item, set, &step),
                None => Some(item.clone()),
            })
            .collect(),
        other => other.clone(),
    }
}

/// What is left of the value at a step; nothing if it is in the set itself, or all that is in it is.
fn without(schema: Schema<'_>, value: &Value, set: &Set, step: &Element) -> Option<Value> {
    if set.has(step) {
        return None;
    }
    let Some(below) = set.under(step) else { return Some(value.clone()) };
    let rest = remove(schema, value, below);
    let is_empty = match &rest {
        Value::Object(fields) => fields.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => false,
    };
    (!is_empty).then_some(rest)
}
