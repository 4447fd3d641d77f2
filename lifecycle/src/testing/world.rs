//! Everything there is in a run.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use super::lane::Lane;
use super::oracle::Violation;
use super::{
    Api, Backend, DriverKind, EffectOf, Fault, GRACE, Invariant, Kind, Mutant, RETRY_MAX, Scenario, TIMEOUT,
    Trigger,
};
use crate::{Note, NoteReason, Settings, Time, Uid};

/// When every run begins.
const BEGINNING: Time = Time::at(Duration::from_secs(1000));

/// Everything.
#[allow(clippy::struct_excessive_bools, reason = "many small facts, which nobody passes around")]
#[derive(Debug)]
pub(crate) struct World<K: Kind> {
    pub(crate) api: Api<K::View>,
    pub(crate) backend: Backend,
    /// What only this kind of world has.
    pub(crate) known: K,
    pub(crate) now: Time,
    pub(crate) settings: Settings,
    pub(crate) mutant: Option<Mutant>,
    pub(crate) lag: Option<Duration>,
    pub(crate) never_ready: bool,
    // The shell.
    pub(crate) lanes: Vec<Lane<K>>,
    /// The lane whose turn it is.
    pub(crate) turn: usize,
    pub(super) by_name_missing: bool,
    pub(crate) predecessor_done: Time,
    // The script.
    pub(super) ops: VecDeque<(Trigger, K::Op)>,
    pub(super) plan: Vec<(usize, Fault)>,
    /// Instead of a plan: for each effect a number that picks one of the faults it can meet, if there are so many.
    pub(super) dice: Vec<u16>,
    /// Writes that take effect though they were answered with an error.
    pub(super) late_writes: Vec<(Time, EffectOf<K>)>,
    // What the oracles know.
    pub(crate) effects: Vec<EffectOf<K>>,
    pub(crate) writes: usize,
    pub(crate) rpcs: usize,
    pub(crate) notes: Vec<Note>,
    pub(super) disturbed: Time,
    /// Only the slow re-check helps now.
    pub(crate) refused: bool,
    /// The finalizer was taken by force while Ready or across a crash: nobody can know of what is at the backend.
    pub(crate) forced: bool,
    /// Names for which this process saw an unknown outcome of a Create or Grant.
    pub(crate) saw_unknown: BTreeSet<Arc<str>>,
    /// What is at the backend went by somebody's hand.
    pub(crate) lost: bool,
    /// The last Create or Grant was refused, or failed.
    pub(crate) make_refused: bool,
    pub(crate) make_failed: bool,
    /// Whose undoing the driver acknowledged.
    pub(crate) acknowledged: BTreeSet<Uid>,
    /// The last live look at an object.
    pub(crate) looked: Option<Arc<K::View>>,
    pub(crate) violations: Vec<Violation>,
    /// What happened, line by line, if anybody wants to read it.
    pub(crate) trace: Option<Vec<String>>,
}

impl<K: Kind> World<K> {
    pub(crate) fn new(scenario: &Scenario<K::Op>, kind: DriverKind, plan: &[(usize, Fault)]) -> Self {
        let now = BEGINNING;
        let mut backend = Backend::new(kind);
        K::prepare(&mut backend);
        Self {
            api: Api::new(),
            backend,
            known: K::default(),
            now,
            settings: Settings {
                timeout: TIMEOUT,
                late_landing_grace: GRACE,
                retry_interval_start: Duration::from_secs(1),
                retry_interval_max: RETRY_MAX,
                recheck_interval: K::RECHECK,
            },
            mutant: None,
            lag: scenario.lag,
            never_ready: scenario.never_ready,
            lanes: K::key(None).map(|key| Lane::new(key, now)).into_iter().collect(),
            turn: 0,
            by_name_missing: false,
            predecessor_done: now,
            ops: scenario.ops.iter().cloned().collect(),
            plan: plan.to_vec(),
            dice: Vec::new(),
            late_writes: Vec::new(),
            effects: Vec::new(),
            writes: 0,
            rpcs: 0,
            notes: Vec::new(),
            disturbed: now,
            refused: false,
            forced: false,
            saw_unknown: BTreeSet::new(),
            lost: false,
            make_refused: false,
            make_failed: false,
            acknowledged: BTreeSet::new(),
            looked: None,
            violations: Vec::new(),
            trace: None,
        }
    }

    pub(crate) fn with_mutant(mut self, mutant: Option<Mutant>) -> Self {
        self.mutant = mutant;
        self.backend.takes_foreign = mutant == Some(Mutant::DriverTakesForeign);
        if mutant == Some(Mutant::ReportEveryTry) {
            self.settings.recheck_interval = Duration::ZERO;
        }
        self
    }

    /// Faults by chance instead of by plan.
    pub(crate) fn with_dice(mut self, dice: Vec<u16>) -> Self {
        self.dice = dice;
        self
    }

    pub(crate) fn traced(mut self) -> Self {
        self.trace = Some(Vec::new());
        self
    }

    pub(crate) fn has(&self, mutant: Mutant) -> bool {
        self.mutant == Some(mutant)
    }

    /// The lane whose turn it is.
    pub(crate) fn lane(&self) -> &Lane<K> {
        &self.lanes[self.turn]
    }

    /// The lane whose turn it is.
    pub(crate) fn lane_mut(&mut self) -> &mut Lane<K> {
        &mut self.lanes[self.turn]
    }

    /// A new driver connects.
    pub(crate) fn connect(&mut self, by_name: bool) {
        self.backend.kind.by_name = by_name;
        self.by_name_missing = false;
        for lane in &mut self.lanes {
            lane.wake.connected = true;
        }
    }

    pub(crate) fn log(&mut self, line: impl FnOnce() -> String) {
        if let Some(trace) = &mut self.trace {
            trace.push(format!("{:?} {}", BEGINNING.until(self.now), line()));
        }
    }

    pub(crate) fn violate(&mut self, invariant: Invariant, text: String) {
        self.log(|| format!("VIOLATION {invariant:?}: {text}"));
        if !self.violations.iter().any(|v| v.text == text) {
            self.violations.push(Violation { invariant, text });
        }
    }

    /// How long everything took.
    pub(crate) fn elapsed(&self) -> Duration {
        BEGINNING.until(self.now)
    }

    /// Whether a person was told so.
    pub(crate) fn told(&self, reason: NoteReason) -> bool {
        self.notes.iter().any(|n| n.reason == reason)
    }
}
