//! Every fault at every effect, with users acting at every point (rung 2). C1–C5, C7, C12, C14, C17, C20, C21 and C24 are
//! among the runs; `cases` has the ones that a reader should see by themselves.

use super::explore::{Search, at_every_point, with_every_lag};
use super::scenarios;
use super::world::{Depth, DriverKind, Scenario};

fn sweep(mut search: Search, kinds: &[DriverKind], variants: impl Fn(&Scenario) -> Vec<Scenario>) {
    let mut broken = Vec::new();
    for scenario in scenarios::all() {
        let mut runs =
            variants(&scenario).into_iter().flat_map(|s| kinds.iter().map(move |kind| (s.clone(), *kind)));
        broken.extend(runs.find_map(|(scenario, kind)| search.explore(&scenario, kind).err()));
    }
    println!("{} runs", search.runs);
    let reports: Vec<_> = broken.iter().map(|b| b.report()).collect();
    assert!(broken.is_empty(), "{} scenarios broke:\n{}", broken.len(), reports.join("\n\n"));
}

#[test]
fn every_single_fault_at_every_effect_is_survived_with_users_acting_at_every_point() {
    sweep(Search::new(1, Depth::Every), &DriverKind::ALL, at_every_point);
}

#[test]
fn every_single_fault_is_survived_with_watches_that_lag() {
    let kinds = [DriverKind::GOOD, DriverKind::OPAQUE_BARE, DriverKind::SERIAL, DriverKind::NOT_FOUND_BARE];
    sweep(Search::new(1, Depth::OnePerClass), &kinds, |scenario| {
        with_every_lag(scenario).skip(1).flat_map(|s| at_every_point(&s)).collect()
    });
}

#[test]
fn every_pair_of_faults_is_survived() {
    let kinds = [DriverKind::GOOD, DriverKind::OPAQUE_BARE];
    sweep(Search::new(2, Depth::OnePerClass), &kinds, |scenario| {
        at_every_point(scenario).into_iter().step_by(5).collect()
    });
}
