//! Kinds that a CustomResourceDefinition defines.

use serde_json::Value;

use super::{super::meta, Part};
use crate::schema::{Cause, Kind, Part as Checked};

pub(super) fn prepare_create(kind: &Kind, object: &mut Value) {
    if let (true, Some(object)) = (kind.status, object.as_object_mut()) {
        object.remove("status");
    }
    meta::set(object, "generation", 1);
}

pub(super) fn prepare_update(kind: &Kind, part: Part, new: &mut Value, old: &Value) {
    match part {
        Part::Status => only_status(new, old),
        Part::Main | Part::Finalize => {
            if kind.status {
                set_or_remove(new, "status", old.get("status"));
            }
            if differs(new, old) {
                meta::set(new, "generation", meta::number(old, "generation") + 1);
            }
        }
    }
}

/// Everything but the status, and who manages which field, as it was.
fn only_status(new: &mut Value, old: &Value) {
    let status = new.get("status").cloned();
    let managed = meta::field(new, "managedFields").cloned();
    let mut object = old.clone();
    set_or_remove(&mut object, "status", status.as_ref());
    match managed {
        Some(managed) => meta::set(&mut object, "managedFields", managed),
        None => meta::remove(&mut object, "managedFields"),
    }
    *new = object;
}

fn set_or_remove(object: &mut Value, field: &str, value: Option<&Value>) {
    let Some(object) = object.as_object_mut() else { return };
    match value {
        Some(value) => object.insert(field.to_owned(), value.clone()),
        None => object.remove(field),
    };
}

/// Whether anything but the metadata differs.
fn differs(new: &Value, old: &Value) -> bool {
    fn rest(object: &Value) -> impl Iterator<Item = (&String, &Value)> {
        object.as_object().into_iter().flatten().filter(|(name, _)| *name != "metadata")
    }
    rest(new).ne(rest(old))
}

pub(super) fn check(
    kind: &Kind,
    new: &Value,
    old: Option<&Value>,
    part: Part,
    before: Vec<Cause>,
) -> Vec<Cause> {
    let wrong = of_another_kind(kind, new);
    if !wrong.is_empty() {
        return kind.validate_another(new, old, wrong);
    }
    let part = if part == Part::Status { Checked::Status } else { Checked::Main };
    kind.validate(new, old, part, before)
}

fn of_another_kind(kind: &Kind, object: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    for (field, wanted) in [("kind", kind.kind.clone()), ("apiVersion", kind.api_version())] {
        let found = object.get(field).cloned().unwrap_or_else(|| Value::from(""));
        if found.as_str() != Some(wanted.as_str()) {
            causes.push(Cause::invalid(field, &found, &format!("must be {wanted}")));
        }
    }
    causes
}
