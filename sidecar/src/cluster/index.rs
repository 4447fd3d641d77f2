//! The newest known version of each of our driver's Buckets: what the watch showed, what was read, and what our own
//! writes returned (R5).

use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use cosi_lifecycle::bucket::BucketView;

type Name = Arc<str>;
type Entries = HashMap<Name, Arc<BucketView>>;

/// A map from name to view that never goes back in time.
#[derive(Debug, Default)]
pub struct Index {
    entries: Mutex<Entries>,
}

/// What a change of the index did to an entry.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The entry before.
    pub before: Option<Arc<BucketView>>,
    /// The entry now.
    pub after: Option<Arc<BucketView>>,
}

impl Change {
    /// Whether work can depend on it.
    #[must_use]
    pub fn matters(&self) -> bool {
        BucketView::matters(self.before.as_deref(), self.after.as_deref())
    }
}

impl Index {
    /// The entry of that name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Arc<BucketView>> {
        self.lock().get(name).cloned()
    }

    /// All names.
    #[must_use]
    pub fn names(&self) -> Vec<Name> {
        self.lock().keys().cloned().collect()
    }

    /// Folds in an object as it was read, or as a write returned it, unless a newer one is there.
    pub fn fold(&self, view: BucketView) -> Change {
        let mut entries = self.lock();
        let before = entries.get(&view.name).cloned();
        if before.as_deref().is_some_and(|b| !is_newer(&view.resource_version, &b.resource_version)) {
            return Change { after: before.clone(), before };
        }
        let name = Arc::clone(&view.name);
        let after = Arc::new(view);
        entries.insert(name, Arc::clone(&after));
        Change { before, after: Some(after) }
    }

    /// Takes the entry out: a delete event at `resource_version`, or a list without it. A newer object under the name
    /// stays.
    pub fn remove(&self, name: &str, resource_version: &str) -> Change {
        let mut entries = self.lock();
        let before = entries.get(name).cloned();
        let newer = before.as_deref().is_some_and(|b| is_newer(&b.resource_version, resource_version));
        if newer {
            return Change { after: before.clone(), before };
        }
        entries.remove(name);
        Change { before, after: None }
    }

    /// Takes the entry out if it is still the one that was known when a live read began that found nothing.
    pub fn remove_known(&self, name: &str, known: Option<&Arc<BucketView>>) {
        let mut entries = self.lock();
        if entries
            .get(name)
            .zip(known)
            .is_some_and(|(now, then)| now.resource_version == then.resource_version)
        {
            entries.remove(name);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Entries> {
        // Nothing panics while the lock is held, and the map is whole between any two statements.
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
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
    use cosi_api::DeletionPolicy;
    use cosi_lifecycle::bucket::ClaimRef;

    fn view(name: &str, version: &str) -> BucketView {
        BucketView {
            name: name.into(),
            driver: "d.example".into(),
            uid: "u".into(),
            resource_version: version.into(),
            deleting: false,
            finalizer: false,
            other_finalizers: Box::default(),
            claim_deleting: false,
            let_go: false,
            policy: DeletionPolicy::Delete,
            claim: ClaimRef { name: "c".into(), namespace: "n".into(), uid: None },
            protocols: Box::default(),
            parameters: None,
            existing_id: None,
            ready: None,
            bucket_id: None,
        }
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
        index.fold(view("b", "10"));
        let change = index.fold(view("b", "9"));
        assert_eq!(change.before, change.after);
        assert_eq!(&*index.get("b").unwrap().resource_version, "10");
    }

    #[test]
    fn a_delete_event_older_than_a_recreated_object_is_ignored() {
        let index = Index::default();
        index.fold(view("b", "20"));
        assert!(index.remove("b", "15").after.is_some());
        assert!(index.remove("b", "21").after.is_none());
    }

    #[test]
    fn a_live_read_that_found_nothing_takes_out_only_what_was_known_then() {
        let index = Index::default();
        let known = index.fold(view("b", "1")).after;
        index.fold(view("b", "5"));
        index.remove_known("b", known.as_ref());
        assert!(index.get("b").is_some());
        index.remove_known("b", index.get("b").as_ref());
        assert!(index.get("b").is_none());
    }

    #[test]
    fn an_own_write_makes_its_watch_event_no_news() {
        let index = Index::default();
        index.fold(view("b", "1"));
        let written = BucketView { finalizer: true, ..view("b", "2") };
        assert!(index.fold(written.clone()).matters());
        assert!(!index.fold(written).matters());
    }
}
