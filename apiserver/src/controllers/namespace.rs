//! Namespaces that are being deleted: first goes what is in them, then they go.

use std::sync::Arc;

use serde_json::Value;

use super::{split, write};
use crate::registry::{
    DeleteOptions, Part, Propagation, State, Strategy, finalizers_of_namespace, meta, resource, view,
};
use crate::schema::Kind;
use crate::service::Shared;
use crate::status::Refusal;

/// The finalizer in the spec that this controller takes off.
const OURS: &str = "kubernetes";

pub(super) fn attend(shared: &Shared, state: &mut State, name: &str) -> Result<(), Refusal> {
    let Some(namespace) = state.store.get("namespaces", name).cloned() else { return Ok(()) };
    if !meta::is_deleting(&namespace) || !finalizers_of_namespace(&namespace).contains(&OURS) {
        return Ok(());
    }
    let kinds: Vec<Arc<Kind>> =
        shared.catalogue.kinds().iter().filter(|kind| kind.namespaced).cloned().collect();
    let mut left = false;
    for kind in kinds.iter().filter(|kind| !view::is_needed(kind)) {
        left |= empty(shared, state, kind, name)?;
    }
    if left { Ok(()) } else { finalize(shared, state, name) }
}

/// Deletes all objects of a kind in the namespace. Returns whether some wait for their finalizers.
fn empty(shared: &Shared, state: &mut State, kind: &Kind, namespace: &str) -> Result<bool, Refusal> {
    let resource = resource(kind);
    let of_namespace = |key: &str| split(key).0 == namespace;
    let all: Vec<(Arc<str>, bool)> = state
        .store
        .all(&resource)
        .filter(|(key, _)| of_namespace(key))
        .map(|(key, object)| (Arc::clone(key), meta::is_deleting(object)))
        .collect();
    let options = DeleteOptions { propagation: Some(Propagation::Background), ..DeleteOptions::default() };
    for (key, _) in all.iter().filter(|(_, deleting)| !deleting) {
        write(shared, state, kind, namespace, Part::Main).delete(split(key).1, &options)?;
    }
    Ok(all.iter().any(|(key, _)| state.store.get(&resource, key).is_some()))
}

/// Nothing is left in it.
fn finalize(shared: &Shared, state: &mut State, name: &str) -> Result<(), Refusal> {
    let mut kinds = shared.catalogue.kinds().iter();
    let Some(kind) = kinds.find(|kind| Strategy::of(kind) == Strategy::Namespace) else { return Ok(()) };
    let mut change = |live: &Value| {
        let mut object = live.clone();
        let kept: Vec<&str> =
            finalizers_of_namespace(live).into_iter().filter(|found| *found != OURS).collect();
        let kept =
            if kept.is_empty() { serde_json::json!({}) } else { serde_json::json!({ "finalizers": kept }) };
        if let Some(object) = object.as_object_mut() {
            object.insert("spec".to_owned(), kept);
        }
        Ok((object, false))
    };
    write(shared, state, kind, "", Part::Finalize).change(name, &mut change).map(|_| ())
}
