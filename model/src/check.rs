//! The search through all states.

use std::time::Instant;

use stateright::{Checker, CheckerBuilder, HasDiscoveries, Model, Property};

use crate::moves::{Action, after, progress, trouble};
use crate::report::{Counterexample, Report};
use crate::world::World;
use crate::{Bounds, Invariant, story};

/// The model for stateright.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Protocol(pub(crate) Bounds);

impl Model for Protocol {
    type State = World;
    type Action = Action;

    fn init_states(&self) -> Vec<World> {
        let policies: &[bool] = if self.0.budget.flips > 0 { &[false, true] } else { &[false] };
        policies.iter().map(|retain| World::new(&self.0, *retain)).collect()
    }

    fn actions(&self, world: &World, actions: &mut Vec<Action>) {
        // What comes after a breach says nothing.
        if world.broken == 0 {
            progress(&self.0, world, actions);
            trouble(&self.0, world, actions);
        }
    }

    fn next_state(&self, world: &World, action: Action) -> Option<World> {
        Some(after(&self.0, world, action))
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let all = Invariant::ALL.map(|invariant| Property::always(invariant.name(), condition(invariant)));
        all.to_vec()
    }
}

/// stateright takes a function without a memory, so there is one per invariant.
fn condition(invariant: Invariant) -> fn(&Protocol, &World) -> bool {
    match invariant {
        Invariant::NoOrphan => |_, world| world.broken & Invariant::NoOrphan.bit() == 0,
        Invariant::NoDouble => |_, world| world.broken & Invariant::NoDouble.bit() == 0,
        Invariant::NoLoss => |_, world| world.broken & Invariant::NoLoss.bit() == 0,
        Invariant::NothingForeign => |_, world| world.broken & Invariant::NothingForeign.bit() == 0,
        Invariant::Truth => |_, world| world.broken & Invariant::Truth.bit() == 0,
        Invariant::Progress => |_, world| world.broken & Invariant::Progress.bit() == 0,
        Invariant::OneAtATime => |_, world| world.broken & Invariant::OneAtATime.bit() == 0,
        Invariant::Room => |_, world| world.broken & Invariant::Room.bit() == 0,
    }
}

/// Visits every state that can be reached within these bounds. A broken invariant ends the search; the report then has a shortest
/// way to it.
#[must_use]
pub fn check(bounds: &Bounds) -> Report {
    let start = Instant::now();
    let search = builder(*bounds, bounds.threads).spawn_dfs().join();
    let mut report = Report {
        worlds: 1,
        states: search.state_count(),
        unique_states: search.unique_state_count(),
        depth: search.max_depth(),
        seconds: 0.0,
        violations: Vec::new(),
    };
    if !search.discoveries().is_empty() {
        report.violations = shortest(*bounds);
    }
    report.seconds = start.elapsed().as_secs_f64();
    report
}

/// Checks one world after the other, and hands each report to `told`. The sum of all is returned.
pub fn check_all(worlds: &[Bounds], mut told: impl FnMut(&Bounds, &Report)) -> Report {
    let reports = worlds.iter().map(|bounds| {
        let report = check(bounds);
        told(bounds, &report);
        report
    });
    reports.fold(Report::default(), Report::and)
}

fn builder(bounds: Bounds, threads: usize) -> CheckerBuilder<Protocol> {
    Protocol(bounds).checker().threads(threads).finish_when(HasDiscoveries::AnyFailures)
}

/// Breadth first and with one thread, the first way that is found is a shortest one.
fn shortest(bounds: Bounds) -> Vec<Counterexample> {
    let search = builder(bounds, 1).spawn_bfs().join();
    let discoveries = search.discoveries();
    let found = Invariant::ALL.into_iter().filter_map(|invariant| {
        let path = discoveries.get(invariant.name())?.clone();
        Some(Counterexample { invariant, path: story::tell(&bounds, &path.into_vec()) })
    });
    found.collect()
}
