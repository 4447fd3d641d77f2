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
        let trace = again.trace.unwrap_or_default().join("\n  ");
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
    all
}

#[test]
fn created_and_deleted_at_every_point_with_every_fault() {
    let ops = vec![
        (Trigger::Idle, Op::Create(Spec::DYNAMIC)),
        (Trigger::Idle, Op::Delete),
        (Trigger::AtOnce, Op::ClaimGoes),
    ];
    let scenario = Scenario { name: "created and deleted", ops, lag: false, never_ready: false, floor: (3, 2) };
    let mut runs = 0;
    for scenario in at_every_point(&scenario) {
        for kind in DriverKind::ALL {
            if let Err(broken) = explore(&scenario, kind, 1, Depth::Every, None, &mut runs) {
                panic!("{}", broken.report());
            }
        }
    }
    println!("{runs} runs");
}
