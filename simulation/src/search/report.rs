//! What a person reads about a violation.

use std::fmt::Write as _;

use crate::schedule::Schedule;
use crate::{Outcome, SetupError, run_traced};

/// Runs the schedule once more and tells who did what.
///
/// # Errors
/// The world could not be made.
pub fn report(schedule: &Schedule) -> Result<String, SetupError> {
    let outcome = run_traced(schedule)?;
    Ok(text(schedule, &outcome))
}

fn text(schedule: &Schedule, outcome: &Outcome) -> String {
    let mut text = format!("{schedule}\n\n");
    for line in &outcome.lines {
        // Writing to a text cannot fail.
        let _ = writeln!(text, "{line}");
    }
    let _ = match &outcome.violation {
        Some(violation) => writeln!(text, "\n{violation}"),
        None => writeln!(text, "\nnothing was broken"),
    };
    text
}
