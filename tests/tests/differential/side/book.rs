//! What one server said, and the names that this gives to its uids, versions and times.

use std::collections::HashMap;

use serde_json::Value;

use crate::call::Id;

/// Versions of an object that are remembered.
const VERSIONS: usize = 6;

/// See above.
#[derive(Default)]
pub(super) struct Book {
    pub(super) prefix: String,
    /// Whether managedFields are compared, too.
    pub(super) managed_fields: bool,
    /// The newest version of anything when the sequence began.
    pub(super) start: String,
    /// The last token to continue a list with.
    pub(super) token: String,
    /// Each object's versions, oldest first, as the server sent them.
    objects: HashMap<Id, Vec<Value>>,
    uids: Names,
    versions: Names,
    times: Vec<String>,
}

/// Names for values, in the order in which they were met.
#[derive(Default)]
struct Names {
    names: HashMap<String, String>,
    counts: HashMap<Id, usize>,
}

impl Names {
    /// The name of `value`; one that was never met before is named after `id`.
    fn learn(&mut self, what: &str, value: &str, id: &Id) -> String {
        if let Some(name) = self.names.get(value) {
            return name.clone();
        }
        let count = self.counts.entry(id.clone()).or_default();
        *count += 1;
        let name = format!("<{what} {} {count}>", id.0);
        self.names.insert(value.to_owned(), name.clone());
        name
    }
}

impl Book {
    pub(super) fn new(prefix: &str) -> Self {
        Self { prefix: prefix.to_owned(), ..Self::default() }
    }

    /// The uid of the object as last seen.
    pub(super) fn uid(&self, id: &Id) -> Option<&str> {
        self.seen(id, 0)?.pointer("/metadata/uid")?.as_str()
    }

    /// The object's resourceVersion, `back` versions ago.
    pub(super) fn version(&self, id: &Id, back: usize) -> Option<&str> {
        self.seen(id, back)?.pointer("/metadata/resourceVersion")?.as_str()
    }

    /// The object, `back` versions ago, or the oldest remembered.
    pub(super) fn seen(&self, id: &Id, back: usize) -> Option<&Value> {
        let versions = self.objects.get(id)?;
        versions.get(versions.len().saturating_sub(back + 1))
    }

    /// Remembers `object` as the server sent it.
    pub(super) fn remember(&mut self, id: &Id, object: &Value) {
        let versions = self.objects.entry(id.clone()).or_default();
        if versions.last() == Some(object) {
            return;
        }
        versions.push(object.clone());
        if versions.len() > VERSIONS {
            versions.remove(0);
        }
        if self.start.is_empty() {
            object["metadata"]["resourceVersion"].as_str().unwrap_or_default().clone_into(&mut self.start);
        }
    }

    pub(super) fn name_uid(&mut self, uid: &str, id: &Id) -> String {
        self.uids.learn("uid", uid, id)
    }

    pub(super) fn known_uid(&self, uid: &str) -> Option<&String> {
        self.uids.names.get(uid)
    }

    pub(super) fn name_version(&mut self, version: &str, id: &Id) -> String {
        self.versions.learn("rv", version, id)
    }

    /// Remembers a time that this server set, for texts that repeat it.
    pub(super) fn remember_time(&mut self, time: &str) {
        if !self.times.iter().any(|known| known == time) {
            self.times.push(time.to_owned());
        }
    }

    pub(super) fn times(&self) -> &[String] {
        &self.times
    }

    /// The names of all versions, in the order of the versions.
    pub(super) fn order(&self) -> Vec<String> {
        let mut versions: Vec<(u64, &String)> = self
            .versions
            .names
            .iter()
            .filter_map(|(version, name)| Some((version.parse().ok()?, name)))
            .collect();
        versions.sort_unstable();
        versions.into_iter().map(|(_, name)| name.clone()).collect()
    }
}
