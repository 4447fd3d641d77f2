//! A search whose progress is told.

use cosi_simulation::search::{ENOUGH, Found, report, search_and_tell, shrink};
use cosi_simulation::{Schedule, SetupError};

use super::summary;

/// Several searches, one after the other.
pub(super) struct Hunt {
    threads: usize,
    /// What all of them found.
    pub(super) found: Found,
}

impl Hunt {
    pub(super) fn new(threads: usize) -> Self {
        Self { threads, found: Found::default() }
    }

    /// Runs the schedules, and tells of those that break something.
    pub(super) fn go(
        &mut self,
        what: &str,
        schedules: impl Iterator<Item = Schedule> + Send,
    ) -> Result<(), SetupError> {
        let mut counted = 0_u64;
        let schedules = schedules.inspect(|_| {
            counted += 1;
            if counted.is_multiple_of(50_000) {
                eprintln!("{what}: {counted} begun");
            }
        });
        let found = search_and_tell(schedules, self.threads, |schedule, violation| {
            eprintln!("{what}: seed {}: {} is broken", schedule.seed, violation.invariant);
        })?;
        println!("{}", summary(&format!("{what}: "), &found));
        for (schedule, violation) in &found.violations {
            println!("\n{schedule}\n  {}", violation.to_string().lines().next().unwrap_or_default());
        }
        if found.violations.len() >= ENOUGH {
            println!("\nthese were enough: the search was not carried on");
        }
        if let Some((schedule, violation)) = found.violations.first() {
            let smallest = shrink(schedule, None, violation.invariant)?;
            println!("\nThe first, shrunk:\n\n{}", report(&smallest, None)?);
        }
        self.found.schedules += found.schedules;
        self.found.struck += found.struck;
        self.found.took += found.took;
        self.found.violations.extend(found.violations);
        Ok(())
    }

    /// The last line.
    pub(super) fn tell(&self) {
        println!("{}", summary("", &self.found));
    }
}
