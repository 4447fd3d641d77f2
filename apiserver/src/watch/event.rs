//! One line of a watch.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::Order;
use crate::http::Form;
use crate::registry::{meta, view};
use crate::status::Refusal;
use crate::store::{Entry, What};
use crate::table;

/// What an entry of the history is to somebody who sees only the selected objects.
pub(super) fn of_entry(order: &Order, entry: &Entry) -> Option<(&'static str, Value)> {
    let selected = |object: &Value| order.selector.matches(object);
    let now = entry.what != What::Removed && selected(&entry.object);
    let before = entry.previous.as_deref().is_some_and(selected);
    match (before, now) {
        (false, false) => None,
        (false, true) => Some(("ADDED", Value::clone(&entry.object))),
        (true, true) => Some(("MODIFIED", Value::clone(&entry.object))),
        (true, false) => {
            // The object as it was when it was last selected, at the time of the change.
            let mut last = Value::clone(entry.previous.as_deref().unwrap_or(&entry.object));
            meta::set(&mut last, "resourceVersion", entry.revision.to_string());
            Some(("DELETED", last))
        }
    }
}

/// Whether the key of an entry is in the watched namespace.
pub(super) fn in_namespace(order: &Order, key: &str) -> bool {
    order.namespace.is_empty()
        || key.split_once('/').is_some_and(|(namespace, _)| namespace == order.namespace)
}

/// A line about an object in its stored form. Of tables, only the first has `headings`.
pub(super) fn line(order: &Order, kind: &str, object: &Value, headings: bool, now: Timestamp) -> String {
    told(order, kind, view::shown(&order.kind, object).into_owned(), headings, now)
}

/// A line about an object in the form of its kind.
fn told(order: &Order, kind: &str, object: Value, headings: bool, now: Timestamp) -> String {
    let shown = match order.form.form {
        Form::Table(include) => {
            let metadata = json!({ "resourceVersion": meta::text(&object, "resourceVersion") });
            table::table(&order.kind, &[object], &metadata, include, headings, now)
        }
        Form::Metadata | Form::MetadataList => table::partial(&object),
        Form::Objects | Form::Discovery => object,
    };
    raw(kind, &shown)
}

fn raw(kind: &str, object: &Value) -> String {
    let mut line = json!({ "type": kind, "object": object }).to_string();
    line.push('\n');
    line
}

/// A line that says how far the watch has come; `complete` marks the end of what was there at the beginning.
pub(super) fn bookmark(
    order: &Order,
    revision: u64,
    complete: bool,
    headings: bool,
    now: Timestamp,
) -> String {
    let kind = &*order.kind;
    let mut metadata = json!({ "resourceVersion": revision.to_string() });
    if let (true, Some(metadata)) = (complete, metadata.as_object_mut()) {
        metadata.insert("annotations".to_owned(), json!({ "k8s.io/initial-events-end": "true" }));
    }
    let object = json!({ "kind": kind.kind, "apiVersion": kind.api_version(), "metadata": metadata });
    let read =
        if kind.builtin { kind.read(object.clone()).map_or(object, |read| read.object) } else { object };
    told(order, "BOOKMARK", read, headings, now)
}

/// A line that says why the watch ends.
pub(super) fn error(refusal: &Refusal) -> String {
    raw("ERROR", &refusal.status())
}
