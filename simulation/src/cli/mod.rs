//! The command line.

mod bugs;
mod hunt;

use std::io::{self, Write as _};
use std::str::FromStr;
use std::thread::available_parallelism;

use clap::Parser;
use cosi_model::{Bounds, check_all};
use cosi_simulation::search::{Found, distinct, pairs, report, singles};
use cosi_simulation::{Bug, Schedule, SetupError};

use self::hunt::Hunt;

/// Looks for schedules of faults that break an invariant of the sidecar, in virtual time.
#[derive(Debug, Parser)]
#[command(name = "cosi-simulation", version, about, long_about = None)]
pub(crate) struct Settings {
    /// How many schedules by chance to run
    #[arg(long, default_value_t = 1000, value_name = "N")]
    seeds: u64,
    /// The first of their seeds
    #[arg(long, default_value_t = 0, value_name = "SEED")]
    from: u64,
    /// Run the schedule of this seed only, and tell who did what; with --bugs NAME, with that bug
    #[arg(long, value_name = "SEED")]
    replay: Option<u64>,
    /// Run every single fault at every step with the deletion at every step, and all pairs of faults
    #[arg(long)]
    sweeps: bool,
    /// Visit every state of the model of the protocol
    #[arg(long)]
    model: bool,
    /// The sweeps, a million schedules by chance, and the worlds of the model that every test run visits
    #[arg(long)]
    full: bool,
    /// Seed each bug in turn, or the one of that name, and tell by which seed it is found
    #[arg(long, value_name = "NAME", num_args = 0..=1, default_missing_value = "")]
    bugs: Option<BugName>,
    /// How many threads; as many as there are processors if it is left out
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
}

const MILLION: u64 = 1_000_000;

/// One of the bugs, or all of them.
#[derive(Debug, Clone, Copy)]
struct BugName(Option<Bug>);

impl FromStr for BugName {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let bug = Bug::ALL.into_iter().find(|bug| format!("{bug:?}") == name);
        if bug.is_some() || name.is_empty() {
            return Ok(Self(bug));
        }
        let all: Vec<_> = Bug::ALL.iter().map(|bug| format!("{bug:?}")).collect();
        Err(format!("no such bug; there are {}", all.join(", ")))
    }
}

/// Does what the command line says. Returns whether nothing was broken.
pub(crate) fn run(settings: &Settings) -> Result<bool, SetupError> {
    if let Some(seed) = settings.replay {
        let report = report(&Schedule::random(seed), settings.bugs.and_then(|bug| bug.0))?;
        // Whoever reads only its beginning has closed the pipe.
        let _ = writeln!(io::stdout(), "{}", report.text);
        return Ok(report.sound);
    }
    let threads = settings.threads.unwrap_or_else(|| available_parallelism().map_or(1, usize::from));
    let seeds = |count: u64| settings.from..settings.from.saturating_add(count);
    if let Some(BugName(bug)) = settings.bugs {
        return bugs::table(bug, seeds(settings.seeds), threads);
    }
    let mut hunt = Hunt::new(threads);
    if settings.sweeps || settings.full {
        sweep(&mut hunt)?;
    }
    if settings.full {
        hunt.go("by chance", seeds(settings.seeds.max(MILLION)).map(Schedule::random))?;
    } else if !settings.sweeps && !settings.model {
        hunt.go("by chance", seeds(settings.seeds).map(Schedule::random))?;
    }
    let model_holds = !(settings.model || settings.full) || model(settings.full);
    hunt.tell();
    Ok(model_holds && hunt.found.violations.is_empty())
}

fn sweep(hunt: &mut Hunt) -> Result<(), SetupError> {
    let singles = singles()?;
    let pairs = pairs()?;
    let distinct = distinct(singles.iter().chain(&pairs));
    println!("{distinct} distinct schedules of single faults and of pairs");
    hunt.go("single faults", singles.into_iter())?;
    hunt.go("pairs of faults", pairs.into_iter())
}

/// The worlds that every test run visits, or all.
fn model(quick: bool) -> bool {
    let worlds = if quick { Bounds::quick() } else { Bounds::thorough() };
    let found = check_all(&worlds, |_, _| {});
    println!("model: {found}");
    found.violations.is_empty()
}

fn summary(what: &str, found: &Found) -> String {
    let Found { schedules, struck, .. } = found;
    let violations = found.violations.len();
    let seconds = found.took.as_secs_f64();
    #[allow(clippy::cast_precision_loss, reason = "for people")]
    let speed = *schedules as f64 / seconds.max(f64::MIN_POSITIVE);
    format!(
        "{what}{schedules} schedules, {struck} faults struck, {violations} violations, {seconds:.1} s ({speed:.0} a second)"
    )
}
