//! The entries of `metadata.managedFields`.

use super::set::Set;
use crate::schema::Kind;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// The most entries for plain writes. The oldest are joined beyond that.
const MAX_UPDATERS: usize = 10;
/// The name that joined entries get.
const JOINED: &str = "ancient-changes";

/// Who writes, and when.
#[derive(Clone, Copy, Debug)]
pub struct Writer<'a> {
    /// The name that the client gave, or its program's.
    pub manager: &'a str,
    /// The subresource that is written; empty for the object itself.
    pub subresource: &'a str,
    /// The time of the write.
    pub now: Timestamp,
}

/// What an entry is found again by.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Id {
    pub(super) operation: Operation,
    pub(super) manager: String,
    /// Empty for applications, which keep their entry across versions.
    pub(super) api_version: String,
    pub(super) subresource: String,
}

/// How the fields were written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) enum Operation {
    /// By a server-side apply.
    Apply,
    /// By any other write.
    Update,
}

/// What a manager owns.
#[derive(Clone, Debug)]
pub(super) struct Owned {
    pub(super) set: Set,
    pub(super) api_version: String,
    pub(super) time: Option<String>,
}

/// All managers of an object.
pub(super) type Managers = BTreeMap<Id, Owned>;

/// An entry as it is stored.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    manager: String,
    operation: Operation,
    api_version: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    time: Option<String>,
    fields_type: String,
    #[serde(default, rename = "fieldsV1")]
    fields: Value,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    subresource: String,
}

impl Id {
    /// The entry of a plain write.
    pub(super) fn update(writer: Writer<'_>, api_version: &str) -> Self {
        Self {
            operation: Operation::Update,
            manager: named(writer.manager),
            api_version: api_version.to_owned(),
            subresource: writer.subresource.to_owned(),
        }
    }

    /// The entry of a server-side apply.
    pub(super) fn apply(writer: Writer<'_>) -> Self {
        Self { operation: Operation::Apply, api_version: String::new(), ..Self::update(writer, "") }
    }
}

fn named(manager: &str) -> String {
    if manager.is_empty() { "unknown".to_owned() } else { manager.to_owned() }
}

/// The time of a write as it is stored.
pub(super) fn stamp(now: Timestamp) -> String {
    now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Reads the entries of an object. None if one of them is malformed.
pub(super) fn decode(object: &Value) -> Option<Managers> {
    let mut managers = Managers::new();
    for entry in object.pointer("/metadata/managedFields").and_then(Value::as_array).into_iter().flatten() {
        let entry = Entry::deserialize(entry).ok()?;
        if entry.api_version.is_empty() || entry.fields_type != "FieldsV1" {
            return None;
        }
        let set = if entry.fields.is_null() { Set::default() } else { Set::decode(&entry.fields)? };
        let api_version = match entry.operation {
            Operation::Apply => String::new(),
            Operation::Update => entry.api_version.clone(),
        };
        let id = Id {
            operation: entry.operation,
            manager: entry.manager,
            api_version,
            subresource: entry.subresource,
        };
        managers.insert(id, Owned { set, api_version: entry.api_version, time: entry.time });
    }
    Some(managers)
}

/// Writes the entries into an object.
pub(super) fn encode(object: &mut Value, managers: Managers) {
    let mut entries: Vec<Entry> = managers
        .into_iter()
        .map(|(id, owned)| Entry {
            manager: id.manager,
            operation: id.operation,
            api_version: owned.api_version,
            time: owned.time,
            fields_type: "FieldsV1".to_owned(),
            fields: owned.set.encode(),
            subresource: id.subresource,
        })
        .collect();
    entries.sort_by(|one, other| {
        let key = |entry: &Entry| {
            (entry.operation, entry.time.clone(), entry.manager.clone(), entry.api_version.clone())
        };
        key(one).cmp(&key(other)).then_with(|| one.subresource.cmp(&other.subresource))
    });
    let written: Vec<Value> = entries.iter().filter_map(|entry| serde_json::to_value(entry).ok()).collect();
    remove(object);
    if written.is_empty() {
        return;
    }
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.insert("managedFields".to_owned(), Value::Array(written));
    }
}

/// Takes the entries out of an object.
pub(super) fn remove(object: &mut Value) {
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("managedFields");
    }
}

/// Leaves out who wrote in another version, or by the other group of Events: a real server can't tell what they own.
pub(super) fn keep_version(managers: &mut Managers, kind: &Kind) {
    let version = kind.api_version();
    managers.retain(|_, owned| owned.api_version == version);
}

/// Joins the oldest entries of plain writes into one if there are too many.
pub(super) fn limit(managers: &mut Managers) {
    let mut updaters: Vec<(Option<String>, Id)> = managers
        .iter()
        .filter(|(id, _)| id.operation == Operation::Update)
        .map(|(id, owned)| (owned.time.clone(), id.clone()))
        .collect();
    if updaters.len() <= MAX_UPDATERS {
        return;
    }
    updaters.sort();
    let surplus = updaters.len() - MAX_UPDATERS + 1;
    for (_, id) in updaters.into_iter().take(surplus) {
        let Some(owned) = managers.remove(&id) else { continue };
        let bucket = Id { manager: JOINED.to_owned(), subresource: String::new(), ..id };
        let joined = match managers.remove(&bucket) {
            Some(older) => Owned { set: owned.set.union(&older.set), ..owned },
            None => owned,
        };
        managers.insert(bucket, joined);
    }
}
