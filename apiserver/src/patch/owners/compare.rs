//! Which paths differ between two objects, and which paths an object has.

use super::element::Element;
use super::schema::Schema;
use super::set::Set;
use crate::schema::Kind;
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// The paths that differ.
#[derive(Default)]
pub(super) struct Comparison {
    pub(super) added: Set,
    pub(super) removed: Set,
    pub(super) modified: Set,
}

impl Comparison {
    /// Without the paths in `ignored` and what is below them.
    pub(super) fn without(self, ignored: &Set) -> Self {
        Self {
            added: self.added.without(ignored),
            removed: self.removed.without(ignored),
            modified: self.modified.without(ignored),
        }
    }
}

/// Compares two objects of a kind.
pub(super) fn compare(kind: &Kind, old: &Value, new: &Value) -> Comparison {
    let mut comparer = Comparer { path: Vec::new(), found: Comparison::default() };
    comparer.compare(Schema::Root(kind), Some(old), Some(new));
    comparer.found
}

/// The paths that an object has: those of all its values that have an owner of their own.
pub(super) fn paths(kind: &Kind, object: &Value) -> Set {
    let mut set = Set::default();
    collect(Schema::Root(kind), object, &mut Vec::new(), &mut set);
    set
}

struct Comparer {
    path: Vec<Element>,
    found: Comparison,
}

impl Comparer {
    fn compare(&mut self, schema: Schema<'_>, old: Option<&Value>, new: Option<&Value>) {
        if is_leaf(schema, old, new) {
            match (old, new) {
                (None, _) => self.found.added.insert(&self.path),
                (_, None) => self.found.removed.insert(&self.path),
                (old, new) if old != new => self.found.modified.insert(&self.path),
                _ => {}
            }
            return;
        }
        self.items(schema, list(old), list(new));
        self.fields(schema, map(old), map(new));
        match (old, new) {
            (None, _) => self.found.added.insert(&self.path),
            (_, None) => self.found.removed.insert(&self.path),
            _ => {}
        }
    }

    fn fields(
        &mut self,
        schema: Schema<'_>,
        old: Option<&Map<String, Value>>,
        new: Option<&Map<String, Value>>,
    ) {
        let names: BTreeSet<&String> = [old, new].into_iter().flatten().flat_map(Map::keys).collect();
        for name in names {
            let (old, new) = (old.and_then(|old| old.get(name)), new.and_then(|new| new.get(name)));
            self.path.push(Element::Field(name.clone()));
            self.compare(schema.field(name), old, new);
            self.path.pop();
        }
    }

    fn items(&mut self, schema: Schema<'_>, old: &[Value], new: &[Value]) {
        let steps = |items: &[Value]| -> Vec<Option<Element>> {
            items.iter().map(|item| Element::of_item(schema, item)).collect()
        };
        let (old_steps, new_steps) = (steps(old), steps(new));
        let all: BTreeSet<&Element> = old_steps.iter().chain(&new_steps).flatten().collect();
        for step in all {
            let find =
                |steps: &[Option<Element>]| steps.iter().position(|other| other.as_ref() == Some(step));
            let old = find(&old_steps).and_then(|index| old.get(index));
            let new = find(&new_steps).and_then(|index| new.get(index));
            self.path.push(step.clone());
            self.compare(schema.items(), old, new);
            self.path.pop();
        }
    }
}

/// Whether a value is one as a whole: a plain one, an atomic one, or one with nothing in it before and after.
fn is_leaf(schema: Schema<'_>, old: Option<&Value>, new: Option<&Value>) -> bool {
    let values = || [old, new].into_iter().flatten();
    let is_list = values().any(Value::is_array);
    let is_map = values().any(Value::is_object);
    if schema.is_atomic() || !(is_list || is_map) {
        return true;
    }
    if is_list && matches!(schema.list(), crate::schema::node::ListType::Atomic) {
        return true;
    }
    values().all(|value| match value {
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        other => other.is_null(),
    })
}

fn list(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn map(value: Option<&Value>) -> Option<&Map<String, Value>> {
    value.and_then(Value::as_object)
}

fn collect(schema: Schema<'_>, value: &Value, path: &mut Vec<Element>, set: &mut Set) {
    match value {
        _ if schema.is_atomic() => set.insert(path),
        Value::Object(fields) => {
            for (name, field) in fields {
                path.push(Element::Field(name.clone()));
                collect(schema.field(name), field, path, set);
                let is_empty = field.is_null() || field.as_object().is_some_and(Map::is_empty);
                if is_empty || !schema.declares(name) {
                    set.insert(path);
                }
                path.pop();
            }
        }
        Value::Array(items) => {
            if matches!(schema.list(), crate::schema::node::ListType::Atomic) {
                set.insert(path);
                return;
            }
            for item in items {
                let Some(step) = Element::of_item(schema, item) else { continue };
                path.push(step);
                collect(schema.items(), item, path, set);
                set.insert(path);
                path.pop();
            }
        }
        _ => set.insert(path),
    }
}
