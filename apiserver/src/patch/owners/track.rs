//! What plain writes do to owners.

use super::compare::{Comparison, compare};
use super::element::Element;
use super::managers::{self, Id, Managers, Owned, Writer};
use super::set::Set;
use super::typed;
use crate::schema::Kind;
use serde_json::{Value, json};
use std::sync::LazyLock;

/// The fields that nobody owns.
static UNOWNED: LazyLock<Set> = LazyLock::new(|| {
    let mut set = Set::default();
    let field = |name: &str| Element::Field(name.to_owned());
    for name in ["apiVersion", "kind", "metadata"] {
        set.insert(&[field(name)]);
    }
    for name in [
        "name",
        "namespace",
        "creationTimestamp",
        "selfLink",
        "uid",
        "clusterName",
        "generation",
        "managedFields",
        "resourceVersion",
    ] {
        set.insert(&[field("metadata"), field(name)]);
    }
    set
});

/// Writes into `new` who owns its fields after a create (`old` is none) or an update. Entries that the client sent are
/// taken for what was there before; an empty list of them forgets all owners.
pub fn track(kind: &Kind, old: Option<&Value>, new: &mut Value, writer: Writer<'_>) {
    let before = known(kind, old, new, writer);
    managers::remove(new);
    // A real server forgets all owners where it can't tell what is whose.
    let Some(mut managers) = before.filter(|_| typed::can_be_owned(kind, new)) else { return };
    if managers.is_empty() && old.is_some() {
        return;
    }
    managers::keep_version(&mut managers, kind);
    update(kind, old, new, &mut managers, writer);
    managers::limit(&mut managers);
    managers::encode(new, managers);
    if let Some(old) = old {
        keep_times(old, new);
    }
}

/// The owners before the write. None if the client asked to forget them and there is nothing to begin with.
fn known(kind: &Kind, old: Option<&Value>, new: &Value, writer: Writer<'_>) -> Option<Managers> {
    let stored = || old.and_then(managers::decode).unwrap_or_default();
    if !writer.subresource.is_empty() {
        return Some(stored());
    }
    match new.pointer("/metadata/managedFields") {
        // Of custom kinds, an empty list is as none at all.
        Some(Value::Array(entries)) if (kind.builtin && entries.is_empty()) || *entries == [json!({})] => {
            if old.is_some() {
                None
            } else {
                Some(Managers::new())
            }
        }
        _ => match managers::decode(new) {
            Some(sent) if !sent.is_empty() => Some(sent),
            _ => Some(stored()),
        },
    }
}

/// The fields that a write to the object, or to its subresource, can't change.
pub(super) fn out_of_reach(kind: &Kind, subresource: &str) -> Set {
    let mut set = Set::default();
    let names: &[&str] = match (kind.status, subresource) {
        (true, "") => &["status"],
        (true, "status") if kind.builtin => &["spec"],
        (true, "status") => &["metadata", "spec"],
        _ => &[],
    };
    for name in names {
        set.insert(&[Element::Field((*name).to_owned())]);
    }
    set
}

/// Gives the writer what it changed, and takes that from all others.
pub(super) fn update(
    kind: &Kind,
    old: Option<&Value>,
    new: &Value,
    managers: &mut Managers,
    writer: Writer<'_>,
) {
    let api_version = kind.api_version();
    let mut old = old.cloned().unwrap_or_else(|| kind.empty());
    managers::remove(&mut old);
    let changed = compare(kind, &old, new).without(&out_of_reach(kind, writer.subresource));
    take_from_others(managers, &changed, None, &api_version);
    let set = changed.modified.union(&changed.added).difference(&UNOWNED);
    if set.is_empty() {
        return;
    }
    let id = Id::update(writer, &api_version);
    let set = managers.get(&id).map_or_else(|| set.clone(), |owned| owned.set.union(&set));
    managers.insert(id, Owned { set, api_version, time: Some(managers::stamp(writer.now)) });
}

/// Takes the changed fields from all managers but `except`.
pub(super) fn take_from_others(
    managers: &mut Managers,
    changed: &Comparison,
    except: Option<&Id>,
    api_version: &str,
) {
    let taken = changed.modified.union(&changed.added).union(&changed.removed);
    managers.retain(|id, owned| {
        if Some(id) != except && owned.api_version == api_version {
            owned.set = owned.set.difference(&taken);
        }
        !owned.set.is_empty()
    });
}

/// The fields of a set that can have owners.
pub(super) fn ownable(set: &Set) -> Set {
    set.difference(&UNOWNED)
}

/// Leaves the entries as they were if nothing but their times would change: a write that changes nothing is none.
pub(super) fn keep_times(old: &Value, new: &mut Value) {
    let timeless = |object: &Value| {
        let mut object = object.clone();
        let entries = object.pointer_mut("/metadata/managedFields").and_then(Value::as_array_mut);
        for entry in entries.into_iter().flatten().filter_map(Value::as_object_mut) {
            entry.remove("time");
        }
        object
    };
    let times = |object: &Value| object.pointer("/metadata/managedFields").cloned();
    if times(old) != times(new)
        && timeless(old) == timeless(new)
        && let (Some(entries), Some(kept)) = (new.pointer_mut("/metadata/managedFields"), times(old))
    {
        *entries = kept;
    }
}
