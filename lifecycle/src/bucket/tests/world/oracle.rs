//! The invariants of Buckets, checked against the backend and the API server, not against the machine's word.

use super::{NAME, World};
use crate::bucket::{BucketView, Claim, StatusWrite};
use crate::testing::Asked;
use crate::testing::Invariant::{NoDouble, NoLoss, NoOrphan, Progress, Truth};
use crate::{NoteReason, Rpc, Uid};
use cosi_api::DeletionPolicy;

impl World {
    /// Before a request is sent.
    pub(super) fn check_permission(&mut self, asked: &Asked<'_>) {
        let by = asked.by;
        let owner = self.api.object.as_ref().map(|o| o.view.clone()).filter(|v| v.uid == *by);
        match asked.rpc {
            Rpc::CreateBucket if owner.is_some_and(|o| o.is_ready()) => {
                self.violate(NoDouble, "Create after Ready".to_owned());
            }
            rpc @ (Rpc::DeleteBucket | Rpc::DeleteBucketByName) if !self.may_delete(by) => {
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
            o.claim.uid.is_none() || o.claim_deleting || self.known.claim == Claim::Leaving || !o.finalizer
        };
        match self.api.object.as_ref().map(|o| &o.view) {
            Some(o) if o.uid == *by => delete(o) && o.deleting && claim_leaves(o),
            Some(heir) if heir.finalizer => false,
            _ => self.api.gone.get(by).is_some_and(|o| delete(&o.view)),
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

    /// When all has settled.
    pub(super) fn judge_all(&mut self) {
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
            self.backend.things.iter().filter_map(|(id, m)| Some((id.clone(), m.by.clone()?))).collect();
        for (id, by) in made {
            let owned = object.as_ref().is_some_and(|o| {
                o.uid == by && o.finalizer && o.bucket_id.as_deref().is_none_or(|recorded| recorded == id)
            });
            let retained = self.api.gone.get(&by).is_some_and(|o| o.view.policy == DeletionPolicy::Retain);
            let let_go =
                self.api.gone.get(&by).is_some_and(|o| o.view.let_go) || !self.saw_unknown.contains(NAME);
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
            object.claim.uid.is_none() || object.claim_deleting || self.known.claim == Claim::Leaving;
        let id = object.bucket_id.as_deref();
        let usable = object.is_ready() && id.is_some_and(|id| self.backend.given.contains(id));
        let half = id.is_some_and(|id| self.backend.things.get(id).is_some_and(|m| m.half));
        match object.deleting {
            false if !usable && !self.never_ready => {
                self.violate(Progress, "it does not get Ready".to_owned());
            }
            false
                if usable
                    && !self.lost
                    && !self.backend.forgetful
                    && !id.is_some_and(|id| self.backend.things.contains_key(id)) =>
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
