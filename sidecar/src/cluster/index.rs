//! The newest known version of each object that is ours: what the watch showed, what was read, and what our own writes
//! returned (R5).

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What an object is known by: the name of a Bucket, the UID of a BucketAccess. Also the key of its work.
pub type Key = Arc<str>;

/// An object that an index can hold.
pub trait Indexed {
    /// Its key.
    fn key(&self) -> &Key;

    /// Its UID.
    fn uid(&self) -> &str;

    /// Its version.
    fn resource_version(&self) -> &str;

    /// Whether work can depend on the difference between two views of an object.
    fn matters(before: Option<&Self>, after: Option<&Self>) -> bool;

    /// It is being deleted and nothing holds it: the API server deletes such an object in the step that made it so.
    fn is_gone(&self) -> bool;

    /// The keys, in another index, of what its work waits for.
    fn waits_for(&self) -> impl Iterator<Item = &Key>;
}

/// A map from key to view that never goes back in time.
pub struct Index<V> {
    inner: Mutex<Inner<V>>,
    listener: Box<dyn Fn(&Key) + Send + Sync>,
}

#[derive(Debug)]
struct Inner<V> {
    entries: BTreeMap<Key, Arc<V>>,
    /// Who waits for what.
    waiting: BTreeMap<Key, BTreeSet<Key>>,
    /// What a write or a live read showed to be gone, until the watch has told so, too.
    gone: BTreeMap<Key, Arc<V>>,
}

/// What a change of the index did to an entry.
#[derive(Debug)]
pub struct Change<V> {
    /// The entry before.
    pub before: Option<Arc<V>>,
    /// The entry now.
    pub after: Option<Arc<V>>,
}

impl<V: Indexed> Change<V> {
    /// Whether work can depend on it.
    #[must_use]
    pub fn matters(&self) -> bool {
        V::matters(self.before.as_deref(), self.after.as_deref())
    }

    /// The key of the entry; `None` if there is and was none.
    #[must_use]
    pub fn key(&self) -> Option<&Key> {
        self.after.as_deref().or(self.before.as_deref()).map(V::key)
    }
}

impl<V: Indexed> Default for Index<V> {
    fn default() -> Self {
        Self::with_listener(|_| {})
    }
}

impl<V: Indexed> Index<V> {
    /// An empty index that calls `listener` with the key of each entry that changes so that work can depend on it, whoever
    /// made the change.
    pub fn with_listener(listener: impl Fn(&Key) + Send + Sync + 'static) -> Self {
        let inner = Inner { entries: BTreeMap::new(), waiting: BTreeMap::new(), gone: BTreeMap::new() };
        Self { inner: Mutex::new(inner), listener: Box::new(listener) }
    }

    /// The entry of that key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<Arc<V>> {
        self.lock().entries.get(key).cloned()
    }

    /// All keys.
    #[must_use]
    pub fn keys(&self) -> Vec<Key> {
        self.lock().entries.keys().cloned().collect()
    }

    /// The keys of the entries whose work waits for `key` of another index.
    #[must_use]
    pub fn waiting_for(&self, key: &str) -> Vec<Key> {
        self.lock().waiting.get(key).into_iter().flatten().cloned().collect()
    }

    /// Folds in an object as the watch tells of it, unless a newer one is there, or that very object is known to be gone: what
    /// the watch tells of it then is old, and would look like something that a predecessor left behind.
    pub fn fold_watched(&self, view: V) -> Change<V> {
        self.fold_unless(view, |view, gone| view.uid() == gone.uid() || is_older(view, gone))
    }

    /// Folds in an object as it was read, or as a write returned it, unless a newer one is there or is known to be gone.
    pub fn fold(&self, view: V) -> Change<V> {
        self.fold_unless(view, is_older)
    }

    /// `is_old` is asked about a view while an object of that key is known to be gone.
    fn fold_unless(&self, view: V, is_old: impl FnOnce(&V, &V) -> bool) -> Change<V> {
        let mut inner = self.lock();
        let before = inner.entries.get(view.key()).cloned();
        if let Some(gone) = inner.gone.get(view.key()) {
            if is_old(&view, gone) {
                return Change { after: before.clone(), before };
            }
            inner.gone.remove(view.key());
        }
        if before.as_deref().is_some_and(|b| !is_newer(view.resource_version(), b.resource_version())) {
            return Change { after: before.clone(), before };
        }
        let after = Some(Arc::new(view));
        let change = inner.replace(before, after);
        drop(inner);
        self.told(change)
    }

    /// Takes the entry out: a delete event at `resource_version`, or a list without it. A newer object under the key
    /// stays.
    pub fn remove(&self, key: &str, resource_version: &str) -> Change<V> {
        self.remove_unless(key, false, |entry| is_newer(entry.resource_version(), resource_version))
    }

    /// Takes the entry out if it is still the one that was known when a live read began that found nothing.
    pub fn remove_known(&self, key: &str, known: Option<&Arc<V>>) -> Change<V> {
        self.remove_unless(key, true, |entry| {
            known.is_none_or(|known| known.resource_version() != entry.resource_version())
        })
    }

    /// Takes the entry out: a write returned the object as the last thing that there was of it.
    pub fn remove_written(&self, last: &V) -> Change<V> {
        self.remove_unless(last.key(), true, |entry| {
            is_newer(entry.resource_version(), last.resource_version())
        })
    }

    /// The watch has told that the object with that UID is gone: nothing old will come any more.
    pub fn caught_up(&self, key: &str, uid: &str) {
        let mut inner = self.lock();
        if inner.gone.get(key).is_some_and(|gone| gone.uid() == uid) {
            inner.gone.remove(key);
        }
    }

    /// A complete list has shown that these exist, and no others.
    pub fn caught_up_by_list(&self, listed: impl Fn(&Key) -> bool) {
        self.lock().gone.retain(|key, _| listed(key));
    }

    /// `ahead`: the watch does not know of it yet.
    fn remove_unless(&self, key: &str, ahead: bool, stays: impl FnOnce(&V) -> bool) -> Change<V> {
        let mut inner = self.lock();
        let before = inner.entries.get(key).cloned();
        if before.as_deref().is_some_and(stays) {
            return Change { after: before.clone(), before };
        }
        let change = inner.replace(before, None);
        if let Some(before) = change.before.as_ref().filter(|_| ahead) {
            inner.gone.insert(Arc::clone(before.key()), Arc::clone(before));
        }
        drop(inner);
        self.told(change)
    }

    fn told(&self, change: Change<V>) -> Change<V> {
        if let Some(key) = change.key().filter(|_| change.matters()) {
            (self.listener)(key);
        }
        change
    }

    fn lock(&self) -> MutexGuard<'_, Inner<V>> {
        // Nothing panics while the lock is held, and the maps agree between any two calls.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<V: Indexed> Inner<V> {
    fn replace(&mut self, before: Option<Arc<V>>, after: Option<Arc<V>>) -> Change<V> {
        if let Some(before) = &before {
            for prerequisite in before.waits_for() {
                if let Some(waiting) = self.waiting.get_mut(prerequisite) {
                    waiting.remove(before.key());
                    if waiting.is_empty() {
                        self.waiting.remove(prerequisite);
                    }
                }
            }
            self.entries.remove(before.key());
        }
        if let Some(after) = &after {
            for prerequisite in after.waits_for() {
                let waiting = self.waiting.entry(Arc::clone(prerequisite)).or_default();
                waiting.insert(Arc::clone(after.key()));
            }
            self.entries.insert(Arc::clone(after.key()), Arc::clone(after));
        }
        Change { before, after }
    }
}

impl<V: fmt::Debug> fmt::Debug for Index<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Index").field("inner", &self.inner).finish_non_exhaustive()
    }
}

fn is_older<V: Indexed>(view: &V, gone: &V) -> bool {
    !is_newer(view.resource_version(), gone.resource_version())
}

/// Whether resourceVersion `a` is newer than `b`: both are decimal numbers of any length. If one is not, what was read
/// last counts as newer.
#[must_use]
pub fn is_newer(a: &str, b: &str) -> bool {
    let number = |v: &str| !v.is_empty() && v.bytes().all(|c| c.is_ascii_digit());
    if !number(a) || !number(b) {
        return a != b;
    }
    let (a, b) = (a.trim_start_matches('0'), b.trim_start_matches('0'));
    a.len().cmp(&b.len()).then_with(|| a.cmp(b)) == Ordering::Greater
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Debug, PartialEq)]
    struct Thing {
        key: Key,
        uid: &'static str,
        version: &'static str,
        content: u8,
        waits_for: Vec<Key>,
    }

    impl Indexed for Thing {
        fn key(&self) -> &Key {
            &self.key
        }

        fn uid(&self) -> &str {
            self.uid
        }

        fn resource_version(&self) -> &str {
            self.version
        }

        fn matters(before: Option<&Self>, after: Option<&Self>) -> bool {
            before.map(|t| t.content) != after.map(|t| t.content)
        }

        fn is_gone(&self) -> bool {
            false
        }

        fn waits_for(&self) -> impl Iterator<Item = &Key> {
            self.waits_for.iter()
        }
    }

    fn thing(version: &'static str) -> Thing {
        Thing { key: "a".into(), uid: "u", version, content: 0, waits_for: Vec::new() }
    }

    #[rstest::rstest]
    #[case("10", "9", true)]
    #[case("9", "10", false)]
    #[case("7", "7", false)]
    #[case("0010", "9", true)]
    #[case("18446744073709551616", "18446744073709551615", true)]
    #[case("100000000000000000000000000000", "99999999999999999999999999999", true)]
    #[case("abc", "9", true)]
    #[case("abc", "abc", false)]
    fn resource_versions_compare_as_numbers_of_any_length(
        #[case] a: &str,
        #[case] b: &str,
        #[case] newer: bool,
    ) {
        assert_eq!(is_newer(a, b), newer);
    }

    #[test]
    fn an_older_version_never_replaces_a_newer_one() {
        let index = Index::default();
        index.fold(thing("10"));
        let change = index.fold(Thing { content: 1, ..thing("9") });
        assert!(!change.matters());
        assert_eq!(index.get("a").unwrap().version, "10");
    }

    #[test]
    fn a_delete_event_older_than_a_recreated_object_is_ignored() {
        let index = Index::default();
        index.fold(thing("20"));
        assert!(index.remove("a", "15").after.is_some());
        assert!(index.remove("a", "21").after.is_none());
    }

    #[test]
    fn a_live_read_that_found_nothing_takes_out_only_what_was_known_then() {
        let index = Index::default();
        let known = index.fold(thing("1")).after;
        index.fold(thing("5"));
        index.remove_known("a", known.as_ref());
        index.remove_known("a", None);
        assert!(index.get("a").is_some());
        index.remove_known("a", index.get("a").as_ref());
        assert!(index.get("a").is_none());
    }

    #[test]
    fn an_own_write_makes_its_watch_event_no_news() {
        let index = Index::default();
        index.fold(thing("1"));
        let written = Thing { content: 1, ..thing("2") };
        assert!(index.fold(written.clone()).matters());
        assert!(!index.fold(written).matters());
    }

    /// A late watch tells of what was, while its end is known from an own write or a live read.
    #[test]
    fn what_is_gone_does_not_come_back_by_old_news_but_its_successor_does() {
        let index = Index::default();
        index.fold(thing("1"));
        index.remove_written(&thing("5"));
        assert!(index.fold_watched(thing("3")).after.is_none());
        assert!(index.fold(thing("1")).after.is_none(), "a read that was answered before");
        let predecessor = Thing { uid: "t", ..thing("1") };
        assert!(index.fold_watched(predecessor).after.is_none(), "an older object of that name");
        assert!(index.fold_watched(thing("4")).after.is_none(), "nor does that make it forgotten");
        let successor = Thing { uid: "v", ..thing("7") };
        assert!(index.fold_watched(successor).after.is_some(), "another object of that name");

        index.remove_known("a", index.get("a").as_ref());
        assert!(index.fold_watched(Thing { uid: "v", ..thing("8") }).after.is_none());
        index.caught_up("a", "u");
        assert!(
            index.fold_watched(Thing { uid: "v", ..thing("8") }).after.is_none(),
            "that was the other one's end"
        );
        assert!(index.fold(Thing { uid: "v", ..thing("9") }).after.is_some(), "it was there after all");

        index.remove_known("a", index.get("a").as_ref());
        index.caught_up_by_list(|_| true);
        assert!(index.fold_watched(Thing { uid: "v", ..thing("9") }).after.is_none(), "an old list");
        index.caught_up_by_list(|_| false);
        assert!(index.lock().gone.is_empty(), "nothing is kept for ever");
    }

    #[test]
    fn the_listener_hears_of_every_change_that_matters_and_of_no_other() {
        let heard = Arc::new(Mutex::new(0));
        let counter = Arc::clone(&heard);
        let index = Index::with_listener(move |_| *counter.lock().unwrap() += 1);
        index.fold(thing("1"));
        index.fold(thing("2"));
        assert_eq!(*heard.lock().unwrap(), 1, "it is there; its new version is no news");
        index.fold(Thing { content: 1, ..thing("3") });
        index.remove_known("a", index.get("a").as_ref());
        index.remove("a", "9");
        assert_eq!(*heard.lock().unwrap(), 3, "it changed, and it went, once");
    }

    #[test]
    fn who_waits_is_known_by_what_it_waits_for_and_only_as_long_as_it_does() {
        let index = Index::default();
        let waits_for = |names: &[&str]| names.iter().map(|n| Key::from(*n)).collect();
        index.fold(Thing { waits_for: waits_for(&["x", "y"]), ..thing("1") });
        index.fold(Thing { key: "b".into(), waits_for: waits_for(&["x"]), ..thing("1") });
        assert_eq!(index.waiting_for("x"), waits_for(&["a", "b"]));
        index.fold(Thing { waits_for: waits_for(&["y"]), ..thing("2") });
        assert_eq!((index.waiting_for("x"), index.waiting_for("y")), (waits_for(&["b"]), waits_for(&["a"])));
        index.remove("a", "3");
        index.remove("b", "3");
        assert!(index.lock().waiting.is_empty() && index.keys().is_empty());
    }
}
