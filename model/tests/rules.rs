//! Why each rule is there: with all rules no state breaks an invariant, and with one of them off there is a way to break one
//! (the table of the lifecycle's design record).
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use cosi_model::{Bounds, Budget, Driver, Invariant, Kind, Rule, check};
use rstest::rstest;

const NONE: Budget = Bounds::QUIET.budget;
const OPAQUE: Driver = Driver { opaque: true, ..Driver::SDK };
const BUCKET: Bounds = Bounds::QUIET;
const ACCESS: Bounds = Bounds { kind: Kind::Access, ..BUCKET };
const TWO: Bounds = Bounds { standby: true, ..BUCKET };

#[rstest]
#[case::r1_nothing_is_sent_before_the_intent(
    Rule::Intent, Invariant::NoOrphan, BUCKET, Budget { deletes: 1, crashes: 1, ..NONE }
)]
#[case::r3_a_repeat_waits_for_the_grace(
    Rule::GraceBeforeRepeat, Invariant::NoOrphan, Bounds { driver: OPAQUE, ..BUCKET },
    Budget { calls: 1, deletes: 1, ..NONE }
)]
#[case::r3_an_answered_error_says_nothing_about_the_call(
    Rule::GraceAfterError, Invariant::NoOrphan, BUCKET, Budget { calls: 1, crashes: 1, deletes: 1, ..NONE }
)]
#[case::r3_a_deletion_waits_for_the_grace(
    Rule::GraceBeforeDelete, Invariant::NoOrphan, BUCKET, Budget { calls: 1, deletes: 1, ..NONE }
)]
#[case::r3_a_new_leader_waits_for_its_predecessors_calls(
    Rule::NewLeader, Invariant::NoOrphan, BUCKET, Budget { crashes: 1, deletes: 1, ..NONE }
)]
#[case::r3_a_grant_waits_for_that_of_a_predecessor_which_voids_its_key(
    Rule::NewLeader, Invariant::Truth, ACCESS, Budget { crashes: 1, ..NONE }
)]
#[case::r6_what_was_refused_may_still_be_there(
    Rule::RememberRefused, Invariant::NoOrphan, BUCKET, Budget { calls: 1, strips: 1, deletes: 1, ..NONE }
)]
#[case::r6_the_queue_is_filled_before_anything_that_can_fail(
    Rule::FillFirst, Invariant::NoOrphan, ACCESS, Budget { crashes: 1, strips: 1, deletes: 1, ..NONE }
)]
#[case::r7_a_result_is_written_to_the_version_that_was_read(
    Rule::ConditionedStatus, Invariant::NoOrphan, BUCKET, Budget { strips: 1, deletes: 1, ..NONE }
)]
#[case::r10_no_id_does_not_mean_no_bucket(
    Rule::ByNameOrReplay, Invariant::NoOrphan, BUCKET, Budget { calls: 1, deletes: 1, ..NONE }
)]
#[case::r10_a_conflict_means_to_decide_again(
    Rule::DecideAgain, Invariant::NoOrphan, BUCKET, Budget { deletes: 1, flips: 1, ..NONE }
)]
#[case::r12_what_went_by_force_is_cleaned_up_after(
    Rule::GoneByForce, Invariant::NoOrphan, BUCKET, Budget { calls: 1, strips: 1, deletes: 1, ..NONE }
)]
#[case::r12_an_heir_inherits(
    Rule::AnotherUid, Invariant::NoLoss, BUCKET, Budget { strips: 1, deletes: 1, recreates: 1, ..NONE }
)]
#[case::r15_no_call_begins_after_the_end_of_the_lease(
    Rule::NotAfterLeaseEnd, Invariant::NoOrphan, TWO, Budget { lapses: 1, deletes: 1, ..NONE }
)]
#[case::r15_a_predecessor_counts_from_when_the_lease_was_taken(
    Rule::SinceLeaseTaken, Invariant::NoOrphan, TWO, Budget { crashes: 1, deletes: 1, ..NONE }
)]
fn a_rule_keeps_an_invariant(
    #[case] rule: Rule,
    #[case] invariant: Invariant,
    #[case] world: Bounds,
    #[case] budget: Budget,
) {
    let with = check(&Bounds { budget, ..world });
    assert!(with.violations.is_empty(), "{with}");
    let without = check(&Bounds { budget, without: Some(rule), only: Some(invariant), ..world });
    println!("{without}");
    let broken: Vec<_> = without.violations.iter().map(|violation| violation.invariant).collect();
    assert_eq!(broken, [invariant], "{without}");
}
