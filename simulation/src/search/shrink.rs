//! A schedule that breaks an invariant, made as small as it gets.

use std::time::Duration;

use crate::schedule::{DriverKind, Schedule};
use crate::{Bug, Invariant, Options, SetupError, run_with};

/// The smallest schedule found that breaks the same invariant: fewer things happen in it, and it is about a simpler world.
///
/// # Errors
/// The world could not be made.
pub fn shrink(schedule: &Schedule, bug: Option<Bug>, broken: Invariant) -> Result<Schedule, SetupError> {
    let breaks = |schedule: &Schedule| -> Result<bool, SetupError> {
        let outcome = run_with(schedule, Options { traced: false, bug })?;
        Ok(outcome.violation.is_some_and(|violation| violation.invariant == broken))
    };
    let mut smallest = schedule.clone();
    loop {
        let mut smaller = None;
        for candidate in simpler(&smallest) {
            if breaks(&candidate)? {
                smaller = Some(candidate);
                break;
            }
        }
        match smaller {
            Some(smaller) => smallest = smaller,
            None => return Ok(smallest),
        }
    }
}

/// Schedules that are simpler by one step, the simplest first.
fn simpler(schedule: &Schedule) -> Vec<Schedule> {
    let mut all: Vec<Schedule> = (0..schedule.moves.len())
        .map(|index| {
            let mut fewer = schedule.clone();
            fewer.moves.remove(index);
            fewer
        })
        .collect();
    if schedule.sidecars > 1 {
        all.push(Schedule { sidecars: 1, ..schedule.clone() });
    }
    if !schedule.lag.is_zero() {
        all.push(Schedule { lag: Duration::ZERO, ..schedule.clone() });
    }
    if schedule.driver != DriverKind::GOOD {
        all.push(Schedule { driver: DriverKind::GOOD, ..schedule.clone() });
    }
    all
}
