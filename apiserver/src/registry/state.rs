//! Everything that a write changes.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use crate::clock::Uids;
use crate::store::Store;

/// How long an Event is kept after its last change.
const EVENTS_LAST: SignedDuration = SignedDuration::from_hours(1);
/// The name under which Events are stored.
const EVENTS: &str = "events";

/// The objects, and what is needed to write more.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) store: Store,
    pub(crate) uids: Uids,
    passing: VecDeque<Passing>,
    /// The objects that a real server stores in the form in which they were applied, which isn't that in which it reads
    /// them. The next write changes those even if it changes nothing that is shown.
    crude: HashSet<(Arc<str>, String)>,
}

/// An Event that goes at a time, if it does not change before.
#[derive(Debug)]
struct Passing {
    at: Timestamp,
    key: String,
    revision: u64,
}

impl State {
    pub(crate) fn new(store: Store, uids: Uids) -> Self {
        Self { store, uids, passing: VecDeque::new(), crude: HashSet::new() }
    }

    /// Notes in which form the object is stored.
    pub(crate) fn note_form(&mut self, resource: &Arc<str>, key: &str, crude: bool) {
        let place = (Arc::clone(resource), key.to_owned());
        if crude {
            self.crude.insert(place);
        } else {
            self.crude.remove(&place);
        }
    }

    /// Whether the object is stored in another form than the one in which it is read.
    pub(crate) fn is_crude(&self, resource: &Arc<str>, key: &str) -> bool {
        !self.crude.is_empty() && self.crude.contains(&(Arc::clone(resource), key.to_owned()))
    }

    /// Notes that the Event that was just written is not kept for ever.
    pub(crate) fn passes(&mut self, key: &str, now: Timestamp) {
        if let Ok(at) = now.checked_add(EVENTS_LAST) {
            self.passing.push_back(Passing { at, key: key.to_owned(), revision: self.store.revision() });
        }
    }

    /// Removes the Events whose time has come.
    pub(crate) fn expire(&mut self, now: Timestamp) {
        while self.passing.front().is_some_and(|first| first.at <= now) {
            let Some(Passing { key, revision, .. }) = self.passing.pop_front() else { return };
            let object = self.store.get(EVENTS, &key);
            let current = object.is_some_and(|object| super::revision(object) == Ok(revision));
            if current {
                self.store.remove(&Arc::from(EVENTS), &key);
            }
        }
    }
}
