//! The world around the sidecars: an API server, a driver, people, and everything that goes wrong.

mod acts;
mod calls;
mod environment;

mod life;
mod looks;
mod objects;
mod processes;
mod steps;
mod transport;
mod wire;

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cosi_apiserver::{ApiServer, Clock};
use cosi_lifecycle::Time;
use cosi_sim::driver::ScriptedDriver;
use jiff::Timestamp;
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use tokio::time::Instant;

use self::looks::Looks;
pub(crate) use self::objects::{HOLD, Objects};
use self::processes::Process;
pub(crate) use self::processes::host;
pub(crate) use self::wire::Letter;
use crate::oracle::Facts;
use crate::schedule::{ApiFault, Move, Schedule};
use crate::trace::{Trace, Who};
use crate::{Invariant, Violation};

/// The driver's name.
pub(crate) const DRIVER: &str = "simulated.example";

/// What the clocks of this machine showed when the run began.
const BOOTED: Duration = Duration::from_secs(1000);

/// Everything there is in a run.
pub(crate) struct World {
    pub(crate) schedule: Schedule,
    pub(crate) api: ApiServer,
    pub(crate) driver: ScriptedDriver,
    begun: Instant,
    state: Mutex<State>,
}

/// What changes.
pub(crate) struct State {
    /// What is still to happen.
    moves: VecDeque<(u32, Move)>,
    /// How many steps there were.
    pub(crate) steps: u32,
    /// Of which sort each was, for those who enumerate.
    pub(crate) sorts: Vec<Sort>,
    chance: StdRng,
    processes: Vec<Process>,
    looks: Looks,
    /// What the next request about the Lease meets.
    pub(crate) lease_fault: Option<ApiFault>,
    trace: Trace,
    /// When something last happened that is not the sidecars' own doing.
    pub(crate) disturbed: Instant,
    /// When the last step was.
    pub(crate) last_step: Instant,
    pub(crate) facts: Facts,
    pub(crate) violations: Vec<Violation>,
    /// How much is still under way, whoever gave it up.
    pub(crate) under_way: u32,
}

/// What sort of step it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sort {
    /// A request to the API server that reads.
    Read,
    /// One that writes.
    Write,
    /// A call to the driver.
    Call,
}

impl World {
    pub(crate) fn new(schedule: &Schedule, traced: bool) -> Result<Arc<Self>, crate::SetupError> {
        let begun = Instant::now();
        let settings = cosi_apiserver::Settings {
            clock: Arc::new(Calendar { begun }),
            seed: schedule.seed,
            managers: false,
            definitions: false,
            ..cosi_apiserver::Settings::default()
        };
        let state = State {
            moves: schedule.moves.iter().copied().collect(),
            steps: 0,
            sorts: Vec::new(),
            chance: StdRng::seed_from_u64(schedule.seed ^ 0x5eed),
            processes: (0..schedule.sidecars).map(|_| Process::default()).collect(),
            looks: Looks::default(),
            lease_fault: None,
            trace: Trace::new(traced),
            disturbed: begun,
            last_step: begun,
            facts: Facts::default(),
            violations: Vec::new(),
            under_way: 0,
        };
        let world = Arc::new(Self {
            schedule: schedule.clone(),
            api: ApiServer::new(settings)?,
            driver: ScriptedDriver::in_memory(schedule.driver.abilities(DRIVER)),
            begun,
            state: Mutex::new(state),
        });
        world.listen_to_the_driver();
        Ok(world)
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        // A run that panicked is reported as such; what others see of it does not matter.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How long the run has lasted.
    pub(crate) fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }

    /// The machine's clock since its boot, which sidecars and driver share.
    pub(crate) fn now(&self) -> Time {
        Time::at(BOOTED + self.elapsed())
    }

    /// The same, as the driver counts it.
    pub(crate) fn boot_nanos(&self) -> u64 {
        u64::try_from(self.now().since_origin().as_nanos()).unwrap_or(u64::MAX)
    }

    /// Something happened.
    pub(crate) fn tell(&self, who: Who, what: fmt::Arguments<'_>) {
        self.tell_of(who, who, what);
    }

    /// Somebody said something to somebody.
    pub(crate) fn tell_of(&self, who: Who, whom: Who, what: fmt::Arguments<'_>) {
        let at = self.elapsed();
        self.lock().trace.add(at, (who, whom), what);
    }

    pub(crate) fn violate(&self, invariant: Invariant, what: String) {
        self.tell(Who::World, format_args!("VIOLATION of {invariant}: {what}"));
        self.lock().violations.push(Violation { invariant, what });
    }

    /// Something is under way that may land whatever happens. The run does not end before that.
    pub(crate) fn under_way(self: &Arc<Self>) -> UnderWay {
        self.lock().under_way += 1;
        UnderWay(Arc::clone(self))
    }

    /// Something happened that the trace tells only in part.
    pub(crate) fn note(&self, whole: &[u8]) {
        self.lock().trace.note(whole);
    }

    /// The trace, at the end.
    pub(crate) fn take_trace(&self) -> Trace {
        std::mem::replace(&mut self.lock().trace, Trace::new(false))
    }
}

/// While it exists, something is under way.
pub(crate) struct UnderWay(Arc<World>);

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.lock().under_way -= 1;
    }
}

/// The time of day.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Calendar {
    begun: Instant,
}

impl Clock for Calendar {
    fn now(&self) -> Timestamp {
        // 2026-01-01; a run lasts minutes.
        let beginning = 1_767_225_600_000_i64;
        let passed = i64::try_from(self.begun.elapsed().as_millis()).unwrap_or_default();
        Timestamp::from_millisecond(beginning + passed).unwrap_or_default()
    }
}

impl fmt::Debug for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "World({})", self.schedule)
    }
}
