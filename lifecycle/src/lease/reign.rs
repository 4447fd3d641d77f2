//! What a leader knows of its Lease.

use super::{End, Found, Loss, Moment, Record, Term, Terms};
use crate::Time;

/// A leader's hold on the Lease.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Reign {
    /// The Lease, as our last write or read returned it.
    pub(super) held: Found,
    /// When it was known that it is ours.
    pub(super) since: Time,
    /// When the last write that is known to have succeeded was sent.
    pub(super) sent: Time,
    /// When there is something to do again.
    pub(super) next: Time,
    /// `held` may be old: it is to be read before it is written.
    pub(super) doubtful: bool,
    /// It is to be given back.
    pub(super) resigning: bool,
}

impl Reign {
    /// Begins with a write that was sent at `sent` and is known now to have succeeded.
    pub(super) fn new(held: Found, sent: Time, now: Time, terms: &Terms) -> Self {
        let next = sent + terms.retry();
        Self { held, since: now, sent, next, doubtful: false, resigning: false }
    }

    /// A renewal that was sent at `sent` has succeeded.
    pub(super) fn renewed(self, held: Found, sent: Time, terms: &Terms) -> Self {
        Self { held, sent, next: sent + terms.retry(), doubtful: false, ..self }
    }

    /// The Lease may have changed. It is to be read then.
    pub(super) fn doubt(self, at: Time) -> Self {
        Self { doubtful: true, next: at, ..self }
    }

    pub(super) fn term(&self, terms: &Terms) -> Term {
        let (act_until, end) = (self.sent + terms.deadline(), self.sent + terms.duration());
        Term { since: self.since, act_until, end }
    }

    /// What is left of the term, if it is over.
    pub(super) fn over(&self, terms: &Terms, now: Time) -> Option<End> {
        let over = now >= self.term(terms).act_until;
        over.then_some(if self.resigning { End::NotReleased } else { End::Lost(Loss::NotRenewed) })
    }

    /// Whether a change that somebody tells of leaves everything as it was. Old news of own writes are no news; but who waits
    /// for us goes by the duration in the record, so that must be ours.
    pub(super) fn is_old_news(&self, seen: Option<&Found>, terms: &Terms) -> bool {
        let record = seen.map(|found| &found.record);
        record.is_some_and(|r| r.holder == self.held.record.holder && r.seconds == terms.seconds())
    }

    /// The record that keeps the Lease.
    pub(super) fn renewal(&self, terms: &Terms, at: Moment) -> Record {
        let record = self.held.record.clone();
        Record { seconds: terms.seconds(), renewed: Some(at.wall), ..record }
    }

    /// The record that gives the Lease back, as client-go writes it.
    pub(super) fn release(&self, at: Moment) -> Record {
        let (acquired, renewed) = (Some(at.wall), Some(at.wall));
        Record {
            holder: Box::default(),
            seconds: 1,
            acquired,
            renewed,
            transitions: self.held.record.transitions,
        }
    }
}

/// How the Lease was lost, if a live read shows that it is not ours.
pub(super) fn lost(found: &Found, me: &str) -> Option<Loss> {
    match &*found.record.holder {
        "" => Some(Loss::Emptied),
        other if other != me => Some(Loss::Taken { by: other.into() }),
        _ => None,
    }
}
