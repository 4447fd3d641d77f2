//! Owner references that name the same owner twice.

use serde_json::Value;

use super::meta;

/// Leaves the first of those that are equal, and says whose there were several.
pub(super) fn dedup(object: &mut Value) -> Option<String> {
    let mut kept: Vec<Value> = Vec::new();
    let mut doubled: Vec<String> = Vec::new();
    for owner in meta::owners(object) {
        if kept.contains(owner) {
            doubled.push(owner.get("uid").and_then(Value::as_str).unwrap_or_default().to_owned());
        } else {
            kept.push(owner.clone());
        }
    }
    if doubled.is_empty() {
        return None;
    }
    meta::set(object, "ownerReferences", kept);
    Some(format!(
        ".metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: {}",
        doubled.join(", ")
    ))
}
