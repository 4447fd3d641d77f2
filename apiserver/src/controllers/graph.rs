//! Who owns whom, as far as the history was read.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;

use crate::registry::meta;
use crate::store::{Entry, Store};

/// Where an object is stored.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) resource: Arc<str>,
    pub(crate) key: Arc<str>,
}

/// Owners and dependents, and the objects that are to be looked at.
#[derive(Debug, Default)]
pub(crate) struct Graph {
    /// The history was read up to here.
    read: u64,
    /// The objects that name a uid as their owner's.
    dependents: BTreeMap<String, BTreeSet<Place>>,
    objects: BTreeMap<Place, Known>,
    /// Where the object with a uid is.
    places: BTreeMap<String, Place>,
    due: BTreeSet<Place>,
}

/// An object, as far as it matters here.
#[derive(Debug)]
struct Known {
    uid: String,
    owners: BTreeSet<String>,
}

impl Graph {
    /// Reads on in the history. If it begins too late, everything is looked at anew.
    pub(super) fn follow(&mut self, store: &Store) {
        if self.read == store.revision() {
            return;
        }
        match store.since(self.read) {
            Ok(entries) => entries.for_each(|entry| self.learn(store, entry)),
            Err(_) => self.relearn(store),
        }
        self.read = store.revision();
    }

    /// The next object to look at.
    pub(super) fn next(&mut self) -> Option<Place> {
        self.due.pop_first()
    }

    /// The objects that name `uid` as their owner's.
    pub(super) fn dependents(&self, uid: &str) -> impl Iterator<Item = &Place> + use<'_> {
        self.dependents.get(uid).into_iter().flatten()
    }

    fn relearn(&mut self, store: &Store) {
        *self = Self::default();
        for resource in store.resources() {
            for (key, object) in store.all(resource) {
                let place = Place { resource: Arc::clone(resource), key: Arc::clone(key) };
                self.place(&place, Some(object));
                self.due.insert(place);
            }
        }
    }

    fn learn(&mut self, store: &Store, entry: &Entry) {
        let place = Place { resource: Arc::clone(&entry.resource), key: Arc::clone(&entry.key) };
        let object = store.get(&entry.resource, &entry.key);
        self.place(&place, object);
        let uid = meta::text(&entry.object, "uid");
        // Its dependents may have lost their owner, and its owners may have waited for its end.
        if object.is_none() || meta::is_deleting(&entry.object) {
            self.due.extend(self.dependents.get(uid).into_iter().flatten().cloned());
            let owners = meta::owners(&entry.object)
                .chain(entry.previous.iter().flat_map(|before| meta::owners(before)));
            let uids = owners.filter_map(|owner| owner.get("uid").and_then(Value::as_str));
            let waiting: Vec<Place> = uids.filter_map(|uid| self.places.get(uid)).cloned().collect();
            self.due.extend(waiting);
        }
        let namespace = meta::text(&entry.object, "namespace");
        if let Some(around) = store.get("namespaces", namespace).filter(|around| meta::is_deleting(around)) {
            let key = meta::text(around, "name").into();
            self.due.insert(Place { resource: "namespaces".into(), key });
        }
        if object.is_some_and(|object| matters(object)) {
            self.due.insert(place);
        }
    }

    /// Notes who owns the object at `place`, which is gone if there is none.
    fn place(&mut self, place: &Place, object: Option<&Arc<Value>>) {
        if let Some(before) = self.objects.remove(place) {
            self.places.remove(&before.uid);
            for owner in &before.owners {
                if let Some(dependents) = self.dependents.get_mut(owner) {
                    dependents.remove(place);
                    if dependents.is_empty() {
                        self.dependents.remove(owner);
                    }
                }
            }
        }
        let Some(object) = object else { return };
        let uid = meta::text(object, "uid").to_owned();
        let owners: BTreeSet<String> = meta::owners(object)
            .filter_map(|owner| owner.get("uid").and_then(Value::as_str).map(str::to_owned))
            .collect();
        for owner in &owners {
            self.dependents.entry(owner.clone()).or_default().insert(place.clone());
        }
        self.places.insert(uid.clone(), place.clone());
        self.objects.insert(place.clone(), Known { uid, owners });
    }
}

/// Whether there may be something to do about an object: it has owners, or is being deleted.
fn matters(object: &Value) -> bool {
    meta::is_deleting(object) || meta::owners(object).next().is_some()
}
