//! The invariants that are alike for all kinds, checked against the backend and the API server, not against the machine's
//! word.

use super::calls::{makes, undoes};
use super::{Asked, Fault, GRACE, Held as _, Invariant::*, Kind, Running, World};

/// What must hold; the numbers are those of the design record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Invariant {
    /// I1
    NoOrphan,
    /// I2
    NoDouble,
    /// I3
    NoLoss,
    /// I4
    NothingForeign,
    /// I5
    Truth,
    /// I6
    Progress,
    /// I8
    OneAtATime,
    /// I9
    Thrift,
}

/// A broken invariant.
#[derive(Clone, Debug)]
pub(crate) struct Violation {
    pub(crate) invariant: Invariant,
    pub(crate) text: String,
}

impl<K: Kind> World<K> {
    /// I8, and no second life: before a request is sent.
    pub(super) fn check_sending(&mut self, asked: &Asked<'_>) {
        let rpc = asked.rpc;
        let serialises = self.backend.kind.serialises;
        let harmless = |r: &Running| {
            (r.crashes > 0 && undoes(r.rpc) && undoes(rpc))
                || (serialises && r.rpc == rpc)
                || r.outlived_memory()
        };
        // Without its finalizer an object can't tell of a predecessor's call.
        let excused = |r: &Running| r.crashes > 0 && self.forced;
        let concerns = |r: &&Running| r.name == *asked.name && !harmless(r) && !excused(r);
        if let Some(running) = self.backend.running.iter().find(concerns) {
            let text = format!("{rpc} is sent while {} is at work", running.rpc);
            self.violate(OneAtATime, text);
        }
        // While a predecessor's calls may be at work, an old event may look like what it left, and is replayed after
        // that.
        let acknowledged = self.acknowledged.contains(asked.by);
        if makes(rpc) && acknowledged && self.now > self.predecessor_done + GRACE {
            self.violate(NoDouble, format!("{rpc} after the undoing was acknowledged"));
        }
        K::check_call(self, asked);
    }

    /// Before finalizers are written, and after: others' are still there.
    pub(crate) fn check_foreign_finalizers(&mut self, before: Option<Box<[Box<str>]>>) {
        let after = self.api.object.as_ref().map(|o| o.view.others().to_vec());
        let lost = before.is_some_and(|b| !b.is_empty() && after.as_deref() != Some(&*b));
        if lost {
            self.violate(NothingForeign, "a foreign finalizer was lost".to_owned());
        }
    }

    /// After work has landed.
    pub(super) fn check_removed(&mut self) {
        for (id, by) in std::mem::take(&mut self.backend.removed) {
            let Some(by) = by else {
                self.violate(NothingForeign, format!("somebody else's {id} was deleted"));
                continue;
            };
            let alive =
                self.api.object.as_ref().is_some_and(|o| *o.view.uid() == by && !o.view.is_deleting());
            if alive && self.forced {
                self.lost = true;
            } else if alive {
                self.violate(NoLoss, format!("{id} was deleted while its owner is alive"));
            }
        }
    }

    /// I9: calls and writes equal the floor plus what the faults cost.
    pub(super) fn check_thrift(&mut self, floor: (usize, usize), plan: &[(usize, Fault)]) {
        let detour = if self.backend.kind.by_name { 0 } else { 2 };
        let not_found = usize::from(self.backend.kind.not_found);
        let cost: usize = plan.iter().map(|(_, fault)| fault.cost()).sum();
        let writes = floor.0 + K::writes_per_fault(self) * plan.len();
        let rpcs = floor.1 + cost + detour + not_found;
        if self.writes > writes || self.rpcs > rpcs {
            let text = format!("{} writes of {writes}, {} calls of {rpcs}", self.writes, self.rpcs);
            self.violate(Thrift, text);
        }
    }
}
