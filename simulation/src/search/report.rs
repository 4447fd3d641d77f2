//! What a person reads about a violation: who did what, in which order; what was broken; what is left.

mod diagram;

use std::fmt::{self, Write as _};

use self::diagram::Diagram;
use crate::schedule::Schedule;
use crate::{Bug, Options, Outcome, SetupError, run_with};

/// Runs the schedule once more and tells who did what.
///
/// # Errors
/// The world could not be made.
pub fn report(schedule: &Schedule, bug: Option<Bug>) -> Result<Report, SetupError> {
    let outcome = run_with(schedule, Options { traced: true, bug })?;
    Ok(Report { text: text(schedule, bug, &outcome), sound: outcome.violation.is_none() })
}

/// A run, told.
#[derive(Clone, Debug)]
pub struct Report {
    /// Who did what, and what came of it.
    pub text: String,
    /// Nothing was broken.
    pub sound: bool,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

fn text(schedule: &Schedule, bug: Option<Bug>, outcome: &Outcome) -> String {
    let seeded = bug.map(|bug| format!("\n  seeded bug: {bug}")).unwrap_or_default();
    let diagram = Diagram { sidecars: schedule.sidecars, lines: &outcome.lines };
    let mut text = format!("{schedule}{seeded}\n\n{diagram}\n");
    // Writing to a text cannot fail.
    let _ = match &outcome.violation {
        Some(violation) => writeln!(text, "{}", diagram::short(&violation.to_string())),
        None => writeln!(text, "nothing was broken"),
    };
    for line in &outcome.left {
        let _ = writeln!(text, "  {}", diagram::short(line));
    }
    text
}
