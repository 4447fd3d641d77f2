//! What to do next, from what is known now. Called after every event; each call returns one effect.

use std::sync::Arc;

use super::handover::{request, unworkable};
use super::state::{Awaiting, Backend, Granted, Sight};
use super::{AccessState, AccessView, Call, Effect, StatusWrite, Version};
use crate::finalizers::with_ours;
use crate::inflight::{Attempt, Purpose, Sending, Sent};
use crate::{Context, Fence, Note, NoteReason, Problem, Rpc, Time};

pub(super) type View<'a> = Option<&'a Arc<AccessView>>;

/// The one attempt at a Grant that is to provide an access.
const GRANT: Attempt = Attempt { rpc: Rpc::GrantBucketAccess, purpose: Purpose::Provide };

impl AccessState {
    /// The next effect.
    pub(super) fn decide(&mut self, view: View<'_>, ctx: &Context<'_>) -> Effect {
        if !ctx.may_act {
            return self.last_will(view, ctx);
        }
        if let Some(tell) = self.tell_next() {
            return tell;
        }
        if self.pass.must_read
            && let Some(access) = view.or(self.backend.owner.as_ref())
        {
            let place = access.place.clone();
            return self.read(&place, ctx);
        }
        let Some(view) = view else { return self.after_owner(ctx) };
        if !view.is_managed() {
            return self.leave_alone(view, ctx);
        }
        self.backend.owner = Some(Arc::clone(view));
        match (view.deleting, view.finalizer) {
            (true, _) => self.delete(view, ctx),
            (false, false) => self.intend(view, ctx),
            (false, true) => self.provide(view, ctx),
        }
    }

    /// The access is not ours to work on, or not yet, or no more. What may be there is remembered: should the access go
    /// away like this, nobody else knows of the account.
    fn leave_alone(&mut self, view: &AccessView, ctx: &Context<'_>) -> Effect {
        // Somebody wiped the status, and with it the only record of the account.
        let wiped = view.driver.is_none().then_some(self.backend.owner.as_ref()).flatten();
        if let Some(id) = wiped.and_then(|owner| owner.account_id.clone()) {
            self.backend.learn(&id);
        }
        if !self.may_be_there() {
            self.forget();
        }
        self.finish(ctx)
    }

    /// R1: a finalizer that is missing is put back before anything else.
    fn intend(&mut self, view: &Arc<AccessView>, ctx: &Context<'_>) -> Effect {
        if let Some(problem) = unworkable(view) {
            return self.stuck(view, problem, ctx);
        }
        if view.is_ready() {
            let text = "somebody took the finalizer off this Ready BucketAccess; it is put back";
            self.telling.note_once(Note::warning(view, NoteReason::FinalizerStripped, text));
            if let Some(tell) = self.tell_next() {
                return tell;
            }
        }
        let finalizers = with_ours(&view.other_finalizers);
        let effect = Effect::WriteFinalizers { object: version(view), finalizers };
        self.write(view, Awaiting::Intent, effect, ctx)
    }

    /// A live access that bears our finalizer: make it Ready, and keep it so.
    fn provide(&mut self, view: &Arc<AccessView>, ctx: &Context<'_>) -> Effect {
        if view.cleanup_finished {
            let effect = Effect::WriteCleanupFinished { object: version(view), finished: false };
            return self.write(view, Awaiting::Reopening, effect, ctx);
        }
        match (view.is_ready(), self.secrets_are_current()) {
            (true, true) => return self.keep(view, ctx),
            (true, false) => return self.close(view, ctx),
            (false, _) => {}
        }
        if let Some(problem) = unworkable(view) {
            return self.stuck(view, problem, ctx);
        }
        if let Some(look) = self.find_intent(view, ctx) {
            return look;
        }
        let request = request(view);
        if let Some(granted) = &self.backend.answer {
            if request.as_ref() == Some(&granted.request) {
                return self.hand_out(view, ctx);
            }
            self.backend.answer = None;
        }
        if let Some(at) = self.pace.call_gate(GRANT, ctx) {
            return self.pause(Some(view), at, ctx);
        }
        if let Some(effect) = self.check_buckets(view, ctx) {
            return effect;
        }
        if let Some(effect) = self.reserve(view, ctx) {
            return effect;
        }
        match request {
            Some(request) => self.send(Some(view), Call::Grant(request), Purpose::Provide, ctx),
            None => self.finish(ctx),
        }
    }

    /// Whether the Secrets hold the newest credentials that the driver gave. Somebody else may say that the access is Ready – a
    /// late write of a predecessor does – while a Grant of our own has voided what is in them.
    fn secrets_are_current(&self) -> bool {
        let written = |granted: &Granted| granted.data.keys().all(|name| granted.written.contains(name));
        self.backend.answer.as_ref().map_or(!self.secrets.outdated, written)
    }

    /// It is Ready, and stays so while every Secret is as it was written.
    fn keep(&mut self, view: &Arc<AccessView>, ctx: &Context<'_>) -> Effect {
        self.recorded(view);
        let look_at = self.secrets.next_look.filter(|at| *at > ctx.now && self.pass.sights.is_empty());
        if let Some(at) = look_at {
            return Effect::Wait(at);
        }
        if let Some(effect) = self.inspect(view, ctx) {
            return effect;
        }
        self.secrets.retry = None;
        let next_look = ctx.now + ctx.settings.recheck_interval;
        self.secrets.next_look = Some(next_look);
        Effect::Wait(next_look)
    }

    /// The account is in the API: nothing needs to be remembered but other ids than the recorded one.
    fn recorded(&mut self, view: &Arc<AccessView>) {
        let ids = self.backend.unrecorded_ids(view.account_id.as_deref());
        self.backend = Backend { owner: Some(Arc::clone(view)), ids, ..Backend::default() };
        self.secrets.outdated = false;
        self.pace.call = None;
        self.pace.record = None;
        self.telling.report = crate::Report::default();
        self.telling.told.retain(|reason| *reason == NoteReason::SecretLost);
    }

    /// The access is not usable any more, or soon will not be.
    pub(super) fn close(&mut self, view: &Arc<AccessView>, ctx: &Context<'_>) -> Effect {
        let effect = Effect::WriteStatus { object: version(view), status: StatusWrite::NotReady };
        self.write(view, Awaiting::Closing, effect, ctx)
    }

    /// An intent without result that this process did not write itself: a predecessor may have sent something, and it may
    /// still be at work (R3, R6). An account id counts as a result only together with readiness: a Grant may have been
    /// under way to renew the credentials. Nothing was sent for what could never be sent, nor for an access that was not
    /// there in a predecessor's time. Once every predecessor's call has ended, such an intent may be nothing but an old
    /// event of an access that is gone: then it counts only if a live read shows it (R4, C19).
    pub(super) fn find_intent(&mut self, view: &AccessView, ctx: &Context<'_>) -> Option<Effect> {
        if self.backend.sent != Sent::Unknown {
            return None;
        }
        let never = ctx.predecessor_done == Time::default() || unworkable(view).is_some();
        if never && view.account_id.is_none() {
            self.backend.sent = Sent::Nothing;
            return None;
        }
        match Fence::predecessor(ctx) {
            Some(fence) => self.pace.put_up(fence),
            None if !self.pass.live => return Some(self.read(&view.place, ctx)),
            None => {}
        }
        self.backend.sent = Sent::Maybe;
        None
    }

    /// R7: every Secret is written, then id and readiness in one write.
    fn hand_out(&mut self, view: &Arc<AccessView>, ctx: &Context<'_>) -> Effect {
        if let Some(effect) = self.reserve(view, ctx) {
            return effect;
        }
        if let Some(at) = self.pace.record_gate(ctx) {
            return self.pause(Some(view), at, ctx);
        }
        let Some(granted) = &self.backend.answer else { return self.finish(ctx) };
        let status = StatusWrite::Ready(granted.account.clone());
        self.expect(Awaiting::Recording, Effect::WriteStatus { object: version(view), status })
    }

    /// The accessed Buckets are live and fine; if not, what to do about it.
    fn check_buckets(&mut self, view: &Arc<AccessView>, ctx: &Context<'_>) -> Option<Effect> {
        let Some(buckets) = &self.pass.buckets else {
            if let Some(at) = self.pace.api_gate(ctx) {
                return Some(self.pause(Some(view), at, ctx));
            }
            let names = view.accessed.iter().map(|a| Arc::clone(&a.bucket)).collect();
            return Some(self.expect(Awaiting::Buckets, Effect::ReadBuckets(names)));
        };
        let problem = super::handover::out_of_reach(view, buckets)?;
        Some(self.stuck(view, problem, ctx))
    }

    /// A driver call, as soon as it may be sent and the access was looked at (R4).
    pub(super) fn send(&mut self, view: View<'_>, call: Call, purpose: Purpose, ctx: &Context<'_>) -> Effect {
        if let Some(at) = self.pace.call_gate(Attempt { rpc: call.rpc(), purpose }, ctx) {
            return self.pause(view, at, ctx);
        }
        if !self.pass.live
            && !self.pass.gone
            && let Some(access) = view.or(self.backend.owner.as_ref())
        {
            let place = access.place.clone();
            return self.read(&place, ctx);
        }
        let before = self.backend.sent;
        if matches!(call, Call::Grant(_)) {
            self.backend.sent = Sent::Maybe;
            self.secrets.outdated = true;
        }
        let sending = Sending { call: call.clone(), before, purpose };
        self.expect(Awaiting::Call(sending), Effect::Call(call))
    }

    /// A write of the access, as soon as the API server may be asked.
    pub(super) fn write(
        &mut self,
        view: &Arc<AccessView>,
        awaiting: Awaiting,
        effect: Effect,
        ctx: &Context<'_>,
    ) -> Effect {
        match self.pace.api_gate(ctx) {
            Some(at) => self.pause(Some(view), at, ctx),
            None => self.expect(awaiting, effect),
        }
    }

    /// The access itself, or what it names, rules work out.
    fn stuck(&mut self, view: &Arc<AccessView>, problem: Problem, ctx: &Context<'_>) -> Effect {
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
        let status = StatusWrite::Error { text: problem.text.clone() };
        self.expect(Awaiting::Reporting, Effect::WriteStatus { object: version(view), status })
    }

    /// What was seen of a Secret in this pass.
    pub(super) fn sight(&self, name: &str) -> Option<&Sight> {
        self.pass.sights.get(name)
    }
}

/// The access as it was read, as the condition of a write.
pub(super) fn version(view: &AccessView) -> Version {
    Version {
        place: view.place.clone(),
        uid: Arc::clone(&view.uid),
        resource_version: view.resource_version.clone(),
    }
}
