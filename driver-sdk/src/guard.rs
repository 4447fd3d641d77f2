//! Which names and ids are being worked on: at most one call for each (R3, COSI-GEN-4).
//!
//! A create holds its name, and its id too if that follows from the request. A delete holds its id, and the name too if a create
//! of this process answered that id. So the two meet in at least one key whenever anybody can know that they
//! belong together. What is left is a create whose id nobody knows yet: when it answers, the id is checked against the
//! deletes that run at that moment, and the name is remembered under it before the name is let go.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::error::DriverError;
use crate::model::ids::{AccountId, AccountName, BucketId, BucketName};

/// A name or an id that one call at a time may work on.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Key {
    BucketName(BucketName),
    BucketId(BucketId),
    AccountName(AccountName),
    AccountId(AccountId),
}

/// All names and ids that are being worked on in this process.
#[derive(Debug, Clone, Default)]
pub(crate) struct Guards(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    busy: HashSet<Key>,
    /// From an id to the name that it was made under, where one doesn't follow from the other.
    made_as: HashMap<Key, Key>,
}

/// Other work for a name or id of this call has not ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Busy;

/// The right to work on some names and ids; given back when dropped.
#[derive(Debug)]
pub(crate) struct Claim {
    guards: Guards,
    keys: Vec<Key>,
}

impl Guards {
    /// Takes all of the keys, and the names that belong to ids among them, or none.
    pub(crate) fn claim(&self, keys: impl IntoIterator<Item = Key>) -> Result<Claim, Busy> {
        let mut state = self.lock();
        let mut wanted: HashSet<Key> = keys.into_iter().collect();
        let names: Vec<_> = wanted.iter().filter_map(|key| state.made_as.get(key).cloned()).collect();
        wanted.extend(names);
        if !state.busy.is_disjoint(&wanted) {
            return Err(Busy);
        }
        state.busy.extend(wanted.iter().cloned());
        Ok(Claim { guards: self.clone(), keys: wanted.into_iter().collect() })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Every change is complete before anything could panic, so what a poisoned lock holds is sound.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Claim {
    /// The work has made (or found) `id` under `name`.
    ///
    /// Fails if other work for that id is running: what was made may be gone in a moment.
    pub(crate) fn made(&self, name: Key, id: Key) -> Result<(), Busy> {
        if self.keys.contains(&id) {
            return Ok(());
        }
        let mut state = self.guards.lock();
        if state.busy.contains(&id) {
            return Err(Busy);
        }
        state.made_as.insert(id, name);
        Ok(())
    }

    /// The work has made sure that nothing is left of these keys.
    pub(crate) fn gone(&self) {
        let mut state = self.guards.lock();
        state.made_as.retain(|id, name| !self.keys.contains(id) && !self.keys.contains(name));
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        let mut state = self.guards.lock();
        for key in &self.keys {
            state.busy.remove(key);
        }
    }
}

impl From<Busy> for DriverError {
    fn from(Busy: Busy) -> Self {
        Self::aborted("an earlier call for the same name or id has not ended; try again")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> Key {
        Key::BucketName(BucketName::new(text).unwrap())
    }

    fn id(text: &str) -> Key {
        Key::BucketId(BucketId::new(text).unwrap())
    }

    #[test]
    fn a_name_is_free_again_when_the_claim_is_dropped() {
        let guards = Guards::default();
        let claim = guards.claim([name("a")]).unwrap();
        assert_eq!(guards.claim([name("a")]).unwrap_err(), Busy);
        drop(claim);
        assert!(guards.claim([name("a")]).is_ok());
    }

    #[test]
    fn a_claim_that_fails_takes_nothing() {
        let guards = Guards::default();
        let _claim = guards.claim([name("a")]).unwrap();
        assert!(guards.claim([id("1"), name("a")]).is_err());
        assert!(guards.claim([id("1")]).is_ok());
    }

    #[test]
    fn a_bucket_and_an_account_of_one_name_or_id_do_not_meet() {
        let guards = Guards::default();
        let _all = [
            guards.claim([name("a")]).unwrap(),
            guards.claim([id("a")]).unwrap(),
            guards.claim([Key::AccountName(AccountName::new("a").unwrap())]).unwrap(),
            guards.claim([Key::AccountId(AccountId::new("a").unwrap())]).unwrap(),
        ];
    }

    #[test]
    fn a_delete_by_id_meets_a_repeated_create_of_what_was_made_under_that_id() {
        let guards = Guards::default();
        guards.claim([name("a")]).unwrap().made(name("a"), id("1")).unwrap();
        let again = guards.claim([name("a")]).unwrap();
        assert_eq!(guards.claim([id("1")]).unwrap_err(), Busy);
        drop(again);
        let delete = guards.claim([id("1")]).unwrap();
        assert_eq!(guards.claim([name("a")]).unwrap_err(), Busy);
        delete.gone();
        drop(delete);
        assert!(guards.lock().made_as.is_empty());
    }

    #[test]
    fn a_delete_by_id_cannot_slip_in_between_the_answer_of_a_create_and_the_release_of_its_name() {
        let guards = Guards::default();
        let create = guards.claim([name("a")]).unwrap();
        create.made(name("a"), id("1")).unwrap();
        assert_eq!(guards.claim([id("1")]).unwrap_err(), Busy);
    }

    #[test]
    fn a_create_that_answers_an_id_under_deletion_is_busy() {
        let guards = Guards::default();
        let create = guards.claim([name("a")]).unwrap();
        let _delete = guards.claim([id("1")]).unwrap();
        assert_eq!(create.made(name("a"), id("1")), Err(Busy));
    }

    #[test]
    fn a_delete_by_name_forgets_the_id() {
        let guards = Guards::default();
        guards.claim([name("a")]).unwrap().made(name("a"), id("1")).unwrap();
        guards.claim([name("a")]).unwrap().gone();
        assert!(guards.lock().made_as.is_empty());
    }

    #[test]
    fn an_id_that_follows_from_the_name_costs_no_memory() {
        let guards = Guards::default();
        let create = guards.claim([name("a"), id("a")]).unwrap();
        create.made(name("a"), id("a")).unwrap();
        assert!(guards.lock().made_as.is_empty());
    }
}
