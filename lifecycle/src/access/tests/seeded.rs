//! Negative controls: with one rule off, the oracles find a schedule that breaks an invariant, and the sweeps of the same
//! machine without the seeded bug find none.

use rstest::rstest;

use super::world::Accesses;
use crate::testing::Invariant::{self, *};
use crate::testing::{DriverKind, Keys, Kind as _, Mutant, caught};

#[rstest]
#[case(Mutant::NoGraceBeforeRepeat, OneAtATime)]
#[case(Mutant::NoGraceBeforeRepeat, Truth)]
#[case(Mutant::NoGraceBeforeDelete, OneAtATime)]
#[case(Mutant::NoGraceBeforeDelete, NoOrphan)]
#[case(Mutant::NoGrace, Truth)]
#[case(Mutant::InternalIsRefused, Truth)]
#[case(Mutant::TimeoutIsRefused, NoOrphan)]
#[case(Mutant::NoPredecessor, Truth)]
#[case(Mutant::NoPredecessor, NoOrphan)]
#[case(Mutant::CacheForLiveRead, NoLoss)]
#[case(Mutant::ForgetOnFailedWrite, NoOrphan)]
#[case(Mutant::UnconditionedStatus, Truth)]
#[case(Mutant::NothingWithoutId, NoOrphan)]
#[case(Mutant::LetGoThoughUnknown, NoOrphan)]
#[case(Mutant::ForgetTheGone, NoOrphan)]
#[case(Mutant::ReportEveryTry, Thrift)]
#[case(Mutant::GrantUnreserved, Truth)]
#[case(Mutant::GrantUnchecked, Truth)]
#[case(Mutant::AdoptSecrets, NothingForeign)]
#[case(Mutant::UnconditionedSecrets, NothingForeign)]
#[case(Mutant::ReleaseForOthers, NothingForeign)]
#[case(Mutant::StatusBeforeSecrets, Truth)]
#[case(Mutant::KeepOldKeys, Truth)]
#[case(Mutant::ReadyToTheEnd, Truth)]
#[case(Mutant::RevokeFirst, Truth)]
#[case(Mutant::FinishUnrevoked, NoOrphan)]
#[case(Mutant::LeaveSecrets, NoOrphan)]
fn a_seeded_bug_breaks(#[case] mutant: Mutant, #[case] invariant: Invariant) {
    // One fault suffices; a refused replay after an unknown outcome takes two, and a driver without the by-name RPC.
    let rare = mutant == Mutant::LetGoThoughUnknown;
    let kinds = if rare { &[DriverKind::BARE.with(Keys::Rotating)][..] } else { Accesses::DRIVERS };
    let faults: &[usize] = if rare { &[2] } else { &[0, 1] };
    let Some(broken) = caught::<Accesses>(mutant, invariant, kinds, faults) else {
        panic!("{mutant:?} does not break {invariant:?}")
    };
    println!(
        "{mutant:?} breaks {invariant:?}: {}, {:?}, {:?}",
        broken.scenario.name, broken.kind, broken.plan
    );
}
