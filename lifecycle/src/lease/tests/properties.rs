//! Whatever is late, lost or stopped: never two leaders, and never none for long.
//!
//! Wall clocks have any value here, and run backwards: nothing may depend on them, whoever sets a clock.

use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use rstest::rstest;

use super::world::{Bug, World};

fn electors() -> impl Strategy<Value = Vec<(u32, bool, bool)>> {
    proptest::collection::vec(
        (0u32..1_000_000_000, prop::bool::weighted(0.25), prop::bool::weighted(0.7)),
        2..=3,
    )
}

/// A third of what is begun goes wrong, by up to five seconds.
fn dice() -> impl Strategy<Value = Vec<u16>> {
    proptest::collection::vec(prop_oneof![1 => 0u16..60_000, 2 => Just(u16::MAX)], 0..120)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 5000, failure_persistence: None, ..ProptestConfig::default() })]

    /// R15.
    #[test]
    fn there_are_never_two_leaders_and_never_none_for_long(electors in electors(), dice in dice()) {
        let lived = World::new(&electors, &dice, None).live();
        prop_assert!(lived.is_ok(), "{}", lived.unwrap_err().0);
    }
}

/// The same world, and an elector with a bug in it.
#[rstest]
#[case(Bug::FromTheAnswer)]
#[case(Bug::HopedFor)]
#[case(Bug::WallClocks)]
#[case(Bug::Unconditioned)]
#[case(Bug::Impatient)]
fn every_seeded_bug_makes_two_leaders(#[case] bug: Bug) {
    let mut runner = TestRunner::deterministic();
    let caught = (0..5000).find_map(|_| {
        let (electors, dice) = (electors(), dice()).new_tree(&mut runner).unwrap().current();
        World::new(&electors, &dice, Some(bug))
            .live()
            .err()
            .filter(|violation| violation.0.contains(" lead at "))
    });
    assert!(caught.is_some(), "{bug:?} is not noticed");
}
