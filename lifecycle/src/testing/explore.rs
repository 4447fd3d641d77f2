//! The search for a plan of faults that breaks an invariant.

use std::time::Duration;

use super::kind::EffectOf;
use super::{Depth, DriverKind, Fault, Invariant, Kind, Mutant, Scenario, Trigger, World};

/// A plan that broke something.
pub(crate) struct Broken<K: Kind> {
    pub(crate) scenario: Scenario<K::Op>,
    pub(crate) kind: DriverKind,
    pub(crate) plan: Vec<(usize, Fault)>,
    mutant: Option<Mutant>,
    world: World<K>,
}

impl<K: Kind> Broken<K> {
    /// The whole story, from running it once more.
    fn report(&self) -> String {
        let again = World::<K>::new(&self.scenario, self.kind, &self.plan).with_mutant(self.mutant);
        let trace: Vec<_> = again.traced().run().trace.unwrap_or_default().into_iter().take(60).collect();
        let Self { scenario, kind, plan, world, .. } = self;
        format!("{scenario:?}\n{kind:?}\nplan {plan:?}\n{:?}\n  {}", world.violations, trace.join("\n  "))
    }
}

/// A search through all plans of up to so many faults.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Search {
    faults: usize,
    depth: Depth,
    mutant: Option<Mutant>,
    /// The invariant that is to be broken; any, if none is named.
    wanted: Option<Invariant>,
    runs: usize,
}

impl Search {
    pub(crate) fn new(faults: usize, depth: Depth) -> Self {
        Self { faults, depth, mutant: None, wanted: None, runs: 0 }
    }

    /// Stops at the first plan that breaks something.
    fn explore<K: Kind>(
        &mut self,
        scenario: &Scenario<K::Op>,
        kind: DriverKind,
    ) -> Result<(), Box<Broken<K>>> {
        self.branch(scenario, kind, &mut Vec::new())
    }

    fn branch<K: Kind>(
        &mut self,
        scenario: &Scenario<K::Op>,
        kind: DriverKind,
        plan: &mut Vec<(usize, Fault)>,
    ) -> Result<(), Box<Broken<K>>> {
        self.runs += 1;
        let mut world = World::<K>::new(scenario, kind, plan).with_mutant(self.mutant).run();
        world.check_thrift(scenario.floor, plan);
        if world.violations.iter().any(|v| self.wanted.is_none_or(|wanted| wanted == v.invariant)) {
            let (scenario, plan) = (scenario.clone(), plan.clone());
            return Err(Box::new(Broken { scenario, kind, plan, mutant: self.mutant, world }));
        }
        if plan.len() == self.faults {
            return Ok(());
        }
        let first = plan.last().map_or(0, |(at, _)| at + 1);
        let effects: Vec<EffectOf<K>> = world.effects;
        for (at, effect) in effects.iter().enumerate().skip(first) {
            for fault in Fault::all(K::target(effect), kind, self.depth) {
                plan.push((at, fault));
                self.branch::<K>(scenario, kind, plan)?;
                plan.pop();
            }
        }
        Ok(())
    }
}

/// Meets all scenarios, in all variants, with all kinds of driver, and says what broke.
pub(crate) fn sweep<K: Kind>(
    mut search: Search,
    kinds: &[DriverKind],
    variants: impl Fn(&Scenario<K::Op>) -> Vec<Scenario<K::Op>>,
) {
    let mut broken = Vec::new();
    for scenario in K::scenarios() {
        let mut runs =
            variants(&scenario).into_iter().flat_map(|s| kinds.iter().map(move |kind| (s.clone(), *kind)));
        broken.extend(runs.find_map(|(scenario, kind)| search.explore::<K>(&scenario, kind).err()));
    }
    println!("{} runs", search.runs);
    let reports: Vec<_> = broken.iter().map(|b| b.report()).collect();
    assert!(broken.is_empty(), "{} scenarios broke:\n{}", broken.len(), reports.join("\n\n"));
}

/// The first plan of one of so many faults by which a seeded bug breaks an invariant.
pub(crate) fn caught<K: Kind>(
    mutant: Mutant,
    wanted: Invariant,
    kinds: &[DriverKind],
    faults: &[usize],
) -> Option<Box<Broken<K>>> {
    faults.iter().find_map(|faults| {
        let mut search =
            Search { mutant: Some(mutant), wanted: Some(wanted), ..Search::new(*faults, Depth::OnePerClass) };
        K::scenarios()
            .iter()
            .flat_map(with_every_lag)
            .flat_map(|s| at_every_point::<K>(&s))
            .find_map(|scenario| kinds.iter().find_map(|kind| search.explore::<K>(&scenario, *kind).err()))
    })
}

/// The scenario with its moving operation at every point of the undisturbed run, and at rest.
pub(crate) fn at_every_point<K: Kind>(scenario: &Scenario<K::Op>) -> Vec<Scenario<K::Op>> {
    let points = 2 * World::<K>::new(scenario, DriverKind::GOOD, &[]).run().effects.len() + 1;
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
pub(crate) fn with_every_lag<O: Clone>(scenario: &Scenario<O>) -> impl Iterator<Item = Scenario<O>> + use<O> {
    let lags = [None, Some(Duration::ZERO), Some(Duration::from_secs(3))];
    let scenario = scenario.clone();
    lags.into_iter().map(move |lag| Scenario { lag, ..scenario.clone() })
}

/// A life in which dice decide about the fault of each effect: what of it breaks safety, and its story. Progress and thrift
/// are the sweeps' business: here a driver may refuse for ever.
pub(crate) fn random<K: Kind>(
    scenario: &Scenario<K::Op>,
    kind: DriverKind,
    dice: &[u16],
) -> Result<(), String> {
    let safety = |i| !matches!(i, Invariant::Progress | Invariant::Thrift);
    let world = World::<K>::new(scenario, kind, &[]).with_dice(dice.to_vec()).run();
    let broken: Vec<_> = world.violations.iter().filter(|v| safety(v.invariant)).collect();
    if broken.is_empty() {
        return Ok(());
    }
    let story = World::<K>::new(scenario, kind, &[]).with_dice(dice.to_vec()).traced().run().trace;
    Err(format!("{broken:#?}\n{scenario:?}\n{kind:?}\n{story:#?}"))
}
