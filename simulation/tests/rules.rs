//! Why each rule is there (lifecycle.md §5, and some more): for each a schedule that the sidecar survives, and that breaks an invariant with
//! the rule off. The whole sidecar; the pure machine and the model have theirs.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use std::time::Duration;

use cosi_lifecycle::Code;
use cosi_simulation::schedule::{Act, Busy, CallFault, Death, DriverKind, Fault, Move, Story};
use cosi_simulation::search::{calm, report};
use cosi_simulation::{Bug, Invariant, Options, Schedule, run, run_with};
use rstest::rstest;

/// A driver that does not serialise; all its work ends within the grace.
const LOOSE: DriverKind = DriverKind { busy: Busy::Overlap, ..DriverKind::GOOD };
/// One that finds its buckets again by a tag which it looks up before it makes one.
const OPAQUE: DriverKind = DriverKind { derived: false, ..LOOSE };
const ROTATING: DriverKind = DriverKind { rotates: true, ..LOOSE };

/// After its answer, or its deadline: just before the grace is over.
const LATE: Duration = Duration::from_millis(980);
/// After its arrival: just before deadline and grace are over.
const LATEST: Duration = Duration::from_millis(2980);

/// In the life of a Bucket, step 0 writes the finalizer, step 1 is the Create, step 2 writes the status.
const CREATE: u32 = 1;
const STATUS: u32 = 2;
/// In the life of an access, steps 0 to 3 read it and the Bucket, reserve the Secret and read the access again; step 4 is the
/// Grant.
const GRANT: u32 = 4;
/// A step that does not come: what is to happen before it happens when all is quiet.
const QUIET: u32 = 99;

fn call(fault: CallFault) -> Move {
    Move::Fault(Fault::Call(fault))
}

const fn dies_during() -> Move {
    Move::Fault(Fault::Death(Death::During(LATEST)))
}

fn bucket(driver: DriverKind, moves: Vec<(u32, Move)>) -> Schedule {
    Schedule { moves, ..calm(Story::Bucket, driver) }
}

fn access(driver: DriverKind, moves: Vec<(u32, Move)>) -> Schedule {
    Schedule { moves, ..calm(Story::Access, driver) }
}

fn faults(schedule: &Schedule) -> u32 {
    let faults = schedule.moves.iter().filter(|(_, what)| matches!(what, Move::Fault(_)));
    faults.count().try_into().unwrap()
}

#[rstest]
#[case::r1_the_intent_outlives_a_crash_during_create(
    Bug::NoIntent, Invariant::NoOrphan,
    // Without the intent the Create is the first step.
    bucket(DriverKind::GOOD, vec![(0, Move::Act(Act::Delete)), (0, dies_during())])
)]
#[case::r3_a_repeat_waits_for_a_create_that_timed_out(
    Bug::NoGrace, Invariant::NoOrphan,
    bucket(OPAQUE, vec![(CREATE, call(CallFault::LandsLate(LATE)))])
)]
#[case::r3_a_repeat_waits_for_a_create_that_answered_an_error(
    Bug::InternalIsRefused, Invariant::NoOrphan,
    bucket(OPAQUE, vec![(CREATE, call(CallFault::Later(Code::Internal, LATE)))])
)]
#[case::r3_a_delete_waits_for_a_create_that_timed_out(
    Bug::NoGrace, Invariant::NoOrphan,
    bucket(LOOSE, vec![(CREATE, Move::Act(Act::Delete)), (CREATE, call(CallFault::LandsLate(LATE)))])
)]
#[case::r3_a_new_process_waits_for_its_predecessors_create(
    Bug::NoPredecessor, Invariant::NoOrphan,
    bucket(LOOSE, vec![(CREATE, Move::Act(Act::Delete)), (CREATE, dies_during())])
)]
#[case::r3_a_new_process_waits_for_its_predecessors_grant_which_voids_keys(
    Bug::NoPredecessor, Invariant::Truth, access(ROTATING, vec![(GRANT, dies_during())])
)]
#[case::r4_nothing_is_made_from_old_news_of_what_was_deleted(
    Bug::CreateFromStaleCache, Invariant::NoDouble,
    bucket(DriverKind::GOOD, vec![
        (CREATE, Move::Act(Act::Delete)),
        (CREATE, call(CallFault::DoneAndHangs)),
    ])
)]
#[case::r6_what_was_sent_is_remembered_though_it_was_refused(
    Bug::RefusedIsForgotten, Invariant::NoOrphan,
    bucket(DriverKind::GOOD, vec![
        (CREATE, call(CallFault::Half(Code::PermissionDenied))),
        (STATUS, Move::Act(Act::DeleteByForce)),
    ])
)]
#[case::r7_a_status_is_written_to_an_object_that_we_hold(
    Bug::UnconditionedStatus, Invariant::Truth,
    Schedule {
        lag: Duration::from_secs(5),
        ..bucket(DriverKind::GOOD, vec![(CREATE, Move::Act(Act::Strip))])
    }
)]
#[case::r10_no_recorded_id_does_not_mean_no_bucket(
    Bug::NothingWithoutId, Invariant::NoOrphan,
    bucket(DriverKind::GOOD, vec![
        (CREATE, Move::Act(Act::Delete)),
        (CREATE, call(CallFault::DoneAndHangs)),
    ])
)]
#[case::r10_a_conflict_means_to_decide_again(
    Bug::StubbornRemoval, Invariant::NoOrphan,
    bucket(DriverKind::GOOD, vec![
        (QUIET, Move::Act(Act::Retain)),
        (QUIET, Move::Act(Act::Delete)),
        // Before the finalizer is taken off.
        (STATUS + 1, Move::Act(Act::DontRetain)),
    ])
)]
#[case::r4_an_object_is_looked_at_before_anything_is_destroyed(
    Bug::CacheForLiveRead, Invariant::NoLoss,
    Schedule {
        // The watch tells of the deletion when the policy has changed.
        lag: Duration::from_secs(8),
        ..bucket(DriverKind::GOOD, vec![(QUIET, Move::Act(Act::Delete)), (QUIET, Move::Act(Act::Retain))])
    }
)]
#[case::r10_who_saw_an_unknown_outcome_does_not_let_go(
    Bug::LetGoThoughUnknown, Invariant::NoOrphan,
    bucket(DriverKind { by_name: false, ..DriverKind::GOOD }, vec![
        (CREATE, Move::Act(Act::Delete)),
        (CREATE, call(CallFault::DoneAndHangs)),
        // The status, a live read, the try by name, another live read, and the replay.
        (CREATE + 5, call(CallFault::Fails(Code::InvalidArgument))),
    ])
)]
#[case::r12_what_a_vanished_object_left_is_deleted(
    Bug::ForgetTheGone, Invariant::NoOrphan,
    bucket(DriverKind::GOOD, vec![
        (CREATE, Move::Act(Act::DeleteByForce)),
        (CREATE, call(CallFault::DoneAndHangs)),
    ])
)]
#[case::r12_an_heir_with_our_finalizer_inherits(
    Bug::DisinheritTheHeir, Invariant::NoLoss,
    bucket(DriverKind::GOOD, vec![
        (STATUS, Move::Act(Act::DeleteByForce)),
        (STATUS, Move::Act(Act::Restore)),
    ])
)]
#[case::i4_what_create_refuses_is_not_deleted_by_name(
    Bug::DriverTakesForeign, Invariant::NothingForeign,
    bucket(DriverKind::GOOD, vec![(CREATE, Move::Act(Act::Occupy))])
)]
#[case::r15_a_call_that_comes_after_its_leaders_lease_is_not_done(
    Bug::LateCallIsDone, Invariant::NoDouble,
    Schedule {
        sidecars: 2,
        ..bucket(DriverKind::GOOD, vec![
            // Between the look at the lease and the Create.
            (0, Move::Fault(Fault::Pause(Duration::from_mins(1)))),
            (1, Move::Act(Act::Delete)),
        ])
    }
)]
#[case::r15_a_new_leader_counts_from_when_it_took_the_lease(
    Bug::CountsFromStart, Invariant::NoOrphan,
    Schedule {
        sidecars: 2,
        ..bucket(OPAQUE, vec![
            // The leader goes on for as long as its lease lasts. When that is nearly over, a Bucket comes.
            (0, Move::Act(Act::CutOff)),
            (QUIET, Move::Act(Act::Delete)),
            (QUIET, Move::Act(Act::Label)),
            (QUIET, Move::Act(Act::Again)),
            (7, call(CallFault::LandsLate(LATE))),
        ])
    }
)]
fn a_schedule_is_survived_by_its_rule_alone(
    #[case] rule_off: Bug,
    #[case] broken: Invariant,
    #[case] schedule: Schedule,
) {
    let with_rule = run(&schedule).unwrap();
    assert_eq!(with_rule.violation, None, "{}", report(&schedule, None).unwrap());
    // With the intent, an object that is deleted at once is gone before anything is sent, and there is no call to die in.
    let struck = if rule_off == Bug::NoIntent { 0 } else { faults(&schedule) };
    assert_eq!(with_rule.struck, struck, "each fault meets a step: {schedule}");
    let without = run_with(&schedule, Options { bug: Some(rule_off), ..Options::default() }).unwrap();
    let found = without.violation.map(|violation| violation.invariant);
    assert_eq!(found, Some(broken), "{}", report(&schedule, Some(rule_off)).unwrap());
}
