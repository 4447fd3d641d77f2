//! Every fault at every effect, with users acting at every point (rung 2). C6, C8, C11, C18, C24, C31, C32, C36 and C37 are
//! among the runs; `cases` has the ones that a reader should see by themselves.

use super::world::Accesses;
use crate::testing::{Depth, Kind as _, Search, at_every_point, sweep, with_every_lag};

#[test]
fn every_single_fault_at_every_effect_is_survived_with_users_acting_at_every_point() {
    let all = at_every_point::<Accesses>;
    sweep::<Accesses>(Search::new(1, Depth::Every), &Accesses::DRIVERS[..1], all);
}

#[test]
fn a_fault_of_each_class_is_survived_with_drivers_of_all_kinds() {
    sweep::<Accesses>(Search::new(1, Depth::OnePerClass), &Accesses::DRIVERS[1..], |scenario| {
        at_every_point::<Accesses>(scenario).into_iter().step_by(3).collect()
    });
}

#[test]
fn every_single_fault_is_survived_with_watches_that_lag() {
    sweep::<Accesses>(Search::new(1, Depth::OnePerClass), Accesses::FEW_DRIVERS, |scenario| {
        let moved = with_every_lag(scenario).skip(1).flat_map(|s| at_every_point::<Accesses>(&s));
        moved.step_by(5).collect()
    });
}

#[test]
fn every_pair_of_faults_is_survived() {
    sweep::<Accesses>(Search::new(2, Depth::OnePerClass), Accesses::TWO_DRIVERS, |scenario| {
        at_every_point::<Accesses>(scenario).into_iter().step_by(Accesses::PAIRS_EVERY).collect()
    });
}
