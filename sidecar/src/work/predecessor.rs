//! Which objects a predecessor of this process may have sent calls for (R3).

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use cosi_lifecycle::Time;

use crate::cluster::Key;

/// Objects that were there when this process began to act: as leader, or at all. For what came later, nobody but this process sends anything.
#[derive(Debug)]
pub struct Predecessor {
    done: Time,
    early: Mutex<Early>,
}

#[derive(Debug, Default)]
struct Early {
    complete: bool,
    keys: HashSet<Key>,
}

impl Predecessor {
    /// A predecessor whose calls have certainly ended at `done`.
    #[must_use]
    pub fn new(done: Time) -> Self {
        Self { done, early: Mutex::default() }
    }

    /// An object was seen.
    pub fn seen(&self, key: &Key) {
        let mut early = self.lock();
        if !early.complete {
            early.keys.insert(Key::clone(key));
        }
    }

    /// All objects that were there have been seen.
    pub fn listed(&self) {
        self.lock().complete = true;
    }

    /// When a predecessor's calls for the object have certainly ended; the clock's origin if it cannot have sent any. Its
    /// calls may have left something for ever, so the difference counts long after they have ended.
    pub fn done(&self, key: &Key) -> Time {
        let early = self.lock();
        if early.complete && !early.keys.contains(key) { Time::default() } else { self.done }
    }

    fn lock(&self) -> MutexGuard<'_, Early> {
        // Nothing panics while the lock is held.
        self.early.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// R3, a new leader.
    #[test]
    fn only_what_was_there_at_the_start_can_have_had_a_predecessors_calls() {
        let done = Time::at(Duration::from_secs(30));
        let predecessor = Predecessor::new(done);
        let (early, late) = ("early".into(), "late".into());
        predecessor.seen(&early);
        assert_eq!(predecessor.done(&early), done);
        assert_eq!(predecessor.done(&late), done, "the list is not complete yet");
        predecessor.listed();
        predecessor.seen(&late);
        assert_eq!(predecessor.done(&early), done);
        assert_eq!(predecessor.done(&late), Time::default());
    }
}
