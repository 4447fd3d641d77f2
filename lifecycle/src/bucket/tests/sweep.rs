//! Every fault at every effect, with users acting at every point (rung 2). C1–C5, C7, C12, C14, C17, C20, C21 and C24 are
//! among the runs; `cases` has the ones that a reader should see by themselves.

use super::world::Buckets;
use crate::testing::{Depth, Kind as _, Search, at_every_point, sweep, with_every_lag};

#[test]
fn every_single_fault_at_every_effect_is_survived_with_users_acting_at_every_point() {
    sweep::<Buckets>(Search::new(1, Depth::Every), Buckets::DRIVERS, at_every_point::<Buckets>);
}

#[test]
fn every_single_fault_is_survived_with_watches_that_lag() {
    sweep::<Buckets>(Search::new(1, Depth::OnePerClass), Buckets::FEW_DRIVERS, |scenario| {
        with_every_lag(scenario).skip(1).flat_map(|s| at_every_point::<Buckets>(&s)).collect()
    });
}

#[test]
fn every_pair_of_faults_is_survived() {
    sweep::<Buckets>(Search::new(2, Depth::OnePerClass), Buckets::TWO_DRIVERS, |scenario| {
        at_every_point::<Buckets>(scenario).into_iter().step_by(Buckets::PAIRS_EVERY).collect()
    });
}
