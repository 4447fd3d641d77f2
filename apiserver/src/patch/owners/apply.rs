//! Server-side apply.

use super::compare::{Comparison, compare, paths};
use super::managers::{self, Id, Managers, Operation, Owned, Writer};
use super::schema::Schema;
use super::set::{Set, shown};
use super::{merge, prune, track, typed};
use crate::schema::{Kind, print};
use serde_json::Value;
use thiserror::Error;

/// The manager whose earlier, client-side applications an apply may take over.
const KUBECTL: &str = "kubectl";
/// Where client-side applications left what they applied.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";
/// Who owns what was there before the first apply, if nobody was recorded.
const BEFORE_FIRST: &str = "before-first-apply";

/// What is applied.
#[derive(Clone, Copy, Debug)]
pub struct Application<'a> {
    /// All that the manager wants of the object.
    pub object: &'a Value,
    /// Whether to take fields from others.
    pub force: bool,
}

/// An apply that can't be done.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ApplyError {
    /// The applied object is of no use: 400 BadRequest.
    #[error("{0}")]
    Malformed(String),
    /// It doesn't fit the schema: 500, as the API server has it.
    #[error("{0}")]
    Mistyped(String),
    /// Others own fields that it would change: 409 Conflict, with a cause for each.
    #[error("{}", message(.0))]
    Conflicts(Vec<Conflict>),
}

/// A field that another manager owns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The manager, as messages name it.
    pub manager: String,
    /// The field: `.spec.deletionPolicy`.
    pub field: String,
}

impl Conflict {
    /// The message of the Status' cause, whose reason is `FieldManagerConflict`.
    #[must_use]
    pub fn message(&self) -> String {
        format!("conflict with {}", self.manager)
    }
}

fn message(conflicts: &[Conflict]) -> String {
    if let [conflict] = conflicts {
        return format!("Apply failed with 1 conflict: {}: {}", conflict.message(), conflict.field);
    }
    let mut lines = Vec::new();
    let mut last = "";
    for Conflict { manager, field } in conflicts {
        if manager != last {
            lines.push(format!("conflicts with {manager}:"));
            last = manager;
        }
        lines.push(format!("- {field}"));
    }
    format!("Apply failed with {} conflicts: {}", conflicts.len(), lines.join("\n"))
}

/// The object after an apply, with the owners of its fields. `live` is none if it is created by it.
///
/// # Errors
/// The applied object doesn't fit the kind, or others own fields that it would change and it isn't forced.
pub fn apply(
    kind: &Kind,
    live: Option<&Value>,
    application: Application<'_>,
    writer: Writer<'_>,
) -> Result<Value, ApplyError> {
    fit(kind, application.object)?;
    let api_version = kind.api_version();
    let mut managers = live.and_then(managers::decode).unwrap_or_default();
    let mut before = live.cloned().unwrap_or_else(|| kind.empty());
    managers::remove(&mut before);
    if managers.is_empty() && live.is_some() {
        let first = Writer { manager: BEFORE_FIRST, ..writer };
        track::update(kind, None, &before, &mut managers, first);
    }
    managers::keep_version(&mut managers, kind);

    let ignored = track::out_of_reach(kind, writer.subresource);
    let id = Id::apply(writer);
    let last = managers.remove(&id);
    let time = last.as_ref().and_then(|last| last.time.clone());
    let set = paths(kind, application.object).without(&ignored);
    managers.insert(id.clone(), Owned { set, api_version: api_version.clone(), time });

    let merged = merge::merge(Schema::Root(kind), &before, application.object);
    let last = last.map(|last| last.set).unwrap_or_default();
    let mut after = prune::prune(kind, merged, &last, &managers);

    let changed = compare(kind, &before, &after).without(&ignored);
    let conflicts = conflicts(&managers, &changed, &id, &api_version);
    if !application.force && !conflicts.is_empty() {
        let allowed = if writer.manager == KUBECTL { last_applied(kind, &before) } else { Set::default() };
        refuse(&conflicts, &allowed)?;
    }
    track::take_from_others(&mut managers, &changed, Some(&id), &api_version);
    if let Some(owned) = managers.get_mut(&id) {
        owned.set = track::ownable(&owned.set);
        if before != after {
            owned.time = Some(managers::stamp(writer.now));
        }
    }
    managers.retain(|_, owned| !owned.set.is_empty());
    managers::encode(&mut after, managers);
    if writer.manager == KUBECTL {
        refresh_last_applied(&mut after, application.object);
    }
    if let Some(live) = live {
        track::keep_times(live, &mut after);
    }
    Ok(after)
}

fn fit(kind: &Kind, applied: &Value) -> Result<(), ApplyError> {
    let text = |name: &str| applied.get(name).and_then(Value::as_str).unwrap_or_default();
    if text("apiVersion") != kind.api_version() || text("kind") != kind.kind {
        let (group, version) = text("apiVersion").split_once('/').unwrap_or(("", text("apiVersion")));
        let found = format!("{group}/{version}, Kind={}", text("kind"));
        return Err(ApplyError::Malformed(format!("invalid object type: {found}")));
    }
    if applied.pointer("/metadata/managedFields").is_some_and(|entries| !entries.is_null()) {
        return Err(ApplyError::Malformed("metadata.managedFields must be nil".to_owned()));
    }
    let faults = typed::faults_of(kind, applied);
    if faults.is_empty() {
        return Ok(());
    }
    let part = |pointer: &str| applied.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let name = format!("{}/{}", part("/metadata/namespace"), part("/metadata/name"));
    let gvk = format!("{}/{}, Kind={}", kind.group, kind.version, kind.kind);
    let what = if let [fault] = faults.as_slice() {
        fault.clone()
    } else {
        format!("errors:\n{}", faults.iter().map(|fault| format!("  {fault}")).collect::<Vec<_>>().join("\n"))
    };
    Err(ApplyError::Mistyped(format!("failed to create typed patch object ({name}; {gvk}): {what}")))
}

/// What others own of the changed fields.
fn conflicts(
    managers: &Managers,
    changed: &Comparison,
    except: &Id,
    api_version: &str,
) -> Vec<(Id, Owned, Set)> {
    let written = changed.modified.union(&changed.added);
    managers
        .iter()
        .filter(|(id, owned)| *id != except && owned.api_version == api_version)
        .map(|(id, owned)| (id.clone(), owned.clone(), owned.set.intersection(&written)))
        .filter(|(_, _, set)| !set.is_empty())
        .collect()
}

fn refuse(conflicts: &[(Id, Owned, Set)], allowed: &Set) -> Result<(), ApplyError> {
    let mut found: Vec<Conflict> = conflicts
        .iter()
        .flat_map(|(id, owned, set)| {
            let manager = described(id, owned);
            set.difference(allowed)
                .paths()
                .into_iter()
                .map(move |path| Conflict { manager: manager.clone(), field: shown(&path) })
        })
        .collect();
    found.sort_by(|one, other| one.manager.cmp(&other.manager));
    if found.is_empty() { Ok(()) } else { Err(ApplyError::Conflicts(found)) }
}

fn described(id: &Id, owned: &Owned) -> String {
    let mut text = print::quoted(&id.manager);
    if !id.subresource.is_empty() {
        text = format!("{text} with subresource {}", print::quoted(&id.subresource));
    }
    if id.operation == Operation::Update {
        text = format!("{text} using {}", owned.api_version);
    }
    text
}

/// Brings what the last client-side apply left up to date, so that going back to those changes nothing.
fn refresh_last_applied(object: &mut Value, applied: &Value) {
    let mut applied = applied.clone();
    if let Some(metadata) = applied.get_mut("metadata").and_then(Value::as_object_mut) {
        if let Some(annotations) = metadata.get_mut("annotations").and_then(Value::as_object_mut) {
            annotations.remove(LAST_APPLIED);
        }
        metadata.retain(|name, field| {
            name != "annotations" || field.as_object().is_some_and(|map| !map.is_empty())
        });
    }
    let annotations = object.get_mut("metadata").and_then(|metadata| metadata.get_mut("annotations"));
    if let Some(last @ Value::String(_)) = annotations.and_then(|all| all.get_mut(LAST_APPLIED)) {
        *last = Value::String(print::json(&applied) + "\n");
    }
}

/// The fields that a client-side apply set and that still have those values.
fn last_applied(kind: &Kind, live: &Value) -> Set {
    let annotation = live.get("metadata").and_then(|metadata| metadata.get("annotations"));
    let text = annotation.and_then(|all| all.get(LAST_APPLIED)).and_then(Value::as_str);
    let Some(applied) = text.and_then(|text| serde_json::from_str::<Value>(text).ok()) else {
        return Set::default();
    };
    let changed = compare(kind, &applied, live);
    paths(kind, &applied)
        .difference(&changed.modified)
        .difference(&changed.added)
        .difference(&changed.removed)
}
