//! What the oracles know of a run besides objects and ledger: what excuses what.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use cosi_sim::driver::Rpc;
use serde_json::Value;
use tokio::time::Instant;

use crate::schedule::Fault;

/// Facts of a run.
#[derive(Clone, Debug, Default)]
#[allow(clippy::struct_excessive_bools, reason = "independent facts")]
pub(crate) struct Facts {
    /// Calls that ask the driver who it is.
    pub(crate) greetings: BTreeSet<usize>,
    /// Calls that delete, and what for.
    pub(crate) deletions: BTreeMap<usize, (Rpc, String)>,
    /// A deletion by name was refused, or had no answer: then a replay is the way (R10 e).
    pub(crate) replays: bool,
    /// Names for which a deletion was acknowledged, to which process, and nobody has asked anew.
    pub(crate) acknowledged: BTreeMap<String, usize>,
    /// Whose each call was.
    pub(crate) callers: BTreeMap<usize, usize>,
    /// Which have no end yet.
    running: BTreeSet<usize>,
    /// Which process last sent something to the driver.
    pub(crate) caller: usize,
    /// Somebody took the finalizer off.
    stripped: bool,
    /// So that nobody can know what is at the backend: while Ready, or in a run in which a process died (R12).
    pub(crate) forced: bool,
    /// What a process knew that has ended, nobody knows. Without a fault, one that ends in good order leaves nothing behind.
    in_the_dark: bool,
    /// How often a process ended, in whatever way.
    pub(crate) deaths: u32,
    /// Somebody took a Secret away.
    pub(crate) meddled: bool,
    /// When somebody last changed the deletion policy.
    pub(crate) flipped: Option<Instant>,
    /// The object as it was before the last write of a sidecar.
    pub(crate) before: Option<Arc<Value>>,
    /// A sidecar let a Bucket go that was to be retained.
    pub(crate) retained: bool,
    /// Somebody let a Bucket go by force that was to be retained, as far as a sidecar could know (R12).
    pub(crate) retained_by_force: bool,
    /// Somebody took the bucket away at the backend.
    pub(crate) vanished: bool,
    /// A bucket or an account was made.
    pub(crate) made: bool,
    /// The id of a bucket that is somebody else's.
    pub(crate) foreign_bucket: Option<String>,
    /// The object that somebody else holds, too, by UID.
    pub(crate) held: Option<String>,
    /// Somebody else's Secret in the place of the access's, as it was made.
    pub(crate) foreign_secret: Option<Arc<Value>>,
    /// The error that was last written to the status, and when.
    pub(crate) reported: Option<(String, Instant)>,
    /// How often it was written again before its time.
    pub(crate) repeated: u32,
    /// How many faults of the schedule met a step.
    pub(crate) struck: u32,
    /// Somebody said that the rest at the backend is theirs (R14).
    pub(crate) let_go: bool,
    /// Reasons of Events: a person was told, by the log, too, if the namespace took no Events any more (R16).
    pub(crate) told: BTreeSet<String>,
    /// A result landed that a process had in its hands while it stood still, and others worked meanwhile: a listed limit.
    pub(crate) overtaken: bool,
    /// A call had no certain outcome, and whoever made it lives.
    pub(crate) unknown: bool,
    /// A Bucket to be retained is gone by force, and everybody has seen for how long it was to be: its bucket stays (R12).
    pub(crate) kept: bool,
    /// How many writes the sidecars made, Leases and Events aside.
    pub(crate) writes: u32,
    /// How many calls reached the driver.
    pub(crate) calls: u32,
}

impl Facts {
    /// A fault met its step.
    pub(crate) fn struck(&mut self, fault: Fault) {
        self.struck += 1;
        self.unknown |= matches!(fault, Fault::Call(fault) if !fault.may_be_final());
    }

    /// The process that last sent something has sent that call.
    pub(crate) fn call_arrived(&mut self, call: usize) {
        self.callers.insert(call, self.caller);
        self.running.insert(call);
    }

    pub(crate) fn call_ended(&mut self, call: usize) {
        self.running.remove(&call);
    }

    /// Whether a call of that process has no end yet.
    pub(crate) fn is_calling(&self, process: usize) -> bool {
        self.running.iter().any(|call| self.callers.get(call) == Some(&process))
    }

    /// Whether any other call than that one has no end yet.
    pub(crate) fn runs_another(&self, call: usize) -> bool {
        self.running.iter().any(|other| *other != call)
    }

    /// A process ended: it crashed, or it was told to stop or lost its lease, and then did what it alone could do.
    pub(crate) fn process_ended(&mut self, crashed: bool) {
        self.deaths += 1;
        self.unknown = false;
        // Nobody waits at a stop for what could not be done.
        self.in_the_dark |= crashed || self.struck > 0 || self.told.contains("DeletionBlocked");
        self.forced |= self.stripped && self.in_the_dark;
    }

    pub(crate) fn stripped(&mut self, ready: bool) {
        self.stripped = true;
        self.held = None;
        self.forced |= ready || self.in_the_dark;
    }

    /// Whether somebody took the finalizer off in a run in which a process ended: its successor need not have seen an intent.
    pub(crate) fn was_intent_taken(&self) -> bool {
        self.stripped && self.deaths > 0
    }

    /// Whether somebody interfered with what holds the object.
    pub(crate) fn was_stripped(&self) -> bool {
        self.stripped
    }
}
