//! Every fault schedule, in virtual time.
//!
//! A run is one seeded, single-threaded runtime whose clock moves only when everybody waits. In it are an API server in memory,
//! a scripted driver with all vices, people, and one or two *real* sidecars: the code that users run, from its settings on. What
//! goes wrong, and when, says a [`Schedule`]; the same schedule gives the same run, step by step. The invariants are judged by
//! the backend's own ledger and the API server's own objects.
//!
//! - [`run`] runs a schedule; [`run_with`] also writes down who did what, or seeds a [`Bug`].
//! - [`Schedule::random`] makes one from a seed.
//! - [`search`] looks for schedules that break an invariant: by chance, and one by one.

mod bugs;
mod logs;
mod oracle;
pub mod schedule;
pub mod search;
mod settings;
mod trace;
mod world;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Weak};
use std::time::Duration;

pub use bugs::Bug;
pub use oracle::{Invariant, Violation};
pub use schedule::Schedule;
pub use trace::{Line, Who};
pub use world::Sort;

use bugs::Seeded;
use logs::Listener;
use world::World;

/// The world could not be made: a defect of the simulation.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// The API server.
    #[error("the API server cannot be made")]
    ApiServer(#[from] cosi_apiserver::schema::CatalogueError),
    /// The runtime.
    #[error("the runtime cannot be made")]
    Runtime(#[from] std::io::Error),
}

/// How a run went.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// What was broken, if anything was; the first thing.
    pub violation: Option<Violation>,
    /// A number that is another one if anything at all went differently.
    pub hash: u64,
    /// What sort each step was.
    pub sorts: Vec<Sort>,
    /// How many faults of the schedule met a step.
    pub struck: u32,
    /// How many writes the sidecars made, Leases and Events aside.
    pub writes: u32,
    /// How many calls reached the driver.
    pub calls: u32,
    /// How long it took, in virtual time.
    pub took: Duration,
    /// Who did what, if it was to be written down.
    pub lines: Vec<Line>,
    /// What is left in the end, if it was to be written down: the objects, and what the backend holds.
    pub left: Vec<String>,
}

/// Runs a schedule.
///
/// # Errors
/// The world could not be made.
pub fn run(schedule: &Schedule) -> Result<Outcome, SetupError> {
    run_with(schedule, Options::default())
}

/// How a schedule is run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Whether to write down who did what.
    pub traced: bool,
    /// A bug to seed.
    pub bug: Option<Bug>,
}

/// Of so many runs, one has its log searched for credentials.
const LISTENED_TO: u64 = 64;

/// Runs a schedule in that way.
///
/// # Errors
/// The world could not be made.
pub fn run_with(schedule: &Schedule, options: Options) -> Result<Outcome, SetupError> {
    let _seeded = Seeded::new(options.bug);
    let _listener = Listener::new(schedule.seed.is_multiple_of(LISTENED_TO));
    // Where libraries take their chance from.
    fastrand::seed(schedule.seed);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build()?;
    let lived = catch_unwind(AssertUnwindSafe(|| {
        runtime.block_on(async {
            let world = World::new(schedule, options.traced)?;
            world.live().await;
            if Listener::heard_a_credential() {
                world.violate(Invariant::Secrecy, "a credential is in the sidecar's log".to_owned());
            }
            Ok::<_, SetupError>((outcome(&world, options.traced), Arc::downgrade(&world)))
        })
    }));
    drop(runtime);
    match lived {
        Ok(lived) => lived.map(|(outcome, world)| outcome.unless_outlived_by(&world)),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
            Ok(Outcome::panicked(&text.unwrap_or_default()))
        }
    }
}

fn outcome(world: &World, traced: bool) -> Outcome {
    let left = if traced { world.what_is_left() } else { Vec::new() };
    let trace = world.take_trace();
    let state = world.lock();
    Outcome {
        violation: state.violations.first().cloned(),
        hash: trace.hash(),
        sorts: state.sorts.clone(),
        struck: state.facts.struck,
        writes: state.facts.writes,
        calls: state.facts.calls,
        took: world.elapsed(),
        lines: trace.into_lines(),
        left,
    }
}

impl Outcome {
    /// A world that is there after its run keeps itself alive, and a million of them are too many.
    fn unless_outlived_by(mut self, world: &Weak<World>) -> Self {
        if world.strong_count() > 0 {
            let what = "the simulation's world outlives its run".to_owned();
            self.violation.get_or_insert(Violation { invariant: Invariant::Sound, what });
        }
        self
    }

    fn panicked(text: &str) -> Self {
        let violation = Violation { invariant: Invariant::Sound, what: format!("a panic: {text}") };
        Self {
            violation: Some(violation),
            hash: 0,
            sorts: Vec::new(),
            struck: 0,
            writes: 0,
            calls: 0,
            took: Duration::ZERO,
            lines: Vec::new(),
            left: Vec::new(),
        }
    }
}
