//! CustomResourceDefinitions. They are there to be read: the kinds that are served are fixed, so that none is made,
//! changed in what it says, or deleted. Labels and annotations may be written, which lets the very files that were built
//! in be applied.

use serde_json::{Value, json};

use super::super::meta;
use crate::schema::Cause;

/// What is said to who wants other kinds.
pub(crate) const FIXED: &str = "this API server serves the kinds that it was built with, and no others";

/// The status stays what it is.
pub(super) fn keep_status(new: &mut Value, old: &Value) {
    if let (Some(new), Some(status)) = (new.as_object_mut(), old.get("status")) {
        new.insert("status".to_owned(), status.clone());
    }
}

pub(super) fn check_update(new: &Value, old: &Value) -> Vec<Cause> {
    let same = new.get("spec") == old.get("spec");
    if same { vec![] } else { vec![Cause::forbidden("spec", FIXED)] }
}

/// A definition as a server shows it that has taken it over.
pub(crate) fn established(written: &Value, uid: String, now: &str) -> Value {
    let mut object = written.clone();
    meta::set(&mut object, "uid", uid);
    meta::set(&mut object, "creationTimestamp", now);
    meta::set(&mut object, "generation", 1);
    let names = written.pointer("/spec/names").cloned().unwrap_or_default();
    let versions = written.pointer("/spec/versions").and_then(Value::as_array).into_iter().flatten();
    let stored: Vec<&Value> = versions.filter_map(|version| version.get("name")).collect();
    let condition = |kind: &str, reason: &str, message: &str| json!({"type": kind, "status": "True", "lastTransitionTime": now, "reason": reason, "message": message});
    let status = json!({
        "acceptedNames": names,
        "storedVersions": stored,
        "conditions": [
            condition("NamesAccepted", "NoConflicts", "no conflicts found"),
            condition("Established", "InitialNamesAccepted", "the initial names have been accepted"),
        ],
    });
    if let Some(object) = object.as_object_mut() {
        object.insert("status".to_owned(), status);
    }
    object
}
