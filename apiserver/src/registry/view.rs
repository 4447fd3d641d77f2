//! The two forms of an Event. It is stored in the form of the core group.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::Strategy;
use crate::schema::Kind;

/// The fields that the groups name differently: in the core group, and in `events.k8s.io`.
const NAMES: [(&str, &str); 7] = [
    ("involvedObject", "regarding"),
    ("message", "note"),
    ("source", "deprecatedSource"),
    ("firstTimestamp", "deprecatedFirstTimestamp"),
    ("lastTimestamp", "deprecatedLastTimestamp"),
    ("count", "deprecatedCount"),
    ("reportingComponent", "reportingController"),
];

/// Whether objects of this kind are stored in another form.
pub(crate) fn is_needed(kind: &Kind) -> bool {
    Strategy::of(kind) == Strategy::Event && !kind.group.is_empty()
}

/// A stored object as this kind shows it: as it is, but for Events of the group that names fields differently.
pub(crate) fn shown<'a>(kind: &Kind, stored: &'a Value) -> Cow<'a, Value> {
    if is_needed(kind) { Cow::Owned(renamed(kind, stored)) } else { Cow::Borrowed(stored) }
}

fn renamed(kind: &Kind, stored: &Value) -> Value {
    let mut object = rename(stored, |name| find(name, |(core, new)| (core, new)));
    if let Some(object) = object.as_object_mut() {
        object.insert("apiVersion".to_owned(), Value::from(kind.api_version()));
    }
    kind.read(object).map_or_else(|_| stored.clone(), |read| read.object)
}

/// An object of this kind as it is stored. `core` is the kind whose form that is.
pub(crate) fn stored(core: &Kind, shown: &Value) -> Value {
    let mut object = rename(shown, |name| find(name, |(core, new)| (new, core)));
    if let Some(object) = object.as_object_mut() {
        object.insert("apiVersion".to_owned(), Value::from(core.api_version()));
    }
    core.read(object.clone()).map(|read| read.object).unwrap_or(object)
}

fn find(
    name: &str,
    direction: fn((&'static str, &'static str)) -> (&'static str, &'static str),
) -> Option<&'static str> {
    NAMES.into_iter().map(direction).find(|(from, _)| *from == name).map(|(_, to)| to)
}

fn rename(object: &Value, name: impl Fn(&str) -> Option<&'static str>) -> Value {
    let fields = object.as_object().into_iter().flatten();
    let renamed = fields.map(|(field, value)| (name(field).unwrap_or(field).to_owned(), value.clone()));
    Value::Object(renamed.collect::<Map<_, _>>())
}
