//! All objects, with their history.
//!
//! Like etcd, the store counts one revision up with each write, keeps the writes of the recent past, and can show every
//! collection as it was at any revision that is kept. It knows nothing of what an object means.

mod log;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use log::Log;
pub use log::{Entry, What};

/// The objects of one resource, by `namespace/name` or by name. This is the order in which they are listed.
pub type Objects = BTreeMap<Arc<str>, Arc<Value>>;

/// What is asked for happened before the kept history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the history begins after revision {oldest}")]
pub struct Compacted {
    /// The oldest revision that can be asked for.
    pub oldest: u64,
}

/// Objects of all resources and their history.
#[derive(Debug)]
pub struct Store {
    revision: u64,
    resources: BTreeMap<Arc<str>, Objects>,
    log: Log,
}

impl Store {
    /// An empty store that keeps the last `history` writes.
    #[must_use]
    pub fn new(history: usize) -> Self {
        Self { revision: 1, resources: BTreeMap::new(), log: Log::new(history) }
    }

    /// The number of the last write.
    #[must_use]
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// The oldest revision that can still be shown.
    #[must_use]
    pub fn oldest(&self) -> u64 {
        self.log.begin()
    }

    /// How many writes are kept.
    #[must_use]
    pub fn history(&self) -> usize {
        self.log.len()
    }

    /// An object as it is now.
    #[must_use]
    pub fn get(&self, resource: &str, key: &str) -> Option<&Arc<Value>> {
        self.resources.get(resource)?.get(key)
    }

    /// All objects of a resource as they are now, in order of their keys.
    pub fn all<'a>(
        &'a self,
        resource: &str,
    ) -> impl Iterator<Item = (&'a Arc<str>, &'a Arc<Value>)> + use<'a> {
        self.resources.get(resource).into_iter().flatten()
    }

    /// The names of all resources that ever had an object.
    pub fn resources(&self) -> impl Iterator<Item = &Arc<str>> {
        self.resources.keys()
    }

    /// The objects of a resource as they were after the write `revision`.
    ///
    /// # Errors
    /// If that is too long ago.
    pub fn at(&self, resource: &str, revision: u64) -> Result<Cow<'_, Objects>, Compacted> {
        let mut objects = self.resources.get(resource).map_or_else(Cow::default, Cow::Borrowed);
        if revision < self.revision {
            let objects = objects.to_mut();
            for entry in self.log.since(revision)?.rev().filter(|entry| &*entry.resource == resource) {
                match &entry.previous {
                    Some(before) => objects.insert(Arc::clone(&entry.key), Arc::clone(before)),
                    None => objects.remove(&entry.key),
                };
            }
        }
        Ok(objects)
    }

    /// The writes after `revision`, oldest first.
    ///
    /// # Errors
    /// If not all of them are kept.
    pub fn since(&self, revision: u64) -> Result<impl DoubleEndedIterator<Item = &Arc<Entry>>, Compacted> {
        self.log.since(revision)
    }

    /// Writes an object, new or not, with the next revision as its `metadata.resourceVersion`.
    pub fn put(&mut self, resource: &Arc<str>, key: &str, mut object: Value) -> Arc<Value> {
        self.revision += 1;
        stamp(&mut object, self.revision);
        let object = Arc::new(object);
        let objects = self.resources.entry(Arc::clone(resource)).or_default();
        let key: Arc<str> = objects.get_key_value(key).map_or_else(|| key.into(), |(key, _)| Arc::clone(key));
        let previous = objects.insert(Arc::clone(&key), Arc::clone(&object));
        let what = if previous.is_some() { What::Changed } else { What::Made };
        self.record(what, resource, key, &object, previous);
        object
    }

    /// Removes an object, and returns it as it was, with the revision of its removal.
    pub fn remove(&mut self, resource: &Arc<str>, key: &str) -> Option<Arc<Value>> {
        let (key, previous) = self.resources.get_mut(resource)?.remove_entry(key)?;
        self.revision += 1;
        let mut object = Value::clone(&previous);
        stamp(&mut object, self.revision);
        let object = Arc::new(object);
        self.record(What::Removed, resource, key, &object, Some(previous));
        Some(object)
    }

    fn record(
        &mut self,
        what: What,
        resource: &Arc<str>,
        key: Arc<str>,
        object: &Arc<Value>,
        previous: Option<Arc<Value>>,
    ) {
        let (revision, resource, object) = (self.revision, Arc::clone(resource), Arc::clone(object));
        self.log.push(Entry { revision, what, resource, key, object, previous });
    }

    /// Forgets how everything was before `revision`.
    pub fn compact(&mut self, revision: u64) {
        self.log.forget_before(revision.min(self.revision));
    }
}

fn stamp(object: &mut Value, revision: u64) {
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.insert("resourceVersion".to_owned(), Value::from(revision.to_string()));
    }
}

#[cfg(test)]
mod tests;
