//! Why each rule is there: for each a schedule that the machine survives, and that breaks an invariant with the rule off
//! (the design record's table "Why each rule is there"; those of Buckets that need no second process at a time).

use rstest::rstest;
use std::time::Duration;

use super::scenarios::BASE;
use super::world::{Op, Spec, World};
use crate::Code;
use crate::testing::Invariant::{self, NoDouble, NoLoss, NoOrphan, NothingForeign, Truth};
use crate::testing::{ApiFault, CallFault, Crash, DriverKind, Fault, Mutant, Scenario, Trigger};
use Trigger::{AtOnce, Gone, Idle, Point};
use cosi_api::DeletionPolicy::Delete;

/// Just before the grace is over.
const LATE: Duration = Duration::from_millis(9_999);
/// Effect 0 writes the intent, effect 1 is the first Create.
const BEFORE_CREATE: Trigger = Point(2);
const AFTER_CREATE: Trigger = Point(3);

fn created_then(ops: Vec<(Trigger, Op)>) -> Vec<(Trigger, Op)> {
    [vec![(Idle, Op::Create(Spec::DYNAMIC))], ops].concat()
}

fn deleted(when: Trigger) -> Vec<(Trigger, Op)> {
    created_then(vec![(when, Op::Delete), (AtOnce, Op::ClaimGoes)])
}

fn first_call(fault: CallFault) -> Vec<(usize, Fault)> {
    vec![(1, Fault::Call(fault))]
}

#[rstest]
#[case::r1_the_intent_outlives_a_crash_during_create(
    Mutant::NoIntent, NoOrphan, DriverKind::GOOD, deleted(BEFORE_CREATE),
    vec![(1, Fault::Crash(Crash::During(LATE)))]
)]
#[case::r3_a_repeat_waits_for_a_create_that_timed_out(
    Mutant::NoGraceBeforeRepeat,
    NoOrphan,
    DriverKind::OPAQUE,
    deleted(Idle),
    first_call(CallFault::NoAnswerLater(LATE))
)]
#[case::r3_a_repeat_waits_for_a_create_that_answered_an_error(
    Mutant::InternalIsRefused,
    NoOrphan,
    DriverKind::OPAQUE,
    deleted(Idle),
    first_call(CallFault::Later(Code::Internal, LATE))
)]
#[case::r3_a_timeout_is_no_refusal(
    Mutant::TimeoutIsRefused,
    NoDouble,
    DriverKind::OPAQUE,
    deleted(Idle),
    first_call(CallFault::NoAnswerLater(LATE))
)]
#[case::r3_a_delete_waits_for_a_create_that_timed_out(
    Mutant::NoGraceBeforeDelete,
    NoOrphan,
    DriverKind::GOOD,
    deleted(AFTER_CREATE),
    first_call(CallFault::NoAnswerLater(LATE))
)]
#[case::r3_a_new_process_waits_for_its_predecessors_create(
    Mutant::NoPredecessor, NoOrphan, DriverKind::GOOD, deleted(BEFORE_CREATE),
    vec![(1, Fault::Crash(Crash::During(LATE)))]
)]
#[case::r3_a_new_bucket_waits_for_a_predecessors_delete(
    Mutant::NoPredecessor, NoLoss, DriverKind::GOOD,
    [deleted(Idle), vec![(Gone, Op::Create(Spec::DYNAMIC))]].concat(),
    vec![(4, Fault::Crash(Crash::During(LATE)))]
)]
#[case::r6_what_was_sent_is_remembered_though_it_was_refused(
    Mutant::RefusedIsForgotten, NoOrphan, DriverKind::GOOD, created_then(vec![(AFTER_CREATE, Op::Force)]),
    first_call(CallFault::Half(Code::PermissionDenied))
)]
#[case::r7_a_status_is_written_to_the_object_that_was_read(
    Mutant::UnconditionedStatus, Truth, DriverKind::GOOD,
    created_then(vec![(AFTER_CREATE, Op::Force), (AtOnce, Op::Create(Spec::DYNAMIC))]),
    vec![]
)]
#[case::r7_a_write_that_lands_minutes_later_does_nothing(
    Mutant::UnconditionedFinalizers, NothingForeign, DriverKind::GOOD,
    // Effect 0 fails, effects 1 and 2 read and write the intent again.
    created_then(vec![(Point(6), Op::HoldByOthers)]),
    vec![(0, Fault::Api(ApiFault::LandsLater(Duration::from_mins(2))))]
)]
#[case::r10_no_recorded_id_does_not_mean_no_bucket(
    Mutant::NothingWithoutId,
    NoOrphan,
    DriverKind::GOOD,
    deleted(AFTER_CREATE),
    first_call(CallFault::NoAnswerDone)
)]
#[case::r10_a_conflict_means_to_decide_again(
    Mutant::StubbornRemoval, NoOrphan, DriverKind::GOOD,
    vec![
        (Idle, Op::Create(Spec::RETAIN)),
        (Idle, Op::Delete),
        (AtOnce, Op::ClaimGoes),
        // Effects 3 and 4 tell of the bucket that is kept and take the finalizer off.
        (Point(8), Op::Policy(Delete)),
    ],
    vec![]
)]
#[case::r12_what_a_vanished_object_left_is_deleted(
    Mutant::ForgetTheGone, NoOrphan, DriverKind::GOOD, created_then(vec![(BEFORE_CREATE, Op::Force)]),
    first_call(CallFault::NoAnswerDone)
)]
#[case::r12_an_heir_with_our_finalizer_inherits(
    Mutant::DisinheritTheHeir, NoLoss, DriverKind::GOOD,
    created_then(vec![
        (AFTER_CREATE, Op::Force),
        (AtOnce, Op::Create(Spec { with_finalizer: true, ..Spec::DYNAMIC })),
    ]),
    vec![]
)]
fn a_schedule_is_survived_by_its_rule_alone(
    #[case] rule_off: Mutant,
    #[case] invariant: Invariant,
    #[case] kind: DriverKind,
    #[case] ops: Vec<(Trigger, Op)>,
    #[case] plan: Vec<(usize, Fault)>,
) {
    // A watch that is seconds late gives the bug its chance.
    let scenario = Scenario { name: "schedule", ops, lag: Some(Duration::ZERO), ..BASE };
    let with_rule = World::new(&scenario, kind, &plan).traced().run();
    let without = World::new(&scenario, kind, &plan).with_mutant(Some(rule_off)).traced().run();
    assert!(with_rule.violations.is_empty(), "{:#?}\n{:#?}", with_rule.violations, with_rule.trace);
    let broken = without.violations.iter().any(|v| v.invariant == invariant);
    assert!(broken, "{:#?}\n{:#?}", without.violations, without.trace);
}
