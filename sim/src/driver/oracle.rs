//! The invariants that a driver can judge from what it saw (lifecycle.md §3), as checks with a readable report.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::Duration;

use super::backend::Bucket;
use super::call::{Call, Rpc};
use super::ledger::{Effect, End, Event, Ledger};

/// An invariant that does not hold, with the part of the ledger that shows it.
///
/// Debug prints the same text as Display, so that an `unwrap()` in a test is readable.
#[derive(Clone, thiserror::Error)]
#[error("{invariant} is broken: {what}\n{ledger}")]
pub struct Violation {
    /// Its number.
    pub invariant: &'static str,
    what: String,
    ledger: Ledger,
}

impl fmt::Debug for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

type Check = Result<(), Violation>;

/// A client's clock and ours don't read the same instant.
const TOLERANCE: Duration = Duration::from_millis(50);

/// The ledger, ordered for questions about one name.
struct Index<'a> {
    calls: BTreeMap<&'a str, Vec<&'a Call>>,
    ends: BTreeMap<usize, (Duration, &'a End)>,
}

impl<'a> Index<'a> {
    fn new(ledger: &'a Ledger) -> Self {
        let mut index = Self { calls: BTreeMap::new(), ends: BTreeMap::new() };
        for (at, event) in &ledger.events {
            match event {
                Event::Arrived(call) if !call.key().is_empty() => {
                    index.calls.entry(call.key()).or_default().push(call);
                }
                Event::Ended { call, end } => drop(index.ends.insert(*call, (*at, end))),
                Event::Arrived(_) | Event::Did { .. } | Event::Note(_) => {}
            }
        }
        index
    }

    fn of(&self, name: &str) -> &[&'a Call] {
        self.calls.get(name).map(Vec::as_slice).unwrap_or_default()
    }

    /// In flight as the client could see it: from arrival to answer, or to its giving up.
    fn most_in_flight(&self, name: &str) -> usize {
        let calls = self.of(name);
        let runs_at =
            |call: &Call, at| call.at <= at && self.ends.get(&call.number).is_none_or(|(end, _)| *end > at);
        calls
            .iter()
            .map(|now| calls.iter().filter(|call| runs_at(call, now.at)).count())
            .max()
            .unwrap_or_default()
    }

    fn creates_after_delete(&self, name: &str) -> Vec<&'a Call> {
        let undoes = |rpc| matches!(rpc, Rpc::Delete | Rpc::DeleteByName | Rpc::Revoke | Rpc::RevokeByName);
        let ends = self
            .of(name)
            .iter()
            .filter(|call| undoes(call.rpc))
            .filter_map(|call| self.ends.get(&call.number));
        let Some(undone) = ends.filter(|(_, end)| end.is_ok()).map(|(at, _)| *at).min() else {
            return vec![];
        };
        let makes = |call: &&Call| matches!(call.rpc, Rpc::Create | Rpc::Grant) && call.at > undone;
        self.of(name).iter().copied().filter(makes).collect()
    }

    /// When the client had to take the call for running on without an end that it knows; none if it needn't.
    fn unknown_since(&self, call: &Call) -> Option<Duration> {
        let (at, end) = *self.ends.get(&call.number)?;
        let aborted = matches!(end, End::Answered { code, .. } if *code == tonic::Code::Aborted as i32);
        // The driver hears late that its client's time was over.
        let by_deadline = call.timeout.map_or(at, |timeout| at.min(call.at + timeout));
        (end.is_unknown(call.rpc) && !aborted).then_some(by_deadline)
    }
}

impl Ledger {
    fn violation(&self, invariant: &'static str, about: &str, what: String) -> Check {
        Err(Violation { invariant, what, ledger: self.only(about) })
    }

    /// The highest number of calls that were in flight at once for the name (or an id that nobody here made), as their
    /// client could see it.
    #[must_use]
    pub fn most_in_flight(&self, name: &str) -> usize {
        Index::new(self).most_in_flight(name)
    }

    /// Creates and Grants for the name that arrived after a delete or revoke for it was answered OK.
    #[must_use]
    pub fn creates_after_delete(&self, name: &str) -> Vec<&Call> {
        Index::new(self).creates_after_delete(name)
    }

    /// I8: no name ever had two calls in flight.
    ///
    /// # Errors
    /// A [`Violation`].
    pub fn one_call_at_a_time(&self) -> Check {
        let index = Index::new(self);
        for name in index.calls.keys() {
            let most = index.most_in_flight(name);
            if most > 1 {
                return self.violation("I8", name, format!("{most} calls were in flight at once for {name}"));
            }
        }
        Ok(())
    }

    /// I8 across a change of the leader: calls for one name that were in flight at once both undo.
    ///
    /// # Errors
    /// A [`Violation`].
    pub fn overlaps_only_in_undoing(&self) -> Check {
        let index = Index::new(self);
        let makes = |call: &Call| matches!(call.rpc, Rpc::Create | Rpc::Grant);
        for (name, calls) in &index.calls {
            for later in calls {
                let runs = |call: &&&Call| {
                    call.number < later.number
                        && index.ends.get(&call.number).is_none_or(|(end, _)| *end > later.at)
                        && (makes(call) || makes(later))
                };
                if let Some(earlier) = calls.iter().find(runs) {
                    let what = format!("{earlier} and {later} were in flight at once for {name}");
                    return self.violation("I8", name, what);
                }
            }
        }
        Ok(())
    }

    /// I2: no name ever had two buckets (or accounts) at once, and none was asked for again after its deletion was
    /// acknowledged.
    ///
    /// # Errors
    /// A [`Violation`].
    pub fn no_double(&self) -> Check {
        let mut there: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (_, event) in &self.events {
            match event {
                Event::Did { effect: Effect::Made { id, name, .. }, .. } => {
                    let ids = there.entry(name).or_default();
                    ids.insert(id);
                    if ids.len() > 1 {
                        return self.violation(
                            "I2",
                            name,
                            format!("{name} had {} at once: {ids:?}", ids.len()),
                        );
                    }
                }
                Event::Did { effect: Effect::Deleted { id, name }, .. } => {
                    there.entry(name).or_default().remove(id.as_str());
                }
                _ => {}
            }
        }
        let index = Index::new(self);
        for name in index.calls.keys() {
            if let Some(call) = index.creates_after_delete(name).first() {
                return self.violation("I2", name, format!("{call} came after {name} was deleted"));
            }
        }
        Ok(())
    }

    /// R3: after a call whose outcome its client could not know, nothing came for that name before `grace` was over
    /// (ABORTED aside).
    ///
    /// # Errors
    /// A [`Violation`].
    pub fn grace_kept(&self, grace: Duration) -> Check {
        self.grace_kept_but(grace, |_, _| false)
    }

    /// The same, but for pairs of calls that are excused.
    ///
    /// # Errors
    /// A [`Violation`].
    pub fn grace_kept_but(&self, grace: Duration, excused: impl Fn(&Call, &Call) -> bool) -> Check {
        let index = Index::new(self);
        for (name, calls) in &index.calls {
            for (before, after) in calls.iter().zip(calls.iter().skip(1)) {
                if excused(before, after) {
                    continue;
                }
                let Some(ended) = index.unknown_since(before) else { continue };
                let gap = after.at.saturating_sub(ended);
                if gap + TOLERANCE < grace {
                    return self.violation(
                        "R3",
                        name,
                        format!("{after} came {gap:?} after {before}, which may run"),
                    );
                }
            }
        }
        Ok(())
    }
}

impl Violation {
    /// I1: the backend has other accounts than it should.
    pub(super) fn orphaned_account(there: &[String], wanted: &[&str], ledger: Ledger) -> Self {
        let what = format!("the backend has accounts for {there:?}, wanted are {wanted:?}");
        Self { invariant: "I1", what, ledger }
    }

    /// I1: the backend has other buckets than it should.
    pub(super) fn orphan(buckets: &[Bucket], wanted: &[&str], ledger: Ledger) -> Self {
        let ours = buckets.iter().filter(|bucket| !bucket.foreign);
        let there: Vec<(&str, &str)> = ours.map(|b| (b.name.as_str(), b.id.as_str())).collect();
        let what = format!("the backend has buckets (name, id) {there:?}, wanted are {wanted:?}");
        Self { invariant: "I1", what, ledger }
    }
}

/// I4: every foreign bucket is still there.
pub(super) fn foreign_untouched(ledger: &Ledger, foreign: &BTreeSet<String>) -> Check {
    let gone = ledger.events.iter().find_map(|(_, event)| match event {
        Event::Did { effect: Effect::Deleted { id, .. }, .. } if foreign.contains(id) => Some(id),
        _ => None,
    });
    match gone {
        None => Ok(()),
        Some(id) => {
            let what = format!("{id} was there before us and is gone");
            Err(Violation { invariant: "I4", what, ledger: ledger.clone() })
        }
    }
}
