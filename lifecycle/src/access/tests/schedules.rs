//! Why each rule is there: for each a schedule that the machine survives, and that breaks an invariant with the rule off
//! (the design record's table "Why each rule is there"; those of accesses that need no second process at a time).

use std::time::Duration;

use rstest::rstest;

use super::scenarios::BASE;
use super::world::{Op, SECRETS, Scenario, Spec, World};
use crate::Code;
use crate::testing::Invariant::{self, NoLoss, NoOrphan, NothingForeign, Progress, Truth};
use crate::testing::Keys::Rotating;
use crate::testing::Trigger::{self, AtOnce, Idle, Point};
use crate::testing::{ApiFault, CallFault, Crash, DriverKind, Fault, Mutant};

/// Just before the grace is over.
const LATE: Duration = Duration::from_millis(9_999);
const DERIVED: DriverKind = DriverKind::GOOD.with(Rotating);
/// Effects 0 to 3 read the Buckets, reserve two Secrets and read the access; effect 4 is the Grant, 5 and 6 fill the Secrets,
/// 7 writes the status.
const BEFORE_GRANT: Trigger = Point(5);
const AFTER_GRANT: Trigger = Point(9);
const BEFORE_STATUS: Trigger = Point(13);

fn created_then(ops: Vec<(Trigger, Op)>) -> Vec<(Trigger, Op)> {
    [vec![(Idle, Op::Create(Spec::TWO))], ops].concat()
}

fn first_call(fault: CallFault) -> Vec<(usize, Fault)> {
    vec![(4, Fault::Call(fault))]
}

#[rstest]
#[case::r3_a_new_process_waits_for_its_predecessors_grant_which_voids_keys(
    Mutant::NoPredecessor, Truth, DERIVED, created_then(vec![]),
    vec![(4, Fault::Crash(Crash::During(LATE)))]
)]
#[case::r3_a_repeat_waits_for_a_grant_that_timed_out_and_voids_keys(
    Mutant::NoGraceBeforeRepeat, Truth, DERIVED, created_then(vec![]),
    first_call(CallFault::NoAnswerLater(LATE))
)]
#[case::r3_a_repeat_waits_for_a_grant_that_answered_an_error(
    Mutant::InternalIsRefused, Truth, DERIVED, created_then(vec![]),
    first_call(CallFault::Later(Code::Internal, LATE))
)]
#[case::r3_a_revoke_waits_for_a_grant_that_timed_out(
    Mutant::NoGraceBeforeDelete, NoOrphan, DERIVED, created_then(vec![(AFTER_GRANT, Op::Delete)]),
    first_call(CallFault::NoAnswerLater(LATE))
)]
#[case::r4_an_access_is_looked_at_before_it_is_granted(
    Mutant::CacheForLiveRead, NoLoss, DERIVED, created_then(vec![(BEFORE_GRANT, Op::TakeBack(true))]),
    vec![]
)]
#[case::r7_a_status_is_written_to_the_access_that_was_read(
    Mutant::UnconditionedStatus, Truth, DERIVED,
    created_then(vec![(BEFORE_STATUS, Op::Force), (AtOnce, Op::Create(Spec::TWO))]),
    vec![]
)]
#[case::r7_a_secret_is_written_only_as_it_was_read(
    Mutant::UnconditionedSecrets, NothingForeign, DERIVED,
    created_then(vec![(AFTER_GRANT, Op::TakeSecret(SECRETS[0])), (Idle, Op::Delete)]),
    vec![]
)]
#[case::r7_a_write_of_a_secret_that_lands_minutes_later_does_nothing(
    Mutant::UnconditionedSecrets, NothingForeign, DERIVED,
    // Effects 7 to 10 write it again, and make the access Ready.
    created_then(vec![(Point(22), Op::TakeSecret(SECRETS[0])), (Idle, Op::Delete)]),
    vec![(5, Fault::Api(ApiFault::LandsLater(Duration::from_mins(4))))]
)]
#[case::r8_one_secret_holds_up_no_other(
    Mutant::OneFailsAll, Progress, DERIVED,
    created_then(vec![
        (AFTER_GRANT, Op::JamSecret(SECRETS[0], true)),
        (Idle, Op::JamSecret(SECRETS[0], false)),
        (Idle, Op::Delete),
    ]),
    vec![]
)]
#[case::r10_no_recorded_id_does_not_mean_no_account(
    Mutant::NothingWithoutId, NoOrphan, DERIVED, created_then(vec![(AFTER_GRANT, Op::Delete)]),
    first_call(CallFault::NoAnswerDone)
)]
#[case::r12_what_a_vanished_access_left_is_revoked(
    Mutant::ForgetTheGone, NoOrphan, DERIVED, created_then(vec![(AFTER_GRANT, Op::Force)]),
    first_call(CallFault::NoAnswerDone)
)]
#[case::the_secrets_of_a_vanished_access_are_released(
    Mutant::LeaveSecrets, NoOrphan, DERIVED, created_then(vec![(Idle, Op::Force)]), vec![]
)]
#[case::all_secrets_are_written_anew_when_one_was_lost(
    Mutant::KeepOldKeys, Truth, DERIVED, created_then(vec![(Idle, Op::DeleteSecret(SECRETS[0]))]), vec![]
)]
fn a_schedule_is_survived_by_its_rule_alone(
    #[case] rule_off: Mutant,
    #[case] invariant: Invariant,
    #[case] kind: DriverKind,
    #[case] ops: Vec<(Trigger, Op)>,
    #[case] plan: Vec<(usize, Fault)>,
) {
    // A watch that waits for the end of a pass gives the bug its chance.
    let scenario = Scenario { name: "schedule", ops, lag: Some(Duration::ZERO), ..BASE };
    let with_rule = World::new(&scenario, kind, &plan).traced().run();
    let without = World::new(&scenario, kind, &plan).with_mutant(Some(rule_off)).traced().run();
    assert!(with_rule.violations.is_empty(), "{:#?}\n{:#?}", with_rule.violations, with_rule.trace);
    let broken = without.violations.iter().any(|v| v.invariant == invariant);
    assert!(broken, "{:#?}\n{:#?}", without.violations, without.trace);
}
