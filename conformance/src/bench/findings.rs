//! What a check found.

use std::sync::{Mutex, PoisonError};

use crate::checks::Severity;
use crate::report::Finding;

/// How many findings of one check are kept; a thousand rounds may find the same a thousand times.
const KEPT: usize = 10;

/// Why a check ends early.
#[derive(Debug)]
pub(crate) enum Stop {
    /// It can't be tried here, for this reason.
    Skip(String),
    /// Something that had to work for it did not.
    Fail(String),
}

/// What a check found so far; it stays if the check breaks off.
#[derive(Default)]
pub(crate) struct Findings(Mutex<State>);

#[derive(Default)]
struct State {
    findings: Vec<(Option<Severity>, String)>,
    left_out: usize,
    notes: Vec<String>,
}

impl Findings {
    pub(crate) fn add(&self, severity: Option<Severity>, text: String) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if state.findings.len() < KEPT { state.findings.push((severity, text)) } else { state.left_out += 1 }
    }

    pub(crate) fn note(&self, text: String) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).notes.push(text);
    }

    /// Findings, where none is said of the check's own severity, and notes.
    pub(crate) fn take(&self, usual: Severity) -> (Vec<Finding>, Vec<String>) {
        let state = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        let finding = |(severity, text): (Option<Severity>, String)| Finding {
            severity: severity.unwrap_or(usual),
            text,
        };
        let mut notes = state.notes;
        if state.left_out > 0 {
            notes.push(format!("{} more findings of this kind are left out", state.left_out));
        }
        (state.findings.into_iter().map(finding).collect(), notes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thousand_findings_are_ten_and_a_note() {
        let findings = Findings::default();
        (0..1000).for_each(|n| findings.add(None, n.to_string()));
        let (kept, notes) = findings.take(Severity::Must);
        assert_eq!((kept.len(), notes.len()), (10, 1));
        assert!(notes[0].starts_with("990 more"));
    }
}
