//! The negative controls (lifecycle.md §6): the search finds each seeded bug, by chance or by the schedule that is written out
//! for it, and docs/design/simulation.md says how.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use std::sync::Mutex;
use std::thread::{self, available_parallelism};

use cosi_simulation::search::{catch, report};
use cosi_simulation::{Bug, Invariant, Schedule};

/// By which seed each is found first, and what it breaks there.
const BY_CHANCE: &[(Bug, Invariant, u64)] = &[
    (Bug::NoIntent, Invariant::Truth, 2),
    (Bug::NoGrace, Invariant::Grace, 0),
    (Bug::InternalIsRefused, Invariant::Grace, 15),
    (Bug::TimeoutIsRefused, Invariant::Grace, 28),
    (Bug::NoPredecessor, Invariant::Truth, 136),
    (Bug::CreateFromStaleCache, Invariant::NoDouble, 1),
    (Bug::ForgetOnFailedWrite, Invariant::NoOrphan, 541),
    (Bug::UnconditionedStatus, Invariant::Truth, 128),
    (Bug::UnconditionedFinalizer, Invariant::NothingForeign, 649),
    (Bug::LibraryRetries, Invariant::NoOrphan, 3674),
    (Bug::ReleaseOnFailedCreate, Invariant::NoOrphan, 216),
    (Bug::RecreateVanished, Invariant::NoDouble, 366),
    (Bug::NothingWithoutId, Invariant::NoOrphan, 15),
    (Bug::ForgetTheGone, Invariant::NoOrphan, 234),
    (Bug::ActWithoutLease, Invariant::Truth, 13),
    (Bug::LateCallIsDone, Invariant::NoOrphan, 552),
    (Bug::ReportEveryTry, Invariant::Thrift, 2280),
    (Bug::AdoptSecrets, Invariant::NoOrphan, 234),
    (Bug::GrantUnreserved, Invariant::Truth, 0),
    (Bug::PrintCredentials, Invariant::Secrecy, 0),
];

/// What chance meets too seldom to wait for it: the case of `rules.rs` that shows it.
const WRITTEN_OUT: &[(Bug, Invariant, &str)] = &[
    (Bug::CacheForLiveRead, Invariant::NoLoss, "r4_an_object_is_looked_at_before_anything_is_destroyed"),
    (Bug::RefusedIsForgotten, Invariant::NoOrphan, "r6_what_was_sent_is_remembered_though_it_was_refused"),
    (Bug::StubbornRemoval, Invariant::NoOrphan, "r10_a_conflict_means_to_decide_again"),
    (Bug::LetGoThoughUnknown, Invariant::NoOrphan, "r10_who_saw_an_unknown_outcome_does_not_let_go"),
    (Bug::DisinheritTheHeir, Invariant::NoLoss, "r12_an_heir_with_our_finalizer_inherits"),
    (Bug::CountsFromStart, Invariant::NoOrphan, "r15_a_new_leader_counts_from_when_it_took_the_lease"),
    (Bug::DriverTakesForeign, Invariant::NothingForeign, "i4_what_create_refuses_is_not_deleted_by_name"),
];

#[test]
fn a_seeded_bug_is_found_by_its_seed_and_not_without_the_bug() {
    let bugs = Mutex::new(BY_CHANCE.iter());
    let next = || bugs.lock().unwrap().next();
    thread::scope(|scope| {
        for _ in 0..available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some((bug, invariant, seed)) = next() {
                    found_by(*bug, *invariant, *seed);
                }
            });
        }
    });
}

/// [`catch`] counts only what does not break without the bug.
fn found_by(bug: Bug, invariant: Invariant, seed: u64) {
    let caught = catch(bug, (0..=seed).map(Schedule::random)).unwrap();
    let caught = caught.map(|caught| (caught.violation.invariant, caught.schedule.seed));
    assert_eq!(caught, Some((invariant, seed)), "{bug:?}");
}

#[test]
fn the_report_in_the_design_record_is_what_is_printed() {
    let record = include_str!("../../docs/design/simulation.md");
    let (_, shown) = record.split_once("--replay 541 --bugs ForgetTheGone` prints:\n\n```text\n").unwrap();
    let (shown, _) = shown.split_once("\n```").unwrap();
    let printed = report(&Schedule::random(541), Some(Bug::ForgetTheGone)).unwrap();
    assert_eq!(shown, printed.text.trim_end());
}

#[test]
fn every_bug_has_its_row_in_the_design_record() {
    let record = include_str!("../../docs/design/simulation.md");
    let cases = include_str!("rules.rs");
    let by_chance = BY_CHANCE
        .iter()
        .map(|(bug, invariant, seed)| (*bug, format!("| {bug} | {invariant} | {seed} | {} |", seed + 1)));
    let written_out = WRITTEN_OUT.iter().map(|(bug, invariant, case)| {
        let shown = format!("#[case::{case}(\n    Bug::{bug:?}, Invariant::{invariant:?},");
        assert!(cases.contains(&shown), "there should be: {shown}");
        (*bug, format!("| {bug} | {invariant} | `{case}` | 1 |"))
    });
    let mut told: Vec<Bug> = Vec::new();
    for (bug, row) in by_chance.chain(written_out) {
        assert!(record.contains(&row), "there should be: {row}");
        told.push(bug);
    }
    told.sort_unstable();
    let mut all = Bug::ALL.to_vec();
    all.sort_unstable();
    assert_eq!(told, all, "each bug is told of once");
}
