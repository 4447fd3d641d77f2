//! The report for people.

use std::fmt::Write as _;

use super::{Outcome, Report, Verdict};
use crate::checks::Severity;

/// Where the text of a line begins.
const INDENT: &str = "         ";

/// The whole report.
#[must_use]
pub fn text(report: &Report) -> String {
    let outcomes: String = report.outcomes.iter().map(outcome).collect();
    outcomes + &end(report)
}

/// One check: a line, and below it what is wrong.
#[must_use]
pub fn outcome(outcome: &Outcome) -> String {
    let word = match outcome.verdict {
        Verdict::Passed => "ok",
        Verdict::Warned => "warning",
        Verdict::Failed => "FAILED",
        Verdict::Skipped => "skipped",
    };
    let mut text = format!("{word:<8} {}", outcome.id);
    if !outcome.findings.is_empty() {
        // Writing to a String can't fail.
        let _ok = write!(text, " ({})", outcome.requirements.join(", "));
    }
    text.push('\n');
    for finding in &outcome.findings {
        let mark = if finding.severity == Severity::Must { "" } else { "warning: " };
        let _ok = writeln!(text, "{INDENT}- {mark}{}", finding.text);
    }
    for note in &outcome.notes {
        let _ok = writeln!(text, "{INDENT}{note}");
    }
    text
}

/// The sums, and what is left at the backend.
#[must_use]
pub fn end(report: &Report) -> String {
    let mut text = format!(
        "\n{} at {}: {} checks, {} passed, {} failed, {} with warnings, {} skipped, in {:.1} s\n",
        report.driver.as_deref().unwrap_or("A driver without a name"),
        report.endpoint,
        report.outcomes.len(),
        report.count(Verdict::Passed),
        report.count(Verdict::Failed),
        report.count(Verdict::Warned),
        report.count(Verdict::Skipped),
        report.seconds,
    );
    if report.interrupted {
        text.push_str("The run was stopped before its end.\n");
    }
    if !report.left_over.is_empty() {
        text.push_str("Left at the backend, to be removed by hand:\n");
        report.left_over.iter().for_each(|left| text.extend(["- ", left, "\n"]));
    }
    text
}
