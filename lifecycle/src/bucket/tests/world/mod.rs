//! A small world in virtual time: one name, an API server, a driver, users, and a shell that runs the machine.
//!
//! A run is determined by its [`Scenario`], the [`DriverKind`] and a plan: which effect meets which [`Fault`].

mod api;
mod backend;
mod calls;
mod effects;
mod fault;
mod mutant;
mod oracle;
mod run;
mod seams;
mod user;

pub(crate) use api::{Api, Spec};
pub(crate) use backend::DriverKind;
pub(crate) use fault::{ApiFault, CallFault, Crash, Depth, Fault};
pub(crate) use mutant::Mutant;
pub(crate) use oracle::{Invariant, Violation};
pub(crate) use user::{Op, Trigger};

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use backend::Backend;

use super::super::{BucketState, BucketView, Effect};
use crate::{Note, Settings, Time, Uid};

/// The Bucket's name, and the id that a driver derives from it.
pub(crate) const NAME: &str = "bc-1";
/// A bucket that was at the backend before.
pub(crate) const EXISTING: &str = "old-bucket";

pub(crate) const TIMEOUT: Duration = Duration::from_secs(20);
pub(crate) const GRACE: Duration = Duration::from_secs(10);
const RETRY_MAX: Duration = Duration::from_secs(16);
const RECHECK: Duration = Duration::from_mins(10);

/// What users do, and what must come of it.
#[derive(Clone, Debug)]
pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    pub(crate) ops: Vec<(Trigger, Op)>,
    /// Watch events arrive so much later, and only between passes; without it they arrive at once.
    pub(crate) lag: Option<Duration>,
    /// The operation that the sweeps move over every point.
    pub(crate) moving: usize,
    /// The Bucket cannot become Ready.
    pub(crate) never_ready: bool,
    /// API writes and RPCs without faults, at most (I9).
    pub(crate) floor: (usize, usize),
}

/// Where the shell is.
#[derive(Clone, Debug, PartialEq)]
enum Phase {
    Run(Effect),
    /// Between passes; the next one at that time, if any.
    Idle(Option<Time>),
}

/// Everything.
#[allow(clippy::struct_excessive_bools, reason = "many small facts, which nobody passes around")]
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) api: Api,
    pub(crate) backend: Backend,
    now: Time,
    settings: Settings,
    mutant: Option<Mutant>,
    lag: Option<Duration>,
    never_ready: bool,
    // The shell.
    pub(crate) state: BucketState,
    index: Option<Arc<BucketView>>,
    seen: u64,
    woken: bool,
    connected: bool,
    by_name_missing: bool,
    predecessor_done: Time,
    phase: Phase,
    // The script.
    ops: VecDeque<(Trigger, Op)>,
    plan: Vec<(usize, Fault)>,
    /// Instead of a plan: for each effect a number that picks one of the faults it can meet, if there are so many.
    dice: Vec<u16>,
    /// Writes that take effect though they were answered with an error.
    late_writes: Vec<(Time, Effect)>,
    // What the oracles know.
    pub(crate) effects: Vec<Effect>,
    pub(crate) writes: usize,
    pub(crate) rpcs: usize,
    pub(crate) notes: Vec<Note>,
    disturbed: Time,
    refused: bool,
    /// The finalizer was taken by force while Ready or across a crash: nobody can know of the bucket.
    forced: bool,
    /// Somebody took the finalizer off at all.
    stripped: bool,
    /// This process saw an unknown outcome of a Create.
    saw_unknown: bool,
    /// The bucket went by somebody's hand.
    lost: bool,
    /// The last Create was refused, or failed.
    create_refused: bool,
    create_failed: bool,
    acknowledged: BTreeSet<Uid>,
    looked: Option<Arc<BucketView>>,
    pub(crate) violations: Vec<Violation>,
    /// What happened, line by line, if anybody wants to read it.
    pub(crate) trace: Option<Vec<String>>,
}

impl World {
    pub(crate) fn new(scenario: &Scenario, kind: DriverKind, plan: &[(usize, Fault)]) -> Self {
        let now = Time::at(Duration::from_secs(1000));
        Self {
            api: Api::new(),
            backend: Backend::new(kind),
            now,
            settings: Settings {
                timeout: TIMEOUT,
                late_landing_grace: GRACE,
                retry_interval_start: Duration::from_secs(1),
                retry_interval_max: RETRY_MAX,
                recheck_interval: RECHECK,
            },
            mutant: None,
            lag: scenario.lag,
            never_ready: scenario.never_ready,
            state: BucketState::default(),
            index: None,
            seen: 0,
            woken: false,
            connected: false,
            by_name_missing: false,
            predecessor_done: now,
            phase: Phase::Idle(None),
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
            stripped: false,
            saw_unknown: false,
            lost: false,
            create_refused: false,
            create_failed: false,
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

    fn has(&self, mutant: Mutant) -> bool {
        self.mutant == Some(mutant)
    }

    fn log(&mut self, line: impl FnOnce() -> String) {
        if let Some(trace) = &mut self.trace {
            trace.push(format!("{:?} {}", Time::at(Duration::from_secs(1000)).until(self.now), line()));
        }
    }

    /// How long everything took.
    pub(crate) fn elapsed(&self) -> Duration {
        Time::at(Duration::from_secs(1000)).until(self.now)
    }

    /// Whether a person was told so about the Bucket.
    pub(crate) fn told(&self, reason: crate::NoteReason) -> bool {
        self.notes.iter().any(|n| n.reason == reason)
    }
}
