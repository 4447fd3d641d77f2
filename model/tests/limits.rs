//! What no rule can prevent, and the design record lists: each is there, and gone as soon as one of its conditions is.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use cosi_model::{Bounds, Budget, Driver, Invariant, Kind, NotAfter, Rule, check};
use rstest::rstest;

const NONE: Budget = Bounds::QUIET.budget;
const PAIR: Bounds = Bounds { standby: true, ..Bounds::QUIET };

fn holds(bounds: &Bounds) {
    let report = check(bounds);
    assert!(report.violations.is_empty(), "{bounds}\n{report}");
}

fn breaks(bounds: &Bounds, invariant: Invariant) {
    let report = check(&Bounds { only: Some(invariant), ..*bounds });
    println!("{bounds}\n{report}");
    let broken: Vec<_> = report.violations.iter().map(|violation| violation.invariant).collect();
    assert_eq!(broken, [invariant], "{bounds}\n{report}");
}

/// The limitation of I1: the leader is paused between its check and the request, for longer than its lease.
#[rstest]
fn a_paused_leader_leaves_an_orphan_only_with_a_driver_that_takes_late_calls(
    #[values(false, true)] opaque: bool,
    #[values(false, true)] by_name: bool,
    #[values(false, true)] serialises: bool,
) {
    let budget = Budget { lapses: 1, deletes: 1, ..NONE };
    let sdk = Driver { opaque, by_name, serialises, ..Driver::SDK };
    let ignorant = Driver { not_after: NotAfter::Ignored, ..sdk };
    breaks(&Bounds { driver: ignorant, budget, ..PAIR }, Invariant::NoOrphan);
    holds(&Bounds { driver: ignorant, budget, pauses: false, ..PAIR });
    holds(&Bounds { driver: sdk, budget, ..PAIR });
}

/// The protocol demands the refusal of late Creates and Grants; the SDK refuses late deletions, too. Without that, one that was held
/// up overlaps with the successor's calls, and hits what was made again under the same name.
#[test]
fn a_late_deletion_does_harm_only_with_a_driver_that_takes_it() {
    let making = Driver { not_after: NotAfter::Making, ..Driver::SDK };
    let once = Bounds { budget: Budget { lapses: 1, deletes: 1, ..NONE }, driver: making, ..PAIR };
    let bare = Bounds { driver: Driver { by_name: false, ..making }, ..once };
    let again = Bounds { budget: Budget { deletes: 2, recreates: 1, ..once.budget }, ..once };
    let without_will = Bounds { without: Some(Rule::LastWill), ..again };
    breaks(&bare, Invariant::OneAtATime);
    breaks(&without_will, Invariant::NoLoss);
    holds(&once);
    holds(&without_will.with(Driver::SDK));
    for invariant in [Invariant::NoOrphan, Invariant::NoLoss, Invariant::Truth] {
        holds(&Bounds { only: Some(invariant), ..bare });
    }
}

/// The last will deletes by an id that follows from the name; if somebody makes the object again by hand in the same moment, the
/// bucket is the new one's.
#[test]
fn a_last_will_does_harm_only_where_a_name_is_made_again() {
    let again = Bounds { budget: Budget { lapses: 1, deletes: 2, recreates: 1, ..NONE }, ..PAIR };
    breaks(&again, Invariant::NoLoss);
    holds(&Bounds { without: Some(Rule::LastWill), ..again });
    holds(&Bounds { budget: Budget { recreates: 0, ..again.budget }, ..again });
    holds(&again.with(Driver { opaque: true, ..Driver::SDK }));
}

/// A paused leader's write has no limit like that of its calls. It lands on an object that its successor has not written to yet;
/// if that one dies at this very moment, nobody knows of its call.
#[rstest]
#[case::the_finalizer_goes(Kind::Bucket, Driver { by_name: false, ..Driver::SDK }, Invariant::NoOrphan)]
#[case::the_access_gets_ready(Kind::Access, Driver::SDK, Invariant::Truth)]
fn a_paused_leaders_write_does_harm_only_if_its_successor_dies(
    #[case] kind: Kind,
    #[case] driver: Driver,
    #[case] invariant: Invariant,
) {
    let budget = Budget { lapses: 1, crashes: 1, deletes: 1, ..NONE };
    let world = Bounds { kind, driver, budget, ..PAIR };
    breaks(&world, invariant);
    holds(&Bounds { pauses: false, ..world });
    holds(&Bounds { budget: Budget { crashes: 0, ..budget }, ..world });
}

/// What was deleted by id is deleted again by a successor, which releases the object and dies, too; then the name is made again.
#[test]
fn a_deletion_that_outlived_two_processes_does_harm_only_where_a_name_is_made_again() {
    let budget = Budget { crashes: 2, deletes: 2, recreates: 1, ..NONE };
    let world = Bounds { budget, ..Bounds::QUIET };
    breaks(&world, Invariant::NoLoss);
    holds(&Bounds { budget: Budget { crashes: 1, ..budget }, ..world });
    holds(&Bounds { budget: Budget { recreates: 0, ..budget }, ..world });
}
