//! Bugs in the conditions of writes.

use bytes::Bytes;
use cosi_api::names::FINALIZER;
use serde_json::Value;

use super::{Bug, seeded};

/// The body of a write at `path`, without the resourceVersion that it depends on if a bug leaves that out.
pub(crate) fn loosened(path: &str, body: Bytes) -> Bytes {
    let Some(bug) = seeded() else { return body };
    let Ok(mut written) = serde_json::from_slice::<Value>(&body) else { return body };
    let finalizers = written.pointer("/metadata/finalizers").and_then(Value::as_array);
    let ours = finalizers.map(|all| all.iter().any(|finalizer| finalizer == FINALIZER));
    let loose = match bug {
        Bug::UnconditionedStatus => path.ends_with("/status"),
        Bug::UnconditionedFinalizer => ours == Some(true),
        Bug::StubbornRemoval => ours == Some(false),
        _ => false,
    };
    if !loose || path.contains("/secrets") {
        return body;
    }
    if let Some(metadata) = written.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("resourceVersion");
    }
    Bytes::from(written.to_string())
}
