//! The table of seeded bugs.

use std::ops::Range;
use std::sync::Mutex;
use std::thread;

use cosi_simulation::search::{Caught, catch, shrink};
use cosi_simulation::{Bug, Schedule, SetupError};

/// Seeds each bug in turn, or that one, and tells which seed finds it, and how small that schedule gets. Returns whether
/// all are found.
pub(super) fn table(bug: Option<Bug>, seeds: Range<u64>, threads: usize) -> Result<bool, SetupError> {
    println!("| bug | breaks | seed | schedules needed |\n|---|---|---|---|");
    let bugs = Mutex::new(Bug::ALL.into_iter().filter(move |each| bug.is_none_or(|bug| bug == *each)));
    let next = || bugs.lock().ok()?.next();
    let work = || -> Result<bool, SetupError> {
        let mut all = true;
        while let Some(bug) = next() {
            all &= row(bug, seeds.clone())?;
        }
        Ok(all)
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads.max(1)).map(|_| scope.spawn(work)).collect();
        let ends = workers.into_iter().map(|worker| worker.join().unwrap_or(Ok(false)));
        ends.collect::<Result<Vec<_>, _>>().map(|ends| ends.into_iter().all(|found| found))
    })
}

fn row(bug: Bug, seeds: Range<u64>) -> Result<bool, SetupError> {
    let Some(Caught { needed, schedule, violation }) = catch(bug, seeds.map(Schedule::random))? else {
        println!("| {bug} | not found | | |");
        return Ok(false);
    };
    let smallest = shrink(&schedule, Some(bug), violation.invariant)?;
    println!("| {bug} | {} | {} | {needed} |", violation.invariant, schedule.seed);
    eprintln!("{bug:?}: {violation}\n{smallest}\n");
    Ok(true)
}
