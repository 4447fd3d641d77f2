//! Namespaces.

use serde_json::{Value, json};

use super::super::{meta, metadata, names};
use super::Part;
use crate::schema::{Cause, Kind};

/// The finalizer in the spec that the namespace controller takes off.
const KUBERNETES: &str = "kubernetes";

/// The finalizers in the spec.
pub(crate) fn finalizers(object: &Value) -> Vec<&str> {
    meta::texts(object.get("spec").and_then(|spec| spec.get("finalizers")))
}

pub(super) fn prepare_create(object: &mut Value) {
    let mut all: Vec<String> = finalizers(object).into_iter().map(str::to_owned).collect();
    if !all.iter().any(|finalizer| finalizer == KUBERNETES) {
        all.push(KUBERNETES.to_owned());
    }
    set(object, "spec", json!({ "finalizers": all }));
    set(object, "status", json!({ "phase": "Active" }));
}

fn set(object: &mut Value, field: &str, value: Value) {
    if let Some(object) = object.as_object_mut() {
        object.insert(field.to_owned(), value);
    }
}

fn copy(new: &mut Value, old: &Value, field: &str) {
    set(new, field, old.get(field).cloned().unwrap_or_else(|| json!({})));
}

/// The label is there as soon as the name is known, and the phase always.
pub(super) fn complete(object: &mut Value) {
    if let Some(fields) = object.as_object_mut() {
        let status = fields.entry("status").or_insert_with(|| json!({}));
        if let Some(status) =
            status.as_object_mut().filter(|status| status.get("phase").is_none_or(|phase| phase == ""))
        {
            status.insert("phase".to_owned(), json!("Active"));
        }
    }
    if !meta::text(object, "name").is_empty() {
        label(object);
    }
}

/// The label that every Namespace has.
pub(super) fn label(object: &mut Value) {
    let name = meta::text(object, "name").to_owned();
    let mut labels = meta::field(object, "labels").cloned().unwrap_or_else(|| json!({}));
    if let Some(labels) = labels.as_object_mut() {
        labels.insert("kubernetes.io/metadata.name".to_owned(), Value::from(name));
    }
    meta::set(object, "labels", labels);
}

pub(super) fn prepare_update(part: Part, new: &mut Value, old: &Value) {
    match part {
        Part::Main => {
            copy(new, old, "spec");
            copy(new, old, "status");
        }
        Part::Status => copy(new, old, "spec"),
        Part::Finalize => copy(new, old, "status"),
    }
}

pub(super) fn check_finalizers(object: &Value, indexed: bool) -> Vec<Cause> {
    let mut causes = Vec::new();
    for (index, name) in finalizers(object).into_iter().enumerate() {
        let field = if indexed { format!("spec.finalizers[{index}]") } else { "spec.finalizers".to_owned() };
        let value = Value::from(name);
        causes.extend(names::qualified(name).iter().map(|text| Cause::invalid(field.clone(), &value, text)));
        causes.extend(metadata::plain_finalizer(&field, name));
    }
    causes
}

pub(super) fn check_update(kind: &Kind, part: Part, new: &Value, common: Vec<Cause>) -> Vec<Cause> {
    match part {
        Part::Main => {
            let again = metadata::of_new_builtin(kind, new);
            [again, check_finalizers(new, false), common].concat()
        }
        Part::Status => [common, phase(new).into_iter().collect()].concat(),
        Part::Finalize => [common, check_finalizers(new, true)].concat(),
    }
}

fn phase(new: &Value) -> Option<Cause> {
    let phase =
        new.get("status").and_then(|status| status.get("phase")).cloned().unwrap_or_else(|| json!(""));
    let (wanted, detail) = if meta::is_deleting(new) {
        ("Terminating", "may only be 'Terminating' if `deletionTimestamp` is not empty")
    } else {
        ("Active", "may only be 'Active' if `deletionTimestamp` is empty")
    };
    (phase != wanted).then(|| Cause::invalid("status.Phase", &phase, detail))
}
