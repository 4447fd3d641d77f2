//! Schedules by chance, on all cores.

use std::panic::resume_unwind;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::schedule::Schedule;
use crate::{Bug, Options, SetupError, Violation, run, run_with};

/// How a search went.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// How many schedules were run.
    pub schedules: u64,
    /// How many faults met a step in them.
    pub struck: u64,
    /// Which of them broke something, and what; the first ones.
    pub violations: Vec<(Schedule, Violation)>,
    /// How long it took.
    pub took: Duration,
}

/// How a bug was found.
#[derive(Clone, Debug)]
pub struct Caught {
    /// How many schedules it took.
    pub needed: u64,
    /// The last of them.
    pub schedule: Schedule,
    /// What it broke.
    pub violation: Violation,
}

/// Runs `schedules` with the bug, one after the other, until one breaks something.
///
/// # Errors
/// The world could not be made.
pub fn catch(bug: Bug, schedules: impl Iterator<Item = Schedule>) -> Result<Option<Caught>, SetupError> {
    for (needed, schedule) in (1..).zip(schedules) {
        let outcome = run_with(&schedule, Options { traced: false, bug: Some(bug) })?;
        // What breaks without the bug, too, is no catch but a finding of its own.
        if let Some(violation) = outcome.violation
            && run(&schedule)?.violation.is_none()
        {
            return Ok(Some(Caught { needed, schedule, violation }));
        }
    }
    Ok(None)
}

/// More violations than that are of no use to anybody: then a search ends.
pub const ENOUGH: usize = 20;

/// Runs `schedules` on `threads` threads.
///
/// # Errors
/// The world could not be made.
pub fn search(schedules: impl Iterator<Item = Schedule> + Send, threads: usize) -> Result<Found, SetupError> {
    search_and_tell(schedules, threads, |_, _| ())
}

/// The same, and tells of each violation at once.
///
/// # Errors
/// The world could not be made.
pub fn search_and_tell(
    schedules: impl Iterator<Item = Schedule> + Send,
    threads: usize,
    tell: impl Fn(&Schedule, &Violation) + Sync,
) -> Result<Found, SetupError> {
    let begun = Instant::now();
    let (source, count, struck) = (Mutex::new(schedules), AtomicU64::new(0), AtomicU64::new(0));
    let violations = Mutex::new(Vec::new());
    let work = || -> Result<(), SetupError> {
        loop {
            let next = lock(&source).next();
            let Some(schedule) = next.filter(|_| lock(&violations).len() < ENOUGH) else { return Ok(()) };
            count.fetch_add(1, Ordering::Relaxed);
            let outcome = run(&schedule)?;
            struck.fetch_add(outcome.struck.into(), Ordering::Relaxed);
            if let Some(violation) = outcome.violation {
                tell(&schedule, &violation);
                lock(&violations).push((schedule, violation));
            }
        }
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads.max(1)).map(|_| scope.spawn(work)).collect();
        // A search that lost a thread must not look as if it had found nothing.
        workers.into_iter().try_for_each(|worker| worker.join().unwrap_or_else(|panic| resume_unwind(panic)))
    })?;
    let mut violations = violations.into_inner().unwrap_or_default();
    violations.sort_by_key(|(schedule, _)| schedule.seed);
    let (schedules, struck) = (count.into_inner(), struck.into_inner());
    Ok(Found { schedules, struck, violations, took: begun.elapsed() })
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
