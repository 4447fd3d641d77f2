//! What people and the controller do.

use super::api::{FOREIGN_FINALIZER, Spec};
use super::{EXISTING, NAME, World};
use crate::bucket::Claim;
use cosi_api::DeletionPolicy;

/// When somebody does something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trigger {
    /// Before effect n (even: 2n), or between effect n and its answer (odd: 2n + 1).
    Point(usize),
    /// When all is quiet.
    Idle,
    /// Together with the one before.
    AtOnce,
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
    ReleaseOthers,
    WipeStatus,
    /// The driver is replaced by one with or without the by-name RPC.
    Driver { by_name: bool },
    /// Somebody else's bucket stands where ours would be made.
    OccupyName,
    /// The bucket is deleted at the backend by hand.
    LoseBackend,
    /// A static id is deleted at the backend by hand.
    LoseExisting,
}

impl World {
    pub(super) fn act(&mut self, op: &Op) {
        self.log(|| format!("user: {op:?}"));
        self.disturbed = self.now;
        let reads = self.present().is_some();
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
                self.note_force(reads);
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
            Op::LoseBackend => self.backend.buckets.retain(|_, made| made.by.is_none()),
            Op::LoseExisting => drop(self.backend.buckets.remove(EXISTING)),
        }
        if !self.lag {
            self.deliver();
        }
    }

    /// What is at the backend of a Ready object, or was sent by a process that is gone, only the finalizer guards.
    fn note_force(&mut self, _known: bool) {
        let Some(object) = &self.api.object else { return };
        let recorded = object.view.bucket_id.is_some();
        let known = self.state.may_be_there() || self.state.backend.sent == crate::bucket::state::Sent::Nothing;
        self.forced |= object.view.finalizer && (recorded || !known);
    }
}
