//! The collection of objects whose owners are gone.

use serde_json::Value;

use super::graph::{Graph, Place};
use super::{kind_of, split, write};
use crate::registry::{DeleteOptions, Part, Propagation, State, key, meta, resource};
use crate::schema::Kind;
use crate::service::Shared;
use crate::status::Refusal;

const ORPHAN: &str = "orphan";
const FOREGROUND: &str = "foregroundDeletion";

/// What an owner is to its dependent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    /// It is there, or nobody can tell: the dependent stays.
    There,
    /// It is gone, or another object has its name.
    Gone,
    /// It is being deleted, and waits for its dependents to go first.
    Waiting,
}

/// Does what is to be done about the object at `place`.
pub(super) fn attend(
    shared: &Shared,
    state: &mut State,
    graph: &Graph,
    place: &Place,
    kind: &Kind,
) -> Result<(), Refusal> {
    let Some(object) = state.store.get(&place.resource, &place.key).cloned() else { return Ok(()) };
    let (namespace, name) = split(&place.key);
    let uid = meta::text(&object, "uid");
    let finalizers = meta::finalizers(&object);
    if meta::is_deleting(&object) {
        if finalizers.contains(&ORPHAN) {
            for dependent in graph.dependents(uid) {
                let lost = |owner: &Value| owner.get("uid").and_then(Value::as_str) == Some(uid);
                disown(shared, state, dependent, &lost)?;
            }
            return release(shared, state, kind, place, ORPHAN);
        }
        if finalizers.contains(&FOREGROUND)
            && !graph.dependents(uid).any(|dependent| blocks(state, dependent, uid))
        {
            return release(shared, state, kind, place, FOREGROUND);
        }
        return Ok(());
    }
    let owners: Vec<(Value, Owner)> = meta::owners(&object)
        .map(|owner| (owner.clone(), standing(shared, state, namespace, owner)))
        .collect();
    if owners.is_empty() || owners.iter().all(|(_, owner)| *owner == Owner::There) {
        return Ok(());
    }
    if owners.iter().any(|(_, owner)| *owner == Owner::There) {
        let lost = |found: &Value| {
            owners.iter().any(|(owner, standing)| owner == found && *standing != Owner::There)
        };
        return disown(shared, state, place, &lost);
    }
    let waiting = owners.iter().any(|(_, owner)| *owner == Owner::Waiting);
    let has_dependents = graph.dependents(uid).next().is_some();
    let propagation = if waiting && has_dependents {
        Propagation::Foreground
    } else if finalizers.contains(&ORPHAN) {
        Propagation::Orphan
    } else if finalizers.contains(&FOREGROUND) {
        Propagation::Foreground
    } else {
        Propagation::Background
    };
    let options = DeleteOptions { uid: Some(uid.to_owned()), revision: None, propagation: Some(propagation) };
    write(shared, state, kind, namespace, Part::Main).delete(name, &options).map(|_| ())
}

/// Whether the owner at the place `owner` of `namespace` is there.
fn standing(shared: &Shared, state: &State, namespace: &str, owner: &Value) -> Owner {
    let text = |field: &str| owner.get(field).and_then(Value::as_str).unwrap_or_default();
    let mut kinds = shared.catalogue.kinds().iter();
    let Some(kind) = kinds.find(|kind| kind.api_version() == text("apiVersion") && kind.kind == text("kind"))
    else {
        return Owner::There;
    };
    // A cluster-wide object cannot have an owner in a namespace; nobody can tell whether there is one.
    if kind.namespaced && namespace.is_empty() {
        return Owner::There;
    }
    let namespace = if kind.namespaced { namespace } else { "" };
    match state.store.get(&resource(kind), &key(namespace, text("name"))) {
        Some(found) if meta::text(found, "uid") == text("uid") => {
            let waits = meta::is_deleting(found) && meta::finalizers(found).contains(&FOREGROUND);
            if waits { Owner::Waiting } else { Owner::There }
        }
        _ => Owner::Gone,
    }
}

/// Whether the dependent keeps its owner `uid` from going.
fn blocks(state: &State, dependent: &Place, uid: &str) -> bool {
    let Some(object) = state.store.get(&dependent.resource, &dependent.key) else { return false };
    let mut owners = meta::owners(object);
    owners.any(|owner| {
        owner.get("uid").and_then(Value::as_str) == Some(uid)
            && owner.get("blockOwnerDeletion") == Some(&Value::Bool(true))
    })
}

/// Takes the owner references that are `lost` off an object.
fn disown(
    shared: &Shared,
    state: &mut State,
    place: &Place,
    lost: &dyn Fn(&Value) -> bool,
) -> Result<(), Refusal> {
    let Some(kind) = kind_of(shared, &place.resource) else { return Ok(()) };
    let (namespace, name) = split(&place.key);
    let mut change = |live: &Value| {
        let mut object = live.clone();
        let kept: Vec<Value> = meta::owners(live).filter(|owner| !lost(owner)).cloned().collect();
        if kept.is_empty() {
            meta::remove(&mut object, "ownerReferences");
        } else {
            meta::set(&mut object, "ownerReferences", kept);
        }
        Ok((object, false))
    };
    write(shared, state, kind, namespace, Part::Main).change(name, &mut change).map(|_| ())
}

/// Takes one of the collector's finalizers off.
fn release(
    shared: &Shared,
    state: &mut State,
    kind: &Kind,
    place: &Place,
    finalizer: &str,
) -> Result<(), Refusal> {
    let (namespace, name) = split(&place.key);
    let mut change = |live: &Value| {
        let mut object = live.clone();
        let kept = meta::finalizers(live).into_iter().filter(|found| *found != finalizer);
        let kept = kept.map(str::to_owned).collect();
        meta::set_finalizers(&mut object, kept);
        Ok((object, false))
    };
    write(shared, state, kind, namespace, Part::Main).change(name, &mut change).map(|_| ())
}
