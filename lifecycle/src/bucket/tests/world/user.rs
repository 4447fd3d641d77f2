//! What people and the controller do.

use super::api::{FOREIGN_FINALIZER, Spec};
use super::{NAME, World};
use crate::bucket::Claim;
use crate::{Code, Rpc};
use cosi_api::DeletionPolicy;

/// When somebody does something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trigger {
    /// Before effect n (even: 2n), or between effect n and its answer (odd: 2n + 1).
    Point(usize),
    /// When all is quiet.
    Idle,
    /// As soon as the object is gone.
    Gone,
    /// Together with the one before.
    AtOnce,
    /// So many points after the one before, if that has a point; else at once.
    Soon(usize),
}

/// Something that somebody does.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    Create(Spec),
    /// Sets the deletionTimestamp.
    Delete,
    /// The claim goes; the controller says so on the Bucket, too.
    ClaimGoes,
    /// The claim goes, and the controller says nothing.
    ClaimGoesSilently,
    /// The claim can't be read.
    ClaimUnreadable,
    /// Takes our finalizer off.
    Strip,
    /// Takes all finalizers off a deleting object.
    Force,
    Policy(DeletionPolicy),
    LetGo,
    Touch,
    /// Somebody else puts a finalizer on.
    HoldByOthers,
    ReleaseOthers,
    WipeStatus,
    /// The driver is replaced by one with or without the by-name RPC.
    Driver {
        by_name: bool,
    },
    /// Somebody else's bucket stands where ours would be made.
    OccupyName,
    /// From now on the driver answers this RPC with that code, or does its work again.
    Refuse(Option<(Rpc, Code)>),
    /// The bucket is deleted at the backend by hand.
    LoseBackend,
}

impl World {
    pub(super) fn act(&mut self, op: &Op) {
        self.log(|| format!("user: {op:?}"));
        self.api.now = self.now;
        self.disturbed = self.now;
        // A deletion ends the wait after a refusal at once (R11).
        let deleting = self.api.object.as_ref().is_some_and(|o| o.view.deleting);
        let interrupts =
            matches!(op, Op::Delete | Op::Force | Op::LetGo) || (deleting && matches!(op, Op::ClaimGoes));
        self.refused &= !interrupts;
        match op {
            Op::Create(spec) => self.api.create(*spec),
            Op::Delete => drop(self.api.change(|o| o.view.deleting = true)),
            Op::ClaimGoes => {
                self.api.claim = Claim::Leaving;
                self.api.change(|o| o.view.claim_deleting = true);
            }
            Op::ClaimGoesSilently => self.api.claim = Claim::Leaving,
            Op::ClaimUnreadable => self.api.claim = Claim::Unreadable,
            Op::Strip | Op::Force => {
                self.note_force();
                let all = matches!(op, Op::Force);
                self.api.change(|o| {
                    o.view.finalizer = false;
                    if all {
                        o.view.deleting = true;
                        o.view.other_finalizers = [].into();
                    }
                });
            }
            Op::Policy(policy) => drop(self.api.change(|o| o.view.policy = *policy)),
            Op::LetGo => drop(self.api.change(|o| o.view.let_go = true)),
            Op::Touch => drop(self.api.change(|o| o.labels += 1)),
            Op::HoldByOthers => drop(self.api.change(|o| {
                if !o.view.deleting {
                    o.view.other_finalizers = [FOREIGN_FINALIZER.into()].into();
                }
            })),
            Op::ReleaseOthers => drop(self.api.change(|o| {
                let others = o.view.other_finalizers.iter().filter(|f| f.as_ref() != FOREIGN_FINALIZER);
                o.view.other_finalizers = others.cloned().collect();
            })),
            Op::WipeStatus => drop(self.api.change(|o| {
                o.view.ready = None;
                o.view.bucket_id = None;
            })),
            Op::Driver { by_name } => {
                self.backend.kind.by_name = *by_name;
                self.by_name_missing = false;
                self.connected = true;
            }
            Op::OccupyName => self.backend.add_foreign(NAME),
            Op::Refuse(refusal) => self.backend.refuses = *refusal,
            Op::LoseBackend => {
                self.lost = true;
                self.backend.buckets.retain(|_, made| made.by.is_none());
            }
        }
        if self.lag.is_none() {
            self.deliver();
        }
    }

    /// What is at the backend of a Ready object, or was sent by a process that is gone, only the finalizer guards.
    fn note_force(&mut self) {
        let Some(object) = &self.api.object else { return };
        let recorded = object.view.bucket_id.is_some();
        let known =
            self.state.may_be_there() || self.state.backend.sent == crate::bucket::state::Sent::Nothing;
        self.stripped |= object.view.finalizer;
        self.forced |= object.view.finalizer && (recorded || !known);
    }
}
