//! Many faults in one life, by chance: what no sweep can enumerate.

use std::time::Duration;

use proptest::prelude::*;

use super::scenarios;
use super::world::{DriverKind, Invariant, Scenario, Trigger, World};

proptest! {
    #![proptest_config(ProptestConfig { cases: 20_000, failure_persistence: None, max_shrink_iters: 300, ..ProptestConfig::default() })]

    /// Every effect but a few can fail in any way. Progress and thrift are the sweeps' business: here a driver may refuse for
    /// ever.
    #[test]
    fn any_number_of_faults_leaves_no_orphan_no_double_and_no_loss(
        scenario in 0..scenarios::all().len(),
        kind in proptest::sample::select(DriverKind::ALL.to_vec()),
        lag in proptest::sample::select(vec![None, Some(0), Some(3)]),
        point in 0..24usize,
        dice in proptest::collection::vec(0..90u16, 0..24),
    ) {
        let mut scenario = Scenario { lag: lag.map(Duration::from_secs), ..scenarios::all().swap_remove(scenario) };
        let moving = scenario.moving;
        scenario.ops[moving].0 = Trigger::Point(point);
        let world = World::new(&scenario, kind, &[]).with_dice(dice.clone()).run();
        let safety = |i| !matches!(i, Invariant::Progress | Invariant::Thrift);
        let broken: Vec<_> = world.violations.iter().filter(|v| safety(v.invariant)).collect();
        let story = || World::new(&scenario, kind, &[]).with_dice(dice.clone()).traced().run().trace;
        prop_assert!(broken.is_empty(), "{:#?}\n{:?}\n{:#?}", broken, kind, story());
    }
}
