//! What a person was told and is still to be told.

use std::collections::VecDeque;

use super::Attempt;
use crate::note::{Note, NoteReason, Subject};
use crate::{Failure, Outcome, Problem, Report, Retry};

/// Notes to come, and what was told before.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Telling {
    pub(crate) report: Report,
    pub(crate) notes: VecDeque<Note>,
    pub(crate) told: Vec<NoteReason>,
}

impl Telling {
    /// Whether nothing is to be told or remembered.
    pub(crate) fn is_empty(&self) -> bool {
        self.report.is_empty() && self.notes.is_empty()
    }

    /// Queues a note, once per reason and owner.
    pub(crate) fn note_once(&mut self, note: Note) {
        if !self.told.contains(&note.reason) {
            self.told.push(note.reason);
            self.notes.push_back(note);
        }
    }

    /// Remembers a problem, and queues a note when it is another one than before.
    pub(crate) fn raise(&mut self, about: &impl Subject, problem: Problem, reason: NoteReason) {
        let note = Note::warning(about, reason, &problem.text);
        // The same error may get another meaning: it blocks a deletion now.
        let meaning_is_new = !self.told.contains(&reason);
        if meaning_is_new {
            self.told.push(reason);
        }
        if self.report.raise(problem) || meaning_is_new {
            self.notes.push_back(note);
        }
    }

    /// A call failed and will be tried again.
    pub(crate) fn complain(
        &mut self,
        about: &impl Subject,
        attempt: Attempt,
        failure: &Failure,
        retry: Retry,
    ) {
        let outcome = failure.outcome(attempt.rpc);
        // A driver that restarts is no news; one that stays away is. Nor is a call that is still at work: what is known of it
        // says more than ABORTED.
        let at_work = outcome == Outcome::Busy && self.report.is_about(attempt.rpc);
        if at_work || (outcome == Outcome::NotSent && retry.failures < 2) {
            return;
        }
        let reason = attempt.reason_of_failure(failure);
        self.raise(about, Problem::call(attempt.rpc, failure), reason);
    }
}
