//! `cosi-simulation`: see `--help`.

use std::process::ExitCode;

use clap::Parser;
use cosi_simulation::Schedule;
use cosi_simulation::search::{report, search};

/// Looks for schedules of faults that break an invariant of the sidecar, in virtual time.
#[derive(Debug, Parser)]
#[command(name = "cosi-simulation", version, about, long_about = None)]
struct Settings {
    /// How many seeds to run
    #[arg(long, default_value_t = 1000, value_name = "N")]
    seeds: u64,
    /// The first seed
    #[arg(long, default_value_t = 0, value_name = "SEED")]
    from: u64,
    /// Run this seed only, and tell who did what
    #[arg(long, value_name = "SEED")]
    replay: Option<u64>,
    /// How many threads
    #[arg(long, default_value_t = 2, value_name = "N")]
    threads: usize,
}

fn main() -> ExitCode {
    let settings = Settings::parse();
    if let Some(seed) = settings.replay {
        match report(&Schedule::random(seed)) {
            Ok(text) => println!("{text}"),
            Err(error) => eprintln!("{error}"),
        }
        return ExitCode::SUCCESS;
    }
    let end = settings.from.saturating_add(settings.seeds);
    match search((settings.from..end).map(Schedule::random), settings.threads) {
        Ok(found) => {
            for (schedule, violation) in &found.violations {
                println!("{schedule}\n  {}\n", violation.to_string().lines().next().unwrap_or_default());
            }
            let seconds = found.took.as_secs_f64();
            println!("{} schedules, {} violations, {seconds:.1} s", found.schedules, found.violations.len());
            if found.violations.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
