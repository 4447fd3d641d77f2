//! The keyed queue: one pass per name at a time, waits that a change ends, and the state of each name that has one.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};

use cosi_lifecycle::{Time, Wake};
use tokio::sync::Notify;

/// What is to become of a name after a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Another pass at that time, or when something changes.
    At(Time),
    /// Another pass when something changes; the state is kept.
    Idle,
    /// Nothing is to be remembered.
    Forget,
}

/// A pass to be done.
#[derive(Debug)]
pub struct Taken<K, S> {
    /// The name.
    pub key: K,
    /// Its state; to be given back.
    pub state: S,
    /// Why.
    pub wake: Wake,
}

/// A queue of names with states. At any time each name is waiting, ready or taken, never two of them.
#[derive(Debug)]
pub struct Queue<K, S> {
    inner: Mutex<Inner<K, S>>,
    /// A name became ready.
    ready: Notify,
    /// The earliest wait may have changed.
    rescheduled: Notify,
}

#[derive(Debug)]
struct Inner<K, S> {
    entries: BTreeMap<K, Entry<S>>,
    ready: VecDeque<K>,
    waiting: BTreeSet<(Time, K)>,
    taken: usize,
}

#[derive(Debug)]
struct Entry<S> {
    /// `None` while it is taken.
    state: Option<S>,
    /// What came in since the last pass began.
    wake: Option<Wake>,
    /// When it is due, if it waits.
    due: Option<Time>,
}

impl<K, S> Default for Queue<K, S> {
    fn default() -> Self {
        let inner =
            Inner { entries: BTreeMap::new(), ready: VecDeque::new(), waiting: BTreeSet::new(), taken: 0 };
        Self { inner: Mutex::new(inner), ready: Notify::new(), rescheduled: Notify::new() }
    }
}

impl<K: Clone + Ord + Hash, S: Default> Queue<K, S> {
    /// Makes the name ready now, or again after its current pass.
    pub fn wake(&self, key: K, wake: Wake) {
        if self.lock().wake(key, wake) {
            self.ready.notify_one();
        }
    }

    /// Wakes every name that has a state.
    pub fn wake_all(&self, wake: Wake) {
        let mut inner = self.lock();
        let keys: Vec<_> = inner.entries.keys().cloned().collect();
        for key in keys {
            if inner.wake(key, wake) {
                self.ready.notify_one();
            }
        }
    }

    /// Whether a pass for the name is under way, or such a state is kept for it.
    pub fn is_busy_or(&self, key: &K, keeps: impl FnOnce(&S) -> bool) -> bool {
        self.lock().entries.get(key).is_some_and(|e| e.state.as_ref().is_none_or(keeps))
    }

    /// How many passes are under way.
    pub fn taken(&self) -> usize {
        self.lock().taken
    }

    /// The next pass; waits until there is one.
    pub async fn take(&self) -> Taken<K, S> {
        loop {
            let ready = self.ready.notified();
            let (taken, more) = {
                let mut inner = self.lock();
                (inner.take(), !inner.ready.is_empty())
            };
            if let Some(taken) = taken {
                // Two wakes may have left one permit only.
                if more {
                    self.ready.notify_one();
                }
                return taken;
            }
            ready.await;
        }
    }

    /// Gives a name back after its pass.
    pub fn put(&self, key: K, state: S, next: Next) {
        let mut inner = self.lock();
        if inner.put(key, state, next) {
            self.ready.notify_one();
        }
        drop(inner);
        self.rescheduled.notify_one();
    }

    /// Moves what is due to the ready end, for ever. `now` reads the clock.
    pub async fn run_timers(&self, now: impl Fn() -> Time) {
        loop {
            let rescheduled = self.rescheduled.notified();
            let (made_ready, next) = self.lock().expire(now());
            for _ in 0..made_ready {
                self.ready.notify_one();
            }
            match next {
                Some(at) => {
                    // A timer of this runtime may be early by its resolution, hence the loop.
                    let nap = now().until(at) + std::time::Duration::from_millis(1);
                    let _ = tokio::time::timeout(nap, rescheduled).await;
                }
                None => rescheduled.await,
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner<K, S>> {
        // Nothing panics while the lock is held, and the fields agree between any two calls.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Clone + Ord + Hash, S: Default> Inner<K, S> {
    /// Returns whether the name became ready.
    fn wake(&mut self, key: K, wake: Wake) -> bool {
        let entry = self.entries.entry(key.clone()).or_insert_with(|| Entry {
            state: Some(S::default()),
            wake: None,
            due: None,
        });
        let queued = entry.wake.is_some();
        entry.wake = Some(entry.wake.unwrap_or_default().and(wake));
        if let Some(due) = entry.due.take() {
            self.waiting.remove(&(due, key.clone()));
        }
        let ready = entry.state.is_some() && !queued;
        if ready {
            self.ready.push_back(key);
        }
        ready
    }

    fn take(&mut self) -> Option<Taken<K, S>> {
        let key = self.ready.pop_front()?;
        let entry = self.entries.get_mut(&key)?;
        let state = entry.state.take()?;
        let wake = entry.wake.take().unwrap_or_default();
        self.taken += 1;
        Some(Taken { key, state, wake })
    }

    /// Returns whether the name is ready again at once.
    fn put(&mut self, key: K, state: S, next: Next) -> bool {
        self.taken = self.taken.saturating_sub(1);
        let Some(entry) = self.entries.get_mut(&key) else { return false };
        entry.state = Some(state);
        if entry.wake.is_some() {
            self.ready.push_back(key);
            return true;
        }
        match next {
            Next::At(due) => {
                entry.due = Some(due);
                self.waiting.insert((due, key));
            }
            Next::Idle => {}
            Next::Forget => {
                self.entries.remove(&key);
            }
        }
        false
    }

    /// Makes ready what is due; returns how many, and when the next is due.
    fn expire(&mut self, now: Time) -> (usize, Option<Time>) {
        let mut made_ready = 0;
        while let Some((due, key)) = self.waiting.first().cloned() {
            if due > now {
                return (made_ready, Some(due));
            }
            made_ready += usize::from(self.wake(key, Wake::default()));
        }
        (made_ready, None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    type TestQueue = Queue<&'static str, u32>;

    fn at(seconds: u64) -> Time {
        Time::at(Duration::from_secs(seconds))
    }

    #[tokio::test]
    async fn a_name_that_is_woken_twice_before_its_pass_is_taken_once() {
        let queue = TestQueue::default();
        queue.wake("a", Wake::CHANGED);
        queue.wake("a", Wake::CONNECTED);
        let taken = queue.take().await;
        assert_eq!(taken.wake, Wake::CHANGED.and(Wake::CONNECTED));
        assert!(queue.lock().take().is_none());
    }

    #[tokio::test]
    async fn a_name_that_is_woken_during_its_pass_gets_another_one_and_never_two_at_a_time() {
        let queue = TestQueue::default();
        queue.wake("a", Wake::CHANGED);
        let taken = queue.take().await;
        queue.wake("a", Wake::CHANGED);
        assert!(queue.lock().take().is_none());
        assert!(queue.is_busy_or(&"a", |_| false));
        queue.put("a", taken.state + 7, Next::Idle);
        let again = queue.take().await;
        assert_eq!((again.state, again.wake), (7, Wake::CHANGED));
    }

    #[tokio::test]
    async fn a_wait_ends_in_time_and_is_no_change() {
        let queue = TestQueue::default();
        queue.wake("a", Wake::CHANGED);
        let taken = queue.take().await;
        queue.put("a", taken.state, Next::At(at(10)));
        assert_eq!(queue.lock().expire(at(9)), (0, Some(at(10))));
        assert_eq!(queue.lock().expire(at(10)), (1, None));
        assert_eq!(queue.take().await.wake, Wake::default());
    }

    #[tokio::test]
    async fn a_change_ends_a_wait_at_once_and_the_timer_does_not_fire_later() {
        let queue = TestQueue::default();
        queue.wake("a", Wake::CHANGED);
        let taken = queue.take().await;
        queue.put("a", taken.state, Next::At(at(300)));
        queue.wake("a", Wake::CHANGED);
        let taken = queue.take().await;
        queue.put("a", taken.state, Next::Idle);
        assert_eq!(queue.lock().expire(at(1000)), (0, None));
    }

    #[tokio::test]
    async fn a_forgotten_name_starts_anew_unless_it_was_woken_meanwhile() {
        let queue = TestQueue::default();
        queue.wake("a", Wake::CHANGED);
        queue.take().await;
        queue.put("a", 5, Next::Forget);
        assert!(queue.lock().entries.is_empty());
        queue.wake("a", Wake::CHANGED);
        queue.take().await;
        queue.wake("a", Wake::CHANGED);
        queue.put("a", 9, Next::Forget);
        assert_eq!(queue.take().await.state, 9);
    }

    #[tokio::test]
    async fn timers_make_ready_what_is_due_and_not_before() {
        let queue = TestQueue::default();
        let start = std::time::Instant::now();
        let now = || Time::at(start.elapsed());
        queue.wake("a", Wake::CHANGED);
        let taken = queue.take().await;
        let due = now() + Duration::from_millis(30);
        queue.put("a", taken.state, Next::At(due));
        let taken = tokio::select! {
            taken = queue.take() => taken,
            () = queue.run_timers(now) => unreachable!("timers run for ever"),
        };
        assert_eq!(taken.key, "a");
        assert!(now() >= due);
    }
}
