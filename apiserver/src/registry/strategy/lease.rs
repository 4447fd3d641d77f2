//! Leases.

use serde_json::Value;

use crate::schema::Cause;

/// The fields of coordinated elections, which are an alpha feature and off by default.
const DISABLED: [&str; 2] = ["strategy", "preferredHolder"];

pub(super) fn drop_disabled(new: &mut Value, old: Option<&Value>) {
    let used = |field: &str| old.and_then(|old| old.get("spec")?.get(field)).is_some();
    if let Some(spec) = new.get_mut("spec").and_then(Value::as_object_mut) {
        for field in DISABLED.iter().filter(|field| !used(field)) {
            spec.remove(*field);
        }
    }
}

pub(super) fn check(object: &Value) -> Vec<Cause> {
    let number = |field: &str| object.get("spec").and_then(|spec| spec.get(field)).and_then(Value::as_i64);
    let mut causes = Vec::new();
    if let Some(seconds) = number("leaseDurationSeconds").filter(|seconds| *seconds <= 0) {
        causes.push(Cause::invalid(
            "spec.leaseDurationSeconds",
            &Value::from(seconds),
            "must be greater than 0",
        ));
    }
    if let Some(times) = number("leaseTransitions").filter(|times| *times < 0) {
        let detail = "must be greater than or equal to 0";
        causes.push(Cause::invalid("spec.leaseTransitions", &Value::from(times), detail));
    }
    causes
}
