//! How a bucket leaves the backend: on deletion (R10, R13, R14), and after its owner went away by force (R12).

use std::sync::Arc;

use cosi_api::DeletionPolicy;

use super::decide::{View, request, write_finalizers};
use super::state::{Awaiting, BucketState, Purpose, Sent};
use super::{BucketView, Call, Effect, slipped};
use crate::finalizers::without_ours;
use crate::inflight::Undo;
use crate::{Context, Fence, Note, NoteReason, Rpc, Severity};

impl BucketState {
    /// R10: our finalizer is on the object and it has a deletionTimestamp.
    pub(super) fn delete(&mut self, view: &Arc<BucketView>, ctx: &Context<'_>) -> Effect {
        // Before anything that can wait: should the finalizer be stripped meanwhile, nobody else knows (R6).
        if let Some(look) = self.find_intent(view, ctx) {
            return look;
        }
        let claimed = view.claim.uid.is_some() && !view.claim_deleting && !self.pass.claim_leaving;
        if claimed {
            return self.read_claim(view, ctx);
        }
        self.mind_older_delete(ctx);
        if !self.may_leave(view)
            && let Some(effect) = self.undo(Some(view), view, ctx)
        {
            return effect;
        }
        if let Some(until) = self.pace.fence_gate(ctx).filter(|_| !self.backend.gone) {
            return self.pause(Some(view), until, ctx);
        }
        if let Some(note) = self.farewell(view) {
            self.telling.note_once(note);
        }
        if let Some(tell) = self.tell_next() {
            return tell;
        }
        if let Some(at) = self.pace.api_gate(ctx) {
            return self.pause(Some(view), at, ctx);
        }
        self.expect(Awaiting::Removal, write_finalizers(view, without_ours(&view.other_finalizers)))
    }

    /// A predecessor may be at work on the same deletion. Ours need not wait for that, but a bucket that is made under the
    /// name afterwards must: the older call would take it away.
    fn mind_older_delete(&mut self, ctx: &Context<'_>) {
        if self.backend.sent == Sent::Unknown && self.pace.fence.is_none() {
            let except = Some(Rpc::DeleteBucket);
            self.pace.fence = Fence::predecessor(ctx).map(|fence| Fence { except, ..fence });
        }
    }

    /// Whether the finalizer may go without another word to the driver.
    fn may_leave(&self, view: &BucketView) -> bool {
        view.policy == DeletionPolicy::Retain
            || self.backend.gone
            || self.backend.hopeless.is_some()
            || view.let_go
    }

    /// R12: whether something may be there that belongs to an object which is gone, or can hold us no more.
    pub(super) fn owner_is_gone(&self, view: View<'_>) -> bool {
        let Some(owner) = &self.backend.owner else { return false };
        let alive = view.is_some_and(|v| v.uid == owner.uid && (v.finalizer || !v.deleting));
        self.may_be_there() && !owner.is_static() && !alive
    }

    /// R12: the Ready Bucket that the last pass saw is gone by force, and not by our own removal, of which the answer may have
    /// been lost. A person is to be told once.
    pub(super) fn slipped_away(&self, view: View<'_>) -> Option<Note> {
        use NoteReason::{AlreadyDeleted, LetGo, OwnerGone, Retained};
        let owner = self.backend.owner.as_ref()?;
        let known = [AlreadyDeleted, LetGo, OwnerGone, Retained];
        let explained = self.backend.gone || known.iter().any(|reason| self.telling.told.contains(reason));
        if explained { None } else { slipped(owner, view.map(Arc::as_ref)) }
    }

    /// R12: clean up after an owner that went away by force, or leave its bucket by its policy.
    pub(super) fn after_owner(&mut self, view: View<'_>, ctx: &Context<'_>) -> Effect {
        let Some(owner) = self.backend.owner.clone() else { return self.finish(ctx) };
        if !self.pass.live {
            return self.read(ctx);
        }
        if let Some(heir) = view.filter(|v| v.uid != owner.uid && v.finalizer) {
            self.inherit(heir);
            return self.decide(view, ctx);
        }
        let owner = view.filter(|v| v.uid == owner.uid).map_or(owner, Arc::clone);
        self.backend.owner = Some(Arc::clone(&owner));
        self.telling.note_once(owner_gone(&owner));
        if !self.may_leave(&owner)
            && let Some(effect) = self.undo(view, &owner, ctx)
        {
            return effect;
        }
        if let Some(until) = self.pace.fence_gate(ctx) {
            return self.pause(view, until, ctx);
        }
        if let Some(note) = self.farewell(&owner) {
            self.telling.note_once(note);
        }
        self.forget();
        self.decide(view, ctx)
    }

    /// Another object under the name already bears our finalizer: what may be there is now its own, and nothing is deleted
    /// (R12).
    fn inherit(&mut self, heir: &Arc<BucketView>) {
        let backend = std::mem::take(&mut self.backend);
        self.forget();
        self.pass.live = true;
        self.backend.owner = Some(Arc::clone(heir));
        self.backend.sent = Sent::Maybe;
        self.backend.ids = backend.ids;
        self.backend.unknown = backend.unknown;
    }

    /// The next call that brings the backend closer to clean; `None` if it is clean, or nothing of it is ours to delete.
    fn undo(&mut self, view: View<'_>, owner: &Arc<BucketView>, ctx: &Context<'_>) -> Option<Effect> {
        let call = self.undoing_call(owner, ctx)?;
        Some(self.send(view, call, Purpose::Undo, ctx))
    }

    /// R10 b–e, in this order. A static Bucket is only ever deleted by its recorded id.
    fn undoing_call(&self, owner: &BucketView, ctx: &Context<'_>) -> Option<Call> {
        let missing = ctx.by_name_missing || self.pass.by_name_missing;
        match self.backend.next_undo(owner, missing)? {
            Undo::ById(id) => Some(Call::Delete { id: id.into(), parameters: owner.parameters.clone() }),
            Undo::ByName | Undo::Replay if owner.is_static() => None,
            Undo::ByName => Some(Call::DeleteByName(request(owner))),
            Undo::Replay => Some(Call::Create(request(owner))),
        }
    }

    /// The recorded id, then those of own answers, without those whose deletion was acknowledged.
    pub(super) fn remaining_ids<'a>(&'a self, owner: &'a BucketView) -> impl Iterator<Item = &'a str> {
        // No Create is ever sent for a static one, so there are no ids of own answers.
        self.backend.remaining(owner.bucket_id.as_deref())
    }

    /// What a person should know when our hold on the object ends.
    fn farewell(&self, owner: &BucketView) -> Option<Note> {
        let retain = owner.policy == DeletionPolicy::Retain;
        if self.backend.gone {
            let text = "the backend bucket was already deleted when the policy became Retain".to_owned();
            return retain.then(|| Note::warning(owner, NoteReason::AlreadyDeleted, &text));
        }
        let nothing = self.backend.sent == Sent::Nothing && self.remaining_ids(owner).next().is_none();
        if nothing && !owner.is_static() {
            return None;
        }
        let what = self.what_is_left(owner);
        if retain {
            let text = format!("the backend bucket is kept by deletionPolicy Retain: {what}");
            return Some(Note::new(owner, Severity::Normal, NoteReason::Retained, &text));
        }
        if let Some(why) = &self.backend.hopeless {
            let text = format!("let go, check the backend by hand: {what}; {why}");
            return Some(Note::warning(owner, NoteReason::LetGo, &text));
        }
        if owner.let_go {
            let text = format!("let go by annotation, check the backend by hand: {what}");
            return Some(Note::warning(owner, NoteReason::LetGo, &text));
        }
        let text = format!("the existing bucket is kept, since its id was never recorded: {what}");
        Some(Note::new(owner, Severity::Normal, NoteReason::Retained, &text))
    }

    /// Everything that a person needs to find the bucket at the backend.
    fn what_is_left(&self, owner: &BucketView) -> String {
        let ids: Vec<_> = self.remaining_ids(owner).collect();
        let id = match (ids.as_slice(), &owner.existing_id) {
            ([], Some(existing)) => format!("existingBucketID {existing}"),
            ([], None) => "bucketID not known".to_owned(),
            (ids, _) => format!("bucketID {}", ids.join(", ")),
        };
        let parameters =
            owner.parameters.as_deref().map(|p| format!(", parameters {p:?}")).unwrap_or_default();
        format!("driver {}, bucket {}, {id}{parameters}", owner.driver, owner.name)
    }
}

/// The first word on an owner that went away by force.
fn owner_gone(owner: &BucketView) -> Note {
    let text = match owner.policy {
        DeletionPolicy::Delete => {
            "the Bucket lost its finalizer or was deleted by force; its backend bucket is being deleted"
        }
        DeletionPolicy::Retain => {
            "the Bucket lost its finalizer or was deleted by force; its backend bucket is kept"
        }
    };
    Note::warning(owner, NoteReason::OwnerGone, &format!("{text}: bucket {}", owner.name))
}
