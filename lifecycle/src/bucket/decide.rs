//! What to do next, from what is known now. Called after every event; each call returns one effect.

use std::sync::Arc;

use super::effect::{Request, StatusWrite};
use super::state::{Attempt, Awaiting, BucketState, Purpose, Sent};
use super::{BucketView, Call, Effect};
use crate::finalizers::with_ours;
use crate::inflight::Sending;
use crate::{Context, Fence, Note, NoteReason, Problem, Retry, Time};

pub(super) type View<'a> = Option<&'a Arc<BucketView>>;

impl BucketState {
    /// The next effect.
    pub(super) fn decide(&mut self, view: View<'_>, ctx: &Context<'_>) -> Effect {
        if !ctx.may_act {
            return self.last_will(view, ctx);
        }
        if let Some(tell) = self.tell_next() {
            return tell;
        }
        if self.pass.must_read {
            return self.read(ctx);
        }
        if self.owner_is_gone(view) {
            return self.after_owner(view, ctx);
        }
        if let Some(note) = self.slipped_away(view) {
            self.telling.note_once(note);
            return self.decide(view, ctx);
        }
        let Some(view) = view else {
            self.forget();
            return self.finish(ctx);
        };
        self.own(view);
        match (view.deleting, view.finalizer) {
            (false, false) => self.intend(view, ctx),
            (false, true) => self.provide(view, ctx),
            (true, true) => self.delete(view, ctx),
            // It never had our finalizer, or lost it with nothing unrecorded: there is nothing of it at the backend that
            // we could know of (R1).
            (true, false) => {
                self.forget();
                self.finish(ctx)
            }
        }
    }

    /// From now on the knowledge is about this object. Another object's is dropped: `owner_is_gone` saw that it holds
    /// nothing of weight.
    fn own(&mut self, view: &Arc<BucketView>) {
        if self.backend.owner.as_ref().is_some_and(|o| o.uid != view.uid) {
            self.forget();
        }
        self.backend.owner = Some(Arc::clone(view));
    }

    /// R1: the finalizer goes on before anything else, whatever else is known.
    fn intend(&mut self, view: &Arc<BucketView>, ctx: &Context<'_>) -> Effect {
        if let Some(problem) = unworkable(view) {
            return self.stuck(view, problem, ctx);
        }
        if view.is_ready() && view.bucket_id.is_some() {
            let text = "somebody took the finalizer off this Ready Bucket; it is put back".to_owned();
            self.telling.note_once(Note::warning(view, NoteReason::FinalizerStripped, &text));
            if let Some(tell) = self.tell_next() {
                return tell;
            }
        }
        if let Some(at) = self.pace.api_gate(ctx) {
            return self.pause(Some(view), at, ctx);
        }
        let finalizers = with_ours(&view.other_finalizers);
        self.expect(Awaiting::Intent, write_finalizers(view, finalizers))
    }

    /// A live Bucket that bears our finalizer: make it Ready.
    fn provide(&mut self, view: &Arc<BucketView>, ctx: &Context<'_>) -> Effect {
        if view.is_ready() && view.bucket_id.is_some() {
            self.recorded(view);
            return self.finish(ctx);
        }
        if let Some(look) = self.find_intent(view, ctx) {
            return look;
        }
        if self.backend.answer.is_some() {
            return self.record(view, ctx);
        }
        if let Some(problem) = unworkable(view) {
            return self.stuck(view, problem, ctx);
        }
        let request = request(view);
        let call = match &view.existing_id {
            Some(id) => Call::GetExisting { id: id.clone(), request },
            None => Call::Create(request),
        };
        self.send(Some(view), call, Purpose::Provide, ctx)
    }

    /// The result is in the API: the queue needs to remember nothing but ids that differ from the recorded one.
    fn recorded(&mut self, view: &BucketView) {
        let extra = self.backend.unrecorded_ids(view.bucket_id.as_deref());
        self.forget();
        self.backend.ids = extra;
    }

    /// An intent without result that this process did not write itself: a predecessor may have sent something, and it may
    /// still be at work (R3, R6). Once every predecessor's call has ended, such an intent is a surprise, and it may be
    /// nothing but an old event of an object that is gone: then it counts only if a live read shows it (R4, C19).
    pub(super) fn find_intent(&mut self, view: &BucketView, ctx: &Context<'_>) -> Option<Effect> {
        if self.backend.sent != Sent::Unknown || view.bucket_id.is_some() {
            return None;
        }
        match Fence::predecessor(ctx) {
            Some(fence) => self.pace.put_up(fence),
            None if !self.pass.live => return Some(self.read(ctx)),
            None => {}
        }
        self.backend.sent = Sent::Maybe;
        None
    }

    /// R7: id, info and readiness in one write.
    fn record(&mut self, view: &Arc<BucketView>, ctx: &Context<'_>) -> Effect {
        if let Some(at) = self.pace.record_gate(ctx) {
            return self.pause(Some(view), at, ctx);
        }
        let Some(answer) = self.backend.answer.clone() else { return self.finish(ctx) };
        let resource_version = view.resource_version.clone();
        let status = StatusWrite::Ready(answer);
        self.expect(Awaiting::Recording, Effect::WriteStatus { resource_version, status })
    }

    /// A driver call, as soon as it may be sent and the object was looked at (R4).
    pub(super) fn send(&mut self, view: View<'_>, call: Call, purpose: Purpose, ctx: &Context<'_>) -> Effect {
        if let Some(at) = self.pace.call_gate(Attempt { rpc: call.rpc(), purpose }, ctx) {
            return self.pause(view, at, ctx);
        }
        if !self.pass.live {
            return self.read(ctx);
        }
        let before = self.backend.sent;
        if matches!(call, Call::Create(_)) {
            self.backend.sent = Sent::Maybe;
        }
        let sending = Sending { call: call.clone(), before, purpose };
        self.expect(Awaiting::Call(sending), Effect::Call(call))
    }

    /// A live read, as soon as the API server may be asked.
    pub(super) fn read(&mut self, ctx: &Context<'_>) -> Effect {
        match self.pace.api_gate(ctx) {
            Some(at) => Effect::Wait(at),
            None => self.expect(Awaiting::Read, Effect::Read),
        }
    }

    /// The object itself rules work out.
    fn stuck(&mut self, view: &Arc<BucketView>, problem: Problem, ctx: &Context<'_>) -> Effect {
        self.telling.raise(view, problem, NoteReason::Refused);
        self.pause(Some(view), ctx.now + ctx.settings.recheck_interval, ctx)
    }

    /// Nothing can be done before `until`: say what is to be said, then end the pass.
    pub(super) fn pause(&mut self, view: View<'_>, until: Time, ctx: &Context<'_>) -> Effect {
        if let Some(tell) = self.tell_next() {
            return tell;
        }
        let Some((view, problem)) = view.zip(self.telling.report.due(ctx.now, ctx.settings.recheck_interval))
        else {
            return Effect::Wait(until);
        };
        if let Some(at) = self.pace.api_gate(ctx) {
            return Effect::Wait(until.min(at));
        }
        let status = StatusWrite::Error { text: problem.text.clone(), first: view.ready.is_none() };
        let resource_version = view.resource_version.clone();
        self.expect(Awaiting::Reporting, Effect::WriteStatus { resource_version, status })
    }

    /// A look at the claim, no more often than its backoff allows.
    pub(super) fn read_claim(&mut self, view: &Arc<BucketView>, ctx: &Context<'_>) -> Effect {
        match self.claim.map(|r: Retry| r.at).filter(|at| *at > ctx.now) {
            Some(at) => self.pause(Some(view), at, ctx),
            None => self.expect(Awaiting::Claim, Effect::ReadClaim(view.claim.clone())),
        }
    }
}

/// What identifies a Create for this object.
pub(super) fn request(view: &BucketView) -> Request {
    Request {
        name: Arc::clone(&view.name),
        protocols: view.protocols.clone(),
        parameters: view.parameters.clone(),
    }
}

/// A write of all finalizers on condition that the object is still the one that was read.
pub(super) fn write_finalizers(view: &BucketView, finalizers: Vec<String>) -> Effect {
    Effect::WriteFinalizers {
        uid: view.uid.clone(),
        resource_version: view.resource_version.clone(),
        finalizers,
    }
}

/// Why no driver can be asked for this object, if that is so. Nothing was sent for one that never got past this.
fn unworkable(view: &BucketView) -> Option<Problem> {
    let claim = &view.claim;
    let uid = claim.uid.as_deref().unwrap_or_default();
    let incomplete = claim.name.is_empty() || claim.namespace.is_empty() || uid.is_empty();
    (!view.is_static() && incomplete).then(|| {
        Problem::object(
            "spec.bucketClaimRef of a Bucket without spec.existingBucketID must have name, namespace and uid; \
             set what is missing, or set spec.existingBucketID at creation if the bucket exists already",
        )
    })
}
