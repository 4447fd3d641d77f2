//! The negative controls (lifecycle.md §6): each seeded bug is found by chance, by the seed that docs/design/simulation.md names.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use std::sync::Mutex;
use std::thread::{self, available_parallelism};

use cosi_simulation::search::catch;
use cosi_simulation::{Bug, Invariant, Schedule, run};

/// By which seed each bug is found first, and what it breaks there.
const FOUND: [(Bug, Invariant, u64); Bug::ALL.len()] = [];

/// Bugs found within so many seeds are searched for again from the beginning; of the others, the seed is tried.
const SOON: u64 = 1000;

#[test]
fn every_seeded_bug_is_found_by_its_seed_and_not_without_the_bug() {
    let bugs = Mutex::new(FOUND.into_iter());
    let next = || bugs.lock().unwrap().next();
    thread::scope(|scope| {
        for _ in 0..available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some((bug, invariant, seed)) = next() {
                    found_by(bug, invariant, seed);
                }
            });
        }
    });
}

fn found_by(bug: Bug, invariant: Invariant, seed: u64) {
    let from = if seed < SOON { 0 } else { seed };
    let caught = catch(bug, (from..=seed).map(Schedule::random)).unwrap();
    let caught = caught.map(|caught| (caught.violation.invariant, caught.schedule.seed));
    assert_eq!(caught, Some((invariant, seed)), "{bug:?}");
    assert_eq!(run(&Schedule::random(seed)).unwrap().violation, None, "{bug:?} is not to blame");
}

#[test]
fn every_bug_has_its_row_in_the_design_record() {
    let record = include_str!("../../docs/design/simulation.md");
    for bug in Bug::ALL {
        let (_, invariant, seed) = FOUND.into_iter().find(|(found, ..)| *found == bug).unwrap();
        let row = format!("| {bug} | {invariant} | {seed} | {} |", seed + 1);
        assert!(record.contains(&row), "there should be: {row}");
    }
}
