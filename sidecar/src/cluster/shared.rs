//! One copy of what many objects have alike.

use std::sync::{Arc, Mutex, PoisonError, Weak};

/// How many different values are looked through. There are as many as classes; whoever has more pays with memory only.
const MOST: usize = 64;

/// Values in use, each once.
#[derive(Debug)]
pub(super) struct Shared<T>(Mutex<Vec<Weak<T>>>);

impl<T> Default for Shared<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T: PartialEq> Shared<T> {
    /// The copy that others use already, or this one, for others to use.
    pub(super) fn share(&self, value: Arc<T>) -> Arc<T> {
        // Nothing panics while the lock is held.
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(same) = known.iter().filter_map(Weak::upgrade).find(|other| *other == value) {
            return same;
        }
        known.retain(|other| other.strong_count() > 0);
        if known.len() < MOST {
            known.push(Arc::downgrade(&value));
        }
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_are_kept_once_and_only_while_somebody_uses_them() {
        let shared = Shared::default();
        let one = shared.share(Arc::new(7));
        assert!(Arc::ptr_eq(&one, &shared.share(Arc::new(7))));
        assert!(!Arc::ptr_eq(&one, &shared.share(Arc::new(8))));
        drop(one);
        shared.share(Arc::new(9));
        assert_eq!(shared.0.lock().unwrap().len(), 1);
    }
}
