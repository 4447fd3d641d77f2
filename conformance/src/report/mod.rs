//! What comes out of a run.

mod junit;
mod text;

use std::time::Duration;

use serde::Serialize;

pub use self::junit::{ReportError, junit};
pub use self::text::{end, outcome, text};

use crate::checks::{Check, Severity};

/// What was found out about a driver.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// The driver's name, if it told one.
    pub driver: Option<String>,
    /// Its socket.
    pub endpoint: String,
    /// Version of this tool.
    pub version: &'static str,
    /// One for each check that was to be run, in order.
    pub outcomes: Vec<Outcome>,
    /// What may be at the backend still, and could not be taken away.
    pub left_over: Vec<String>,
    /// Whether the run was stopped before its end.
    pub interrupted: bool,
    /// How long it took, in seconds.
    pub seconds: f64,
}

/// What came of one check.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Outcome {
    /// Of the check.
    pub id: &'static str,
    /// What is tried.
    pub description: &'static str,
    /// The requirements that it is for.
    pub requirements: &'static [&'static str],
    /// How it ended.
    pub verdict: Verdict,
    /// What is wrong.
    pub findings: Vec<Finding>,
    /// What a reader should know: why it was skipped, or what was not tried.
    pub notes: Vec<String>,
    /// How long it took, in seconds.
    pub seconds: f64,
}

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Nothing is wrong.
    Passed,
    /// A SHOULD is broken.
    Warned,
    /// A MUST is broken.
    Failed,
    /// It was not tried, or not to the end.
    Skipped,
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// What it is, in a sentence.
    pub text: String,
}

impl Report {
    /// Whether no MUST is broken, everything was tried that was to be, and nothing is left at the backend.
    #[must_use]
    pub fn is_good(&self) -> bool {
        self.count(Verdict::Failed) == 0 && self.left_over.is_empty() && !self.interrupted
    }

    /// Whether a SHOULD is broken.
    #[must_use]
    pub fn has_warnings(&self) -> bool {
        self.outcomes
            .iter()
            .flat_map(|outcome| &outcome.findings)
            .any(|found| found.severity == Severity::Should)
    }

    /// How many checks ended so.
    #[must_use]
    pub fn count(&self, verdict: Verdict) -> usize {
        self.with(verdict).len()
    }

    /// The ids of the checks that ended so, in order.
    #[must_use]
    pub fn with(&self, verdict: Verdict) -> Vec<&'static str> {
        self.outcomes.iter().filter(|outcome| outcome.verdict == verdict).map(|outcome| outcome.id).collect()
    }

    /// Lets every text that came from outside go through `redact`.
    pub(crate) fn redacted(mut self, redact: impl Fn(&str) -> String) -> Self {
        self.outcomes = self.outcomes.into_iter().map(|outcome| outcome.redacted(&redact)).collect();
        self.left_over = self.left_over.iter().map(|text| redact(text)).collect();
        self
    }
}

impl Outcome {
    pub(crate) fn new(
        check: &'static Check,
        findings: Vec<Finding>,
        notes: Vec<String>,
        took: Duration,
    ) -> Self {
        let verdict = match findings.iter().map(|finding| finding.severity).max() {
            None => Verdict::Passed,
            Some(Severity::Should) => Verdict::Warned,
            Some(Severity::Must) => Verdict::Failed,
        };
        Self {
            id: check.id,
            description: check.description,
            requirements: check.requirements,
            verdict,
            findings,
            notes,
            seconds: took.as_secs_f64(),
        }
    }

    /// Not tried, or not to the end; what was found until then stays.
    pub(crate) fn skipped(mut self, why: String) -> Self {
        self.notes.insert(0, why);
        if self.verdict == Verdict::Passed {
            self.verdict = Verdict::Skipped;
        }
        self
    }

    pub(crate) fn redacted(mut self, redact: impl Fn(&str) -> String) -> Self {
        for finding in &mut self.findings {
            finding.text = redact(&finding.text);
        }
        self.notes = self.notes.iter().map(|text| redact(text)).collect();
        self
    }
}
