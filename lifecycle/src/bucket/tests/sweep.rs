//! Every fault at every effect, with deletion arriving at every point.

use super::world::{Depth, DriverKind, Fault, Mutant, Op, Scenario, Spec, Trigger, World};

/// A plan that broke something.
pub(crate) struct Broken {
    pub(crate) scenario: Scenario,
    pub(crate) kind: DriverKind,
    pub(crate) plan: Vec<(usize, Fault)>,
    pub(crate) mutant: Option<Mutant>,
    pub(crate) world: World,
}

impl Broken {
    pub(crate) fn report(&self) -> String {
        let again = World::new(&self.scenario, self.kind, &self.plan).with_mutant(self.mutant).traced().run();
        let trace: Vec<_> = again.trace.unwrap_or_default().into_iter().take(60).collect();
        let trace = trace.join("\n  ");
        let Self { scenario, kind, plan, world, .. } = self;
        format!("{scenario:?}\n{kind:?}\nplan {plan:?}\n{:?}\n  {trace}", world.violations)
    }
}

/// Runs the scenario with every plan of up to `faults` faults; stops at the first that breaks something. Counts runs.
pub(crate) fn explore(
    scenario: &Scenario,
    kind: DriverKind,
    faults: usize,
    depth: Depth,
    mutant: Option<Mutant>,
    runs: &mut usize,
) -> Result<(), Box<Broken>> {
    branch(scenario, kind, &mut Vec::new(), faults, depth, mutant, runs)
}

fn branch(
    scenario: &Scenario,
    kind: DriverKind,
    plan: &mut Vec<(usize, Fault)>,
    faults: usize,
    depth: Depth,
    mutant: Option<Mutant>,
    runs: &mut usize,
) -> Result<(), Box<Broken>> {
    *runs += 1;
    let mut world = World::new(scenario, kind, plan).with_mutant(mutant).run();
    world.check_thrift(scenario.floor, plan);
    if !world.violations.is_empty() {
        return Err(Box::new(Broken { scenario: scenario.clone(), kind, plan: plan.clone(), mutant, world }));
    }
    if plan.len() == faults {
        return Ok(());
    }
    let first = plan.last().map_or(0, |(at, _)| at + 1);
    for at in first..world.settled_at() {
        for fault in Fault::all(&world.effects[at], kind, depth) {
            plan.push((at, fault));
            branch(scenario, kind, plan, faults, depth, mutant, runs)?;
            plan.pop();
        }
    }
    Ok(())
}

/// The scenario with its second operation at every point of the undisturbed run.
pub(crate) fn at_every_point(scenario: &Scenario) -> Vec<Scenario> {
    let kind = DriverKind::GOOD;
    let points = 2 * World::new(scenario, kind, &[]).run().settled_at() + 1;
    let mut all = vec![scenario.clone()];
    for point in 0..points {
        let mut moved = scenario.clone();
        if let Some(op) = moved.ops.get_mut(1) {
            op.0 = Trigger::Point(point);
        }
        all.push(moved);
    }
    let lagging = all.iter().map(|s| Scenario { lag: true, ..s.clone() }).collect::<Vec<_>>();
    all.extend(lagging);
    all
}

fn sweep(faults: usize, depth: Depth, which: impl Fn(usize) -> bool) {
    let mut runs = 0;
    let mut broken = Vec::new();
    for (_, scenario) in super::scenarios::all().into_iter().enumerate().filter(|(i, _)| which(*i)) {
        'next: for moved in at_every_point(&scenario) {
            for kind in DriverKind::ALL {
                if let Err(found) = explore(&moved, kind, faults, depth, None, &mut runs) {
                    broken.push(found);
                    break 'next;
                }
            }
        }
    }
    println!("{runs} runs");
    let reports: Vec<_> = broken.iter().map(|b| b.report()).collect();
    assert!(broken.is_empty(), "{} scenarios broke:\n{}", broken.len(), reports.join("\n\n"));
}

#[test]
fn every_single_fault_at_every_effect_with_users_acting_at_every_point() {
    sweep(1, Depth::Every, |_| true);
}

#[test]
fn every_pair_of_faults() {
    sweep(2, Depth::OnePerClass, |_| true);
}
