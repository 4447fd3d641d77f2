//! Every fault schedule, in virtual time.
//!
//! A run is one seeded, single-threaded runtime whose clock moves only when everybody waits. In it are an API server in memory,
//! a scripted driver with all vices, people, and one or two *real* sidecars: the code that users run, from its settings on. What
//! goes wrong, and when, says a [`Schedule`]; the same schedule gives the same run, step by step. The invariants are judged by
//! the backend's own ledger and the API server's own objects.
//!
//! - [`run`] runs a schedule; [`run_traced`] also writes down who did what.
//! - [`Schedule::random`] makes one from a seed.
//! - [`search`] looks for schedules that break an invariant: by chance, and one by one.

mod oracle;
pub mod schedule;
pub mod search;
mod settings;
mod trace;
mod world;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

pub use oracle::{Invariant, Violation};
pub use schedule::Schedule;
pub use trace::{Line, Who};
pub use world::Sort;

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
    /// How many writes the sidecars made, Leases and Events aside.
    pub writes: u32,
    /// How many calls reached the driver.
    pub calls: u32,
    /// How long it took, in virtual time.
    pub took: Duration,
    /// Who did what, if it was to be written down.
    pub lines: Vec<Line>,
}

/// Runs a schedule.
///
/// # Errors
/// The world could not be made.
pub fn run(schedule: &Schedule) -> Result<Outcome, SetupError> {
    run_with(schedule, false)
}

/// Runs a schedule and writes down who did what.
///
/// # Errors
/// The world could not be made.
pub fn run_traced(schedule: &Schedule) -> Result<Outcome, SetupError> {
    run_with(schedule, true)
}

fn run_with(schedule: &Schedule, traced: bool) -> Result<Outcome, SetupError> {
    // Where libraries take their chance from.
    fastrand::seed(schedule.seed);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build()?;
    let lived = catch_unwind(AssertUnwindSafe(|| {
        runtime.block_on(async {
            let world = World::new(schedule, traced)?;
            world.live().await;
            Ok::<_, SetupError>(outcome(&world))
        })
    }));
    match lived {
        Ok(outcome) => outcome,
        Err(panic) => {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
            Ok(Outcome::panicked(&text.unwrap_or_default()))
        }
    }
}

fn outcome(world: &World) -> Outcome {
    let trace = world.take_trace();
    let state = world.lock();
    Outcome {
        violation: state.violations.first().cloned(),
        hash: trace.hash(),
        sorts: state.sorts.clone(),
        writes: state.facts.writes,
        calls: state.facts.calls,
        took: world.elapsed(),
        lines: trace.into_lines(),
    }
}

impl Outcome {
    fn panicked(text: &str) -> Self {
        let violation = Violation { invariant: Invariant::Sound, what: format!("a panic: {text}") };
        Self {
            violation: Some(violation),
            hash: 0,
            sorts: Vec::new(),
            writes: 0,
            calls: 0,
            took: Duration::ZERO,
            lines: Vec::new(),
        }
    }
}
