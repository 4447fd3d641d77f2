//! Whole sidecars in virtual time: the part of the search that every change must pass.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use std::collections::BTreeSet;
use std::thread::available_parallelism;
use std::time::Duration;

use cosi_lifecycle::Code;
use cosi_simulation::schedule::{Act, ApiFault, CallFault, Death, DriverKind, Fault, Look, Move, Story};
use cosi_simulation::search::{Found, calm, pairs, report, search, singles};
use cosi_simulation::{Options, Schedule, run, run_with};
use rstest::rstest;

/// Of the sweeps, every so many schedules are run; other ones in each place.
const EVERY: usize = 53;
const RANDOM: u64 = 20_000;

fn threads() -> usize {
    available_parallelism().map_or(1, usize::from)
}

/// Runs all of them, and shows the first that breaks something step by step.
fn none_breaks(what: &str, schedules: Vec<Schedule>) -> Found {
    let found = search(schedules.into_iter(), threads()).unwrap();
    let seconds = found.took.as_secs_f64();
    println!("{what}: {} schedules, {} violations, {seconds:.1} s", found.schedules, found.violations.len());
    if let Some((schedule, _)) = found.violations.first() {
        panic!("{}", report(schedule, None).unwrap());
    }
    found
}

fn faults(schedules: &[Schedule]) -> u64 {
    let moves = schedules.iter().flat_map(|schedule| &schedule.moves);
    moves.filter(|(_, what)| matches!(what, Move::Fault(_))).count().try_into().unwrap()
}

/// A run is a function of its schedule: whatever the machine does meanwhile.
#[test]
fn the_same_seed_gives_the_same_run_step_by_step() {
    let hashes = |seeds: std::ops::Range<u64>| -> Vec<u64> {
        seeds.map(|seed| run(&Schedule::random(seed)).unwrap().hash).collect()
    };
    let (first, again) = std::thread::scope(|scope| {
        let other = scope.spawn(|| hashes(0..1000));
        (hashes(0..1000), other.join().unwrap())
    });
    assert_eq!(first, again);
    assert_eq!(first.iter().collect::<BTreeSet<_>>().len(), 1000, "no two runs are the same");
}

/// I9: without faults, the floor.
#[rstest]
#[case(Story::Bucket, 3, 2)]
#[case(Story::Access, 7, 2)]
fn a_life_without_faults_costs_no_more_than_it_must(
    #[case] story: Story,
    #[case] writes: u32,
    #[case] calls: u32,
) {
    for driver in DriverKind::ALL {
        let outcome = run(&calm(story, driver)).unwrap();
        assert_eq!(outcome.violation, None, "{driver}");
        assert_eq!((outcome.writes, outcome.calls), (writes, calls), "{driver}");
    }
}

#[test]
fn no_fault_at_any_step_of_a_life_breaks_an_invariant() {
    let all = singles().unwrap();
    println!("{} schedules in all", all.len());
    let some: Vec<_> = all.into_iter().step_by(EVERY).collect();
    let faults = faults(&some);
    assert_eq!(none_breaks("single faults", some).struck, faults, "every fault meets its step");
}

#[test]
fn no_pair_of_faults_breaks_an_invariant() {
    let all = pairs().unwrap();
    println!("{} schedules in all", all.len());
    let some: Vec<_> = all.into_iter().step_by(EVERY).collect();
    let faults = faults(&some);
    assert_eq!(none_breaks("pairs of faults", some).struck, faults, "every fault meets its step");
}

#[test]
fn no_schedule_by_chance_breaks_an_invariant() {
    none_breaks("by chance", (0..RANDOM).map(Schedule::random).collect());
}

/// A driver that chooses ids and cannot delete by name.
const OPAQUE: DriverKind = DriverKind { derived: false, by_name: false, rotates: true, ..DriverKind::GOOD };

/// Schedules that once broke an invariant (docs/design/simulation.md), written out: what a seed means changes with the search.
#[rstest]
#[case::a_watch_that_is_refused_as_too_old(Schedule {
    moves: vec![(2, Move::Watches(Look::Refused))],
    ..calm(Story::Access, OPAQUE)
})]
#[case::old_news_of_what_is_gone(Schedule {
    seed: 30_402,
    lag: Duration::from_millis(1500),
    moves: vec![
        (0, Move::Fault(Fault::Death(Death::Before))),
        (3, Move::Fault(Fault::Api(ApiFault::Overtaken))),
        (4, Move::Act(Act::Delete)),
        (8, Move::Fault(Fault::Call(CallFault::Fails(Code::NotFound)))),
        (13, Move::Fault(Fault::Death(Death::During(Duration::ZERO)))),
    ],
    ..calm(Story::Bucket, OPAQUE)
})]
#[case::an_access_that_goes_by_force_while_it_is_not_ready(Schedule {
    seed: 33_333,
    sidecars: 2,
    moves: vec![
        (7, Move::Act(Act::TakeSecret)),
        (8, Move::Act(Act::Hold)),
        (9, Move::Act(Act::DeleteByForce)),
    ],
    ..calm(Story::Access, DriverKind { rotates: false, ..OPAQUE })
})]
#[case::a_bucket_to_be_retained_that_goes_by_force(Schedule {
    seed: 72_263,
    moves: vec![
        (0, Move::Fault(Fault::Api(ApiFault::Refused(504)))),
        (1, Move::Act(Act::Retain)),
        (4, Move::Act(Act::DeleteByForce)),
    ],
    ..calm(Story::Bucket, DriverKind::GOOD)
})]
#[case::a_bucket_to_be_retained_whose_create_had_no_answer_goes_by_force(Schedule {
    moves: vec![
        (0, Move::Act(Act::Retain)),
        // After a conflict and a look, the finalizer is written again.
        (3, Move::Fault(Fault::Call(CallFault::DoneAndHangs))),
        (4, Move::Act(Act::DeleteByForce)),
    ],
    ..calm(Story::Bucket, DriverKind::GOOD)
})]
#[case::an_access_that_is_let_go_in_a_namespace_that_goes(Schedule {
    moves: vec![(2, Move::Act(Act::LetGo)), (20, Move::Act(Act::DeleteNamespace))],
    ..calm(Story::Access, DriverKind::GOOD)
})]
#[case::an_intent_that_is_taken_off_while_its_leader_stops(Schedule {
    sidecars: 2,
    moves: vec![
        (1, Move::Fault(Fault::Call(CallFault::LandsLate(Duration::from_millis(980))))),
        (2, Move::Act(Act::Strip)),
        (2, Move::Act(Act::Stop)),
    ],
    ..calm(Story::Bucket, DriverKind::GOOD)
})]
#[case::an_event_that_goes_with_its_namespace(Schedule {
    moves: vec![(2, Move::Act(Act::LetGo)), (20, Move::Act(Act::Delete)), (20, Move::Act(Act::DeleteNamespace))],
    ..calm(Story::Access, DriverKind::GOOD)
})]
#[case::a_status_that_lands_after_two_changes_of_the_leader(Schedule {
    sidecars: 2,
    moves: vec![
        (5, Move::Fault(Fault::Freeze(Duration::from_secs(25)))),
        (10, Move::Fault(Fault::Death(Death::During(Duration::from_millis(2980))))),
    ],
    ..calm(Story::Access, DriverKind { derived: false, rotates: true, ..DriverKind::GOOD })
})]
#[case::a_create_that_ends_well_while_its_object_goes_by_force_and_its_leader_stops(Schedule {
    sidecars: 2,
    moves: vec![(1, Move::Act(Act::Stop)), (1, Move::Act(Act::DeleteByForce))],
    ..calm(Story::Bucket, DriverKind::GOOD)
})]
#[case::a_grant_that_ends_well_while_its_object_goes_by_force_and_its_leader_stops(Schedule {
    moves: vec![(4, Move::Act(Act::Stop)), (4, Move::Act(Act::DeleteByForce))],
    ..calm(Story::Access, DriverKind::GOOD)
})]
#[case::a_replay_where_the_deletion_by_name_is_refused(Schedule {
    sidecars: 2,
    moves: vec![
        (9, Move::Act(Act::Delete)),
        (11, Move::Act(Act::Stop)),
        (11, Move::Watches(Look::Stale)),
        (12, Move::Fault(Fault::Call(CallFault::Fails(Code::InvalidArgument)))),
    ],
    ..calm(Story::Access, DriverKind::GOOD)
})]
fn what_was_found_stays_mended(#[case] schedule: Schedule) {
    assert!(run(&schedule).unwrap().violation.is_none(), "{}", report(&schedule, None).unwrap());
}

/// R15's one exception. Nobody could be blamed for what is left: the finalizer was taken off, and the process has ended.
#[test]
fn who_loses_the_lease_takes_away_what_it_alone_knows_of() {
    let schedule = Schedule {
        sidecars: 2,
        moves: vec![
            // When the Grant has ended well.
            (5, Move::Act(Act::DeleteByForce)),
            (5, Move::Fault(Fault::Pause(Duration::from_secs(16)))),
        ],
        ..calm(Story::Access, DriverKind::GOOD)
    };
    let outcome = run_with(&schedule, Options { traced: true, bug: None }).unwrap();
    assert_eq!(outcome.violation, None);
    let gives_up = outcome.lines.iter().any(|line| line.what.contains("Lease is lost"));
    let accounts: Vec<_> = outcome.left.iter().filter(|line| line.contains("account")).collect();
    assert!(gives_up && accounts.is_empty(), "{}", report(&schedule, None).unwrap());
}
