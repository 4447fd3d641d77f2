//! Each invariant can be broken: one that cannot would prove nothing.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use cosi_model::{Bounds, Budget, Driver, Invariant, Kind, Rule, check};
use rstest::rstest;

const NONE: Budget = Bounds::QUIET.budget;
const BUCKET: Bounds = Bounds::QUIET;
const OPAQUE: Bounds = Bounds { driver: Driver { opaque: true, ..Driver::SDK }, ..BUCKET };

#[rstest]
#[case::no_orphan(Invariant::NoOrphan, BUCKET, Rule::ByNameOrReplay, Budget { calls: 1, deletes: 1, ..NONE })]
#[case::no_double(Invariant::NoDouble, OPAQUE, Rule::GraceBeforeRepeat, Budget { calls: 1, ..NONE })]
#[case::no_create_after_ready(Invariant::NoDouble, BUCKET, Rule::ReadyIsFinal, NONE)]
#[case::no_loss(
    Invariant::NoLoss, BUCKET, Rule::NewLeader,
    Budget { crashes: 1, deletes: 2, recreates: 1, ..NONE }
)]
#[case::no_loss_against_the_policy(
    Invariant::NoLoss, BUCKET, Rule::AnotherUid,
    Budget { strips: 1, deletes: 1, recreates: 1, ..NONE }
)]
#[case::no_foreign_finalizer(Invariant::NothingForeign, BUCKET, Rule::ConditionedFinalizers, Budget { holds: 1, ..NONE })]
#[case::truth_of_an_id(
    Invariant::Truth, BUCKET, Rule::ConditionedStatus,
    Budget { strips: 1, deletes: 1, recreates: 1, ..NONE }
)]
#[case::truth_of_a_key(
    Invariant::Truth, Bounds { kind: Kind::Access, ..BUCKET }, Rule::GraceBeforeRepeat, Budget { calls: 1, ..NONE }
)]
#[case::progress(Invariant::Progress, BUCKET, Rule::ReadyIsFinal, NONE)]
#[case::one_at_a_time(Invariant::OneAtATime, BUCKET, Rule::GraceBeforeRepeat, Budget { calls: 1, ..NONE })]
#[case::room(Invariant::Room, BUCKET, Rule::GraceBeforeRepeat, Budget { calls: 4, ..NONE })]
fn an_invariant_can_be_broken(
    #[case] invariant: Invariant,
    #[case] world: Bounds,
    #[case] rule: Rule,
    #[case] budget: Budget,
) {
    let report = check(&Bounds { budget, without: Some(rule), only: Some(invariant), ..world });
    println!("{report}");
    let broken: Vec<_> = report.violations.iter().map(|violation| violation.invariant).collect();
    assert_eq!(broken, [invariant], "{report}");
}

/// A driver's own defect, not a rule of the sidecar's.
#[test]
fn a_driver_that_takes_what_is_foreign_is_caught() {
    let budget = Budget { deletes: 1, ..NONE };
    let bounds = Bounds { foreign_bucket: true, budget, ..BUCKET };
    assert!(check(&bounds).violations.is_empty());
    let report = check(&bounds.with(Driver { takes_foreign: true, ..Driver::SDK }));
    println!("{report}");
    assert_eq!(report.violations[0].invariant, Invariant::NothingForeign, "{report}");
}

/// What a person reads.
#[test]
fn a_way_to_a_broken_invariant_says_who_did_what() {
    let budget = Budget { deletes: 1, crashes: 1, ..NONE };
    let report =
        check(&Bounds { budget, without: Some(Rule::Intent), only: Some(Invariant::NoOrphan), ..BUCKET });
    let text = report.to_string();
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines[0], "I1 no orphan is broken:");
    for expected in [
        "  sidecar A sends DriverCreateBucket for uid 1",
        "  sidecar A DIES, and is started again",
        "  user      deletes the object",
        "  backend   does DriverCreateBucket for uid 1 of sidecar A",
        "  at the API server: no object; Secret: None",
        "  at the backend: id 0 made for uid 1 (key 0)",
    ] {
        assert!(lines.contains(&expected), "{expected}\n{text}");
    }
    assert!(lines.len() < 20, "{text}");
    assert!(text.contains("1 worlds") && text.contains("1 violations"), "{text}");
}
