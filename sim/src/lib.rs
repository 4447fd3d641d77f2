//! Test doubles with memory: a scripted driver and a fault-injecting API proxy.

pub mod proxy;
mod rule;

pub use rule::{PATIENCE, Rule, TimedOut};

use std::sync::{Mutex, MutexGuard, PoisonError};

/// A panic elsewhere must not hide what a double remembers: poisoning is ignored.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
