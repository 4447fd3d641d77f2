//! The API server of one name, with the rules that the real one keeps.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use cosi_api::names::FINALIZER;

use super::Held;
use crate::{Time, Uid, WriteFailure};

/// Whoever else holds on to objects.
pub(crate) const FOREIGN_FINALIZER: &str = "example.com/hold";

/// The object as the API server holds it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Object<V> {
    pub(crate) view: V,
    pub(crate) error: Option<String>,
    pub(crate) labels: u32,
}

/// The API server.
#[derive(Debug)]
pub(crate) struct Api<V> {
    pub(crate) object: Option<Object<V>>,
    pub(crate) version: u64,
    uids: u32,
    /// What a watch has still to deliver.
    pub(super) events: VecDeque<WatchEvent<V>>,
    /// Now.
    pub(crate) now: Time,
    /// The last state of objects that are gone.
    pub(crate) gone: BTreeMap<Uid, Object<V>>,
}

/// A change, as a watch tells of it.
#[derive(Debug)]
pub(super) struct WatchEvent<V> {
    pub(super) version: u64,
    pub(super) view: Option<Arc<V>>,
    pub(super) at: Time,
}

pub(crate) type Written<V> = Result<Arc<V>, WriteFailure>;

impl<V: Held> Api<V> {
    pub(crate) fn new() -> Self {
        let (events, gone) = (VecDeque::new(), BTreeMap::new());
        Self { object: None, version: 100, uids: 0, events, now: Time::default(), gone }
    }

    pub(crate) fn view(&self) -> Option<Arc<V>> {
        self.object.as_ref().map(|o| Arc::new(o.view.clone()))
    }

    /// Something changes, be it another object than this.
    pub(crate) fn next_version(&mut self) -> u64 {
        self.version += 1;
        self.version
    }

    /// A new object; `make` is told its number, which is in its UID, and its version.
    pub(crate) fn put(&mut self, make: impl FnOnce(u32, u64) -> V) {
        self.uids += 1;
        let version = self.next_version();
        self.object = Some(Object { view: make(self.uids, version), error: None, labels: 0 });
        self.publish();
    }

    fn publish(&mut self) {
        self.events.push_back(WatchEvent { version: self.version, view: self.view(), at: self.now });
    }

    /// A change by whomever. One that changes nothing makes no version and no event; a deleting object without
    /// finalizers is gone.
    pub(crate) fn change(&mut self, change: impl FnOnce(&mut Object<V>)) -> Option<Arc<V>> {
        let mut object = self.object.clone()?;
        change(&mut object);
        if self.object.as_ref() == Some(&object) {
            return self.view();
        }
        object.view.set_version(self.next_version());
        let view = Arc::new(object.view.clone());
        if view.is_gone() {
            self.gone.insert(view.uid().clone(), object);
            self.object = None;
        } else {
            self.object = Some(object);
        }
        self.publish();
        Some(view)
    }

    pub(crate) fn write_finalizers(
        &mut self,
        uid: &str,
        version: Option<&str>,
        all: &[String],
    ) -> Written<V> {
        let object = self.conditions(version)?;
        if object.view.uid().as_ref() != uid {
            return Err(invalid("uid differs"));
        }
        let view = with_finalizers(&object.view, all)?;
        self.change(|o| o.view = view).ok_or(WriteFailure::NotFound)
    }

    /// Whether the object is there and still the one that was read.
    pub(crate) fn conditions(&self, version: Option<&str>) -> Result<&Object<V>, WriteFailure> {
        let object = self.object.as_ref().ok_or(WriteFailure::NotFound)?;
        match version {
            Some(version) if version != object.view.version() => Err(WriteFailure::Conflict),
            _ => Ok(object),
        }
    }
}

/// The object with these finalizers.
pub(crate) fn with_finalizers<V: Held>(view: &V, all: &[String]) -> Result<V, WriteFailure> {
    let ours = all.iter().any(|f| f == FINALIZER);
    let others: Box<[Box<str>]> = all.iter().filter(|f| *f != FINALIZER).map(|f| f.as_str().into()).collect();
    let added = (ours && !view.ours()) || others.iter().any(|f| !view.others().contains(f));
    if view.is_deleting() && added {
        return Err(invalid("no finalizer can be added to a deleting object"));
    }
    let mut view = view.clone();
    view.set_finalizers(ours, others);
    Ok(view)
}

pub(crate) fn invalid(message: &str) -> WriteFailure {
    WriteFailure::Invalid { message: message.to_owned() }
}

pub(super) fn other(message: &str) -> WriteFailure {
    WriteFailure::Other { message: message.to_owned(), retry_after: None }
}
