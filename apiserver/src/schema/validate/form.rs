//! Types and limits: the first pass.

use super::correlate::{self, Pair};
use super::{Cause, CauseReason, Node, limits, print};
use crate::schema::node::Type;
use serde_json::Value;

/// A value's place: the field that a cause names, and the name in messages, which begins at the part that is checked.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    base: &'a str,
    /// From the checked part on.
    pub(super) name: &'a str,
}

impl Place<'_> {
    /// The field for a cause.
    pub(super) fn field(self) -> String {
        match (self.base, self.name.trim_start_matches('.')) {
            (base, "") => base.to_owned(),
            (base, name) => print::child(base, name),
        }
    }

    /// A fault of this value, whose text names the place again.
    pub(super) fn invalid(self, value: &Value, must: &str) -> Cause {
        Cause::invalid(self.field(), value, &format!("{} in body {must}", self.name))
    }
}

/// Adds the faults of a value that can be compared with `old`; there are none to tell if the two are the same.
pub(super) fn check(
    node: &Node,
    base: &str,
    name: &str,
    new: &Value,
    old: Option<&Value>,
    causes: &mut Vec<Cause>,
) {
    let known = causes.len();
    inspect(node, Place { base, name }, new, old, causes);
    if causes.len() > known && old.is_some_and(|old| Pair { node, new, old }.is_unchanged()) {
        causes.truncate(known);
    }
}

fn inspect(node: &Node, at: Place<'_>, new: &Value, old: Option<&Value>, causes: &mut Vec<Cause>) {
    if let Some(cause) = wrong_type(node, at, new) {
        causes.push(cause);
    }
    limits::check(node, at, new, causes);
    match new {
        Value::Array(items) => {
            let Some(inner) = node.items.as_deref() else { return };
            for (index, item) in items.iter().enumerate() {
                let old = correlate::item(node, item, old);
                check(inner, at.base, &print::index(at.name, index), item, old, causes);
            }
        }
        Value::Object(fields) => {
            for (key, value) in fields {
                let Some(inner) = node.field(key) else { continue };
                let old = old.and_then(|old| old.get(key));
                check(inner, at.base, &print::child(at.name, key), value, old, causes);
            }
            for missing in node.limits.required.iter().filter(|key| !fields.contains_key(key.as_str())) {
                let name = format!("{}.{missing}", at.name);
                causes.push(Cause::required(Place { base: at.base, name: &name }.field(), ""));
            }
        }
        _ => {}
    }
}

/// A value of another type than the schema's. A list passes for a text that has a format: the API server's check has
/// that gap, too.
fn wrong_type(node: &Node, at: Place<'_>, value: &Value) -> Option<Cause> {
    let wanted = node.kind?;
    let (found, found_format) = type_of(value);
    let fits = match (wanted, value) {
        (_, Value::Null) => node.nullable,
        (Type::Integer, Value::Number(number)) => {
            number.as_f64().is_some_and(|float| float.fract() == 0.0) || number.is_i64() || number.is_u64()
        }
        (Type::Number, Value::Number(_)) => true,
        (_, Value::String(_) | Value::Array(_)) if has_text_format(node, wanted) => true,
        _ => wanted.as_str() == found,
    };
    if fits {
        return None;
    }
    let scalar_with_format = !matches!(value, Value::Null | Value::String(_) | Value::Array(_));
    let (must, found) = match &node.limits.format {
        Some(format) if scalar_with_format => (format.as_str(), found_format),
        _ => (wanted.as_str(), found),
    };
    let detail = format!("{} in body must be of type {must}: {}", at.name, print::quoted(found));
    Some(Cause::with_value(CauseReason::TypeInvalid, at.field(), &Value::from(found), &detail))
}

fn has_text_format(node: &Node, wanted: Type) -> bool {
    node.limits.format.is_some() && !matches!(wanted, Type::Integer | Type::Number)
}

/// The type of a value, and the format that goes with it.
fn type_of(value: &Value) -> (&'static str, &'static str) {
    match value {
        Value::Null => ("null", ""),
        Value::Bool(_) => ("boolean", ""),
        Value::String(_) => ("string", ""),
        Value::Array(_) => ("array", ""),
        Value::Object(_) => ("object", ""),
        Value::Number(number) if number.is_f64() => ("number", "float64"),
        Value::Number(_) => ("integer", "int64"),
    }
}
