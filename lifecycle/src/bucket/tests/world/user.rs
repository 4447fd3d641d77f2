//! What people and the controller do.

use super::{NAME, Spec, World};
use crate::bucket::Claim;
use crate::bucket::state::Sent;
use crate::testing::FOREIGN_FINALIZER;
use crate::{Code, Rpc};
use cosi_api::DeletionPolicy;

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
    pub(super) fn do_as(&mut self, op: &Op) {
        match op {
            Op::Create(spec) => {
                self.known.claim = Claim::Live;
                self.api.create(*spec);
            }
            Op::Delete => drop(self.api.change(|o| o.view.deleting = true)),
            Op::ClaimGoes => {
                self.known.claim = Claim::Leaving;
                self.api.change(|o| o.view.claim_deleting = true);
            }
            Op::ClaimGoesSilently => self.known.claim = Claim::Leaving,
            Op::ClaimUnreadable => self.known.claim = Claim::Unreadable,
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
            Op::Driver { by_name } => self.connect(*by_name),
            Op::OccupyName => self.backend.add_foreign(NAME),
            Op::Refuse(refusal) => self.backend.refuses = *refusal,
            Op::LoseBackend => {
                self.lost = true;
                self.backend.things.retain(|_, made| made.by.is_none());
            }
        }
    }

    /// What is at the backend of a Ready object, or was sent by a process that is gone, only the finalizer guards.
    fn note_force(&mut self) {
        let Some(object) = &self.api.object else { return };
        let recorded = object.view.bucket_id.is_some();
        let state = &self.lane().state;
        let known = state.may_be_there() || state.backend.sent == Sent::Nothing;
        self.known.stripped |= object.view.finalizer;
        self.forced |= object.view.finalizer && (recorded || !known);
    }
}
