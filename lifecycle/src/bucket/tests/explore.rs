//! The search for a plan of faults that breaks an invariant.

use std::time::Duration;

use super::world::{Depth, DriverKind, Fault, Invariant, Mutant, Scenario, Trigger, World};

/// A plan that broke something.
pub(crate) struct Broken {
    pub(crate) scenario: Scenario,
    pub(crate) kind: DriverKind,
    pub(crate) plan: Vec<(usize, Fault)>,
    mutant: Option<Mutant>,
    world: World,
}

impl Broken {
    /// The whole story, from running it once more.
    pub(crate) fn report(&self) -> String {
        let again = World::new(&self.scenario, self.kind, &self.plan).with_mutant(self.mutant).traced().run();
        let trace: Vec<_> = again.trace.unwrap_or_default().into_iter().take(60).collect();
        let Self { scenario, kind, plan, world, .. } = self;
        format!("{scenario:?}\n{kind:?}\nplan {plan:?}\n{:?}\n  {}", world.violations, trace.join("\n  "))
    }
}

/// A search through all plans of up to so many faults.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Search {
    pub(crate) faults: usize,
    pub(crate) depth: Depth,
    pub(crate) mutant: Option<Mutant>,
    /// The invariant that is to be broken; any, if none is named.
    pub(crate) wanted: Option<Invariant>,
    pub(crate) runs: usize,
}

impl Search {
    pub(crate) fn new(faults: usize, depth: Depth) -> Self {
        Self { faults, depth, mutant: None, wanted: None, runs: 0 }
    }

    /// Stops at the first plan that breaks something.
    pub(crate) fn explore(&mut self, scenario: &Scenario, kind: DriverKind) -> Result<(), Box<Broken>> {
        self.branch(scenario, kind, &mut Vec::new())
    }

    fn branch(
        &mut self,
        scenario: &Scenario,
        kind: DriverKind,
        plan: &mut Vec<(usize, Fault)>,
    ) -> Result<(), Box<Broken>> {
        self.runs += 1;
        let mut world = World::new(scenario, kind, plan).with_mutant(self.mutant).run();
        world.check_thrift(scenario.floor, plan);
        if world.violations.iter().any(|v| self.wanted.is_none_or(|wanted| wanted == v.invariant)) {
            let (scenario, plan) = (scenario.clone(), plan.clone());
            return Err(Box::new(Broken { scenario, kind, plan, mutant: self.mutant, world }));
        }
        if plan.len() == self.faults {
            return Ok(());
        }
        let first = plan.last().map_or(0, |(at, _)| at + 1);
        for at in first..world.effects.len() {
            for fault in Fault::all(&world.effects[at], kind, self.depth) {
                plan.push((at, fault));
                self.branch(scenario, kind, plan)?;
                plan.pop();
            }
        }
        Ok(())
    }
}

/// The scenario with its moving operation at every point of the undisturbed run, and at rest.
pub(crate) fn at_every_point(scenario: &Scenario) -> Vec<Scenario> {
    let points = 2 * World::new(scenario, DriverKind::GOOD, &[]).run().effects.len() + 1;
    let moved = (0..points).map(|point| {
        let mut moved = scenario.clone();
        let mut at = point;
        for (n, op) in moved.ops.iter_mut().enumerate().skip(scenario.moving) {
            match op.0 {
                _ if n == scenario.moving => op.0 = Trigger::Point(point),
                Trigger::Soon(later) => {
                    at += later;
                    op.0 = Trigger::Point(at);
                }
                _ => {}
            }
        }
        moved
    });
    std::iter::once(scenario.clone()).chain(moved).collect()
}

/// The scenario with watches of every kind: prompt, waiting for the end of a pass, and seconds late.
pub(crate) fn with_every_lag(scenario: &Scenario) -> impl Iterator<Item = Scenario> {
    let lags = [None, Some(Duration::ZERO), Some(Duration::from_secs(3))];
    lags.into_iter().map(|lag| Scenario { lag, ..scenario.clone() })
}
