//! The invariants, checked against the backend and the API server, not against the machine's word.

use super::{GRACE, Invariant::*, World};
use crate::Rpc;
use crate::bucket::{BucketView, Call, Claim, StatusWrite};
use crate::{NoteReason, Uid};
use cosi_api::DeletionPolicy;

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

impl World {
    pub(super) fn violate(&mut self, invariant: Invariant, text: String) {
        self.log(|| format!("VIOLATION {invariant:?}: {text}"));
        if !self.violations.iter().any(|v| v.text == text) {
            self.violations.push(Violation { invariant, text });
        }
    }

    /// Before a request is sent for the object with UID `by`.
    pub(super) fn check_call(&mut self, call: &Call, by: &Uid) {
        let rpc = call.rpc();
        let undoes = |rpc| matches!(rpc, Rpc::DeleteBucket | Rpc::DeleteBucketByName);
        let serialises = self.backend.kind.serialises;
        let harmless = |r: &super::backend::Running| {
            (r.crashes > 0 && undoes(r.rpc) && undoes(rpc))
                || (serialises && r.rpc == rpc)
                || r.outlived_memory()
        };
        // Without its finalizer an object can't tell of a predecessor's call.
        let excused = |r: &super::backend::Running| r.crashes > 0 && self.forced;
        if let Some(running) = self.backend.running.iter().find(|r| !harmless(r) && !excused(r)) {
            let text = format!("{rpc} is sent while {} is at work", running.rpc);
            self.violate(OneAtATime, text);
        }
        let owner = self.api.object.as_ref().map(|o| o.view.clone()).filter(|v| v.uid == *by);
        match rpc {
            Rpc::CreateBucket if owner.is_some_and(|o| o.is_ready()) => {
                self.violate(NoDouble, "Create after Ready".to_owned());
            }
            // While a predecessor's calls may be at work, an old event may look like what it left, and is replayed after
            // that.
            Rpc::CreateBucket
                if self.acknowledged.contains(by) && self.now > self.predecessor_done + GRACE =>
            {
                self.violate(NoDouble, "Create after its deletion was acknowledged".to_owned());
            }
            rpc if undoes(rpc) && !self.may_delete(by) => {
                self.violate(NoLoss, format!("{rpc} is sent though the owner does not allow it"));
            }
            _ => {}
        }
    }

    /// Whether the owner with this UID lets its bucket be deleted. The policy is that of the last live look: a person may
    /// change it at any moment.
    fn may_delete(&self, by: &Uid) -> bool {
        let looked = self.looked.as_ref().filter(|l| l.uid == *by).map(|l| l.policy);
        let delete =
            |o: &BucketView| o.policy == DeletionPolicy::Delete || looked == Some(DeletionPolicy::Delete);
        let claim_leaves = |o: &BucketView| {
            o.claim.uid.is_none() || o.claim_deleting || self.api.claim == Claim::Leaving || !o.finalizer
        };
        match self.api.object.as_ref().map(|o| &o.view) {
            Some(o) if o.uid == *by => delete(o) && o.deleting && claim_leaves(o),
            Some(heir) if heir.finalizer => false,
            _ => self.api.gone.get(by).is_some_and(|o| delete(&o.view)),
        }
    }

    pub(super) fn check_foreign_finalizers(&mut self, before: Option<Box<[Box<str>]>>) {
        let after = self.api.object.as_ref().map(|o| o.view.other_finalizers.clone());
        let lost = before.is_some_and(|b| !b.is_empty() && after.as_ref() != Some(&b));
        if lost {
            self.violate(NothingForeign, "a foreign finalizer was lost".to_owned());
        }
    }

    /// Before a result is recorded.
    pub(super) fn check_record(&mut self, status: &StatusWrite) {
        if let StatusWrite::Ready(answer) = status
            && !self.backend.given.contains(answer.id.as_str())
        {
            self.violate(Truth, format!("{} is none of the backend's ids", answer.id));
        }
    }

    /// After work has landed.
    pub(super) fn check_removed(&mut self) {
        for (id, by) in std::mem::take(&mut self.backend.removed) {
            let Some(by) = by else {
                if id == super::NAME {
                    self.violate(NothingForeign, "somebody else's bucket was deleted".to_owned());
                }
                continue;
            };
            let alive = self.api.object.as_ref().is_some_and(|o| o.view.uid == by && !o.view.deleting);
            if alive && self.forced {
                self.lost = true;
            } else if alive {
                self.violate(NoLoss, format!("bucket {id} was deleted while its owner is alive"));
            }
        }
    }

    /// When all has settled.
    pub(super) fn judge(&mut self) {
        self.judge_backend();
        self.judge_object();
        if !self.backend.doubled.is_empty() && !self.forced {
            self.violate(NoDouble, "there were two buckets at a time".to_owned());
        }
    }

    /// I1: every bucket has its live owner, or somebody was told.
    fn judge_backend(&mut self) {
        let object = self.api.object.as_ref().map(|o| o.view.clone());
        let made: Vec<_> =
            self.backend.buckets.iter().filter_map(|(id, m)| Some((id.clone(), m.by.clone()?))).collect();
        for (id, by) in made {
            let owned = object.as_ref().is_some_and(|o| {
                o.uid == by && o.finalizer && o.bucket_id.as_deref().is_none_or(|recorded| recorded == id)
            });
            let retained = self.api.gone.get(&by).is_some_and(|o| o.view.policy == DeletionPolicy::Retain);
            let let_go = self.api.gone.get(&by).is_some_and(|o| o.view.let_go) || !self.saw_unknown;
            let told = self.notes.iter().any(|n| {
                n.about.uid == by
                    && (n.reason == NoteReason::NotFoundAtBackend
                        || (n.reason == NoteReason::LetGo && let_go))
            });
            if !(owned || retained || told || self.forced) {
                self.violate(NoOrphan, format!("bucket {id} of {by} has no owner"));
            }
        }
    }

    /// I6: the desired state is reached.
    fn judge_object(&mut self) {
        let Some(object) = self.api.object.as_ref().map(|o| o.view.clone()) else { return };
        let claim_leaves =
            object.claim.uid.is_none() || object.claim_deleting || self.api.claim == Claim::Leaving;
        let id = object.bucket_id.as_deref();
        let usable = object.is_ready() && id.is_some_and(|id| self.backend.given.contains(id));
        let half = id.is_some_and(|id| self.backend.buckets.get(id).is_some_and(|m| m.half));
        match object.deleting {
            false if !usable && !self.never_ready => {
                self.violate(Progress, "it does not get Ready".to_owned());
            }
            false
                if usable
                    && !self.lost
                    && !self.backend.forgetful
                    && !id.is_some_and(|id| self.backend.buckets.contains_key(id)) =>
            {
                self.violate(Truth, "it is Ready without a bucket".to_owned());
            }
            false if half => self.violate(Truth, "a half-made bucket is Ready".to_owned()),
            false if !object.finalizer && !self.never_ready => {
                self.violate(Progress, "the finalizer is missing".to_owned());
            }
            // R14: it takes a person.
            true if self.never_ready && self.told(NoteReason::DeletionBlocked) => {}
            true if object.finalizer && claim_leaves => {
                self.violate(Progress, "it is not released".to_owned());
            }
            _ => {}
        }
    }
}

impl World {
    /// I9: calls and writes equal the floor plus what the faults cost.
    pub(crate) fn check_thrift(&mut self, floor: (usize, usize), plan: &[(usize, super::Fault)]) {
        let detour = if self.backend.kind.by_name { 0 } else { 2 };
        let not_found = usize::from(self.backend.kind.not_found);
        let cost: usize = plan.iter().map(|(_, fault)| fault.cost()).sum();
        let (writes, rpcs) = (floor.0 + 2 * plan.len(), floor.1 + cost + detour + not_found);
        if self.writes > writes || self.rpcs > rpcs {
            let text = format!("{} writes of {writes}, {} calls of {rpcs}", self.writes, self.rpcs);
            self.violate(Thrift, text);
        }
    }
}
