//! Negative controls: with one rule off, the oracles find a schedule that breaks an invariant, and the sweeps of the same
//! machine without the seeded bug find none.

use rstest::rstest;

use super::world::Buckets;
use crate::testing::Invariant::{self, *};
use crate::testing::{DriverKind, Mutant, caught};

#[rstest]
#[case(Mutant::NoIntent, NoOrphan)]
#[case(Mutant::NoGraceBeforeRepeat, OneAtATime)]
#[case(Mutant::NoGraceBeforeRepeat, NoDouble)]
#[case(Mutant::NoGraceBeforeDelete, OneAtATime)]
#[case(Mutant::NoGraceBeforeDelete, NoOrphan)]
#[case(Mutant::NoGrace, OneAtATime)]
#[case(Mutant::InternalIsRefused, NoOrphan)]
#[case(Mutant::TimeoutIsRefused, NoOrphan)]
#[case(Mutant::NoPredecessor, NoOrphan)]
#[case(Mutant::CacheForLiveRead, NoLoss)]
#[case(Mutant::RefusedIsForgotten, NoOrphan)]
#[case(Mutant::ForgetOnFailedWrite, NoOrphan)]
#[case(Mutant::UnconditionedStatus, Truth)]
#[case(Mutant::UnconditionedFinalizers, NothingForeign)]
#[case(Mutant::ReleaseOnFailedCreate, NoOrphan)]
#[case(Mutant::RecreateVanished, NoDouble)]
#[case(Mutant::NothingWithoutId, NoOrphan)]
#[case(Mutant::StubbornRemoval, NoOrphan)]
#[case(Mutant::LetGoThoughUnknown, NoOrphan)]
#[case(Mutant::ForgetTheGone, NoOrphan)]
#[case(Mutant::DisinheritTheHeir, NoLoss)]
#[case(Mutant::ReportEveryTry, Thrift)]
#[case(Mutant::DriverTakesForeign, NothingForeign)]
fn a_seeded_bug_breaks(#[case] mutant: Mutant, #[case] invariant: Invariant) {
    // One fault suffices; a refused replay after an unknown outcome takes two, and a driver without the by-name RPC.
    let rare = mutant == Mutant::LetGoThoughUnknown;
    let kinds = if rare { &[DriverKind::BARE][..] } else { &DriverKind::ALL };
    let faults: &[usize] = if rare { &[2] } else { &[0, 1] };
    let Some(broken) = caught::<Buckets>(mutant, invariant, kinds, faults) else {
        panic!("{mutant:?} does not break {invariant:?}")
    };
    println!(
        "{mutant:?} breaks {invariant:?}: {}, {:?}, {:?}",
        broken.scenario.name, broken.kind, broken.plan
    );
}
