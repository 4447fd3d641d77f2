//! How an account leaves the backend: on deletion (R10, R14), and after its access went away by force (R12).

use std::sync::Arc;

use super::decide::{View, version};
use super::handover::{account_name, request};
use super::state::Awaiting;
use super::{AccessState, AccessView, Call, Effect};
use crate::inflight::{Owner as _, Purpose, Sent, Undo};
use crate::{Context, Note, NoteReason};

impl AccessState {
    /// A deleting access: not ready, then its Secrets go, then the account, then the controller is told.
    pub(super) fn delete(&mut self, view: &Arc<AccessView>, ctx: &Context<'_>) -> Effect {
        if view.ready {
            return self.close(view, ctx);
        }
        // Before anything that can fail: should the finalizer be stripped meanwhile, nobody else knows (R6).
        if let Some(look) = self.find_intent(view, ctx) {
            return look;
        }
        if let Some(effect) = self.remove(Some(view), view, ctx) {
            return effect;
        }
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
        let effect = Effect::WriteCleanupFinished { object: version(view), finished: true };
        self.write(view, Awaiting::Finishing, effect, ctx)
    }

    /// Whether our work may end without another word to the driver.
    fn may_leave(&self, view: &AccessView) -> bool {
        self.backend.gone || self.backend.hopeless.is_some() || view.let_go
    }

    /// R12: the access is gone. A UID never comes back, so all that is its own goes, too: its Secrets, and its account. Only
    /// an account that was recorded stays, if the access was Ready and went without being deleted first: somebody took the
    /// finalizer off, and only a person knows what is to become of it.
    pub(super) fn after_owner(&mut self, ctx: &Context<'_>) -> Effect {
        let Some(owner) = self.backend.owner.clone() else {
            self.forget();
            return self.finish(ctx);
        };
        if !self.pass.gone {
            return self.read(&owner.place, ctx);
        }
        let recorded = owner.account_id.is_some() && !self.backend.gone;
        let was_ready = owner.ready && !owner.deleting;
        let ours_to_undo = self.may_be_there() || (recorded && !was_ready);
        if ours_to_undo || recorded {
            self.telling.note_once(owner_gone(&owner, ours_to_undo));
        }
        if let Some(tell) = self.tell_next() {
            return tell;
        }
        if let Some(effect) = self.remove(None, &owner, ctx) {
            return effect;
        }
        if ours_to_undo
            && !self.may_leave(&owner)
            && let Some(effect) = self.undo(None, &owner, ctx)
        {
            return effect;
        }
        if let Some(until) = self.pace.fence_gate(ctx).filter(|_| !self.backend.gone) {
            return self.pause(None, until, ctx);
        }
        if let Some(note) = self.farewell(&owner).filter(|_| ours_to_undo) {
            self.telling.note_once(note);
        }
        self.forget();
        self.decide(None, ctx)
    }

    /// The next call that brings the backend closer to clean; `None` if it is clean, or nothing can be asked of the driver.
    fn undo(&mut self, view: View<'_>, owner: &Arc<AccessView>, ctx: &Context<'_>) -> Option<Effect> {
        let missing = ctx.by_name_missing || self.pass.by_name_missing;
        let undo = self.backend.next_undo(owner.as_ref(), missing)?;
        let request = request(owner)?;
        let call = match undo {
            Undo::ById(id) => Call::Revoke { id: id.into(), request },
            Undo::ByName => Call::RevokeByName(request),
            Undo::Replay => Call::Grant(request),
        };
        Some(self.send(view, call, Purpose::Undo, ctx))
    }

    /// What a person should know when our work ends.
    fn farewell(&self, owner: &AccessView) -> Option<Note> {
        let nothing =
            self.backend.sent == Sent::Nothing && self.backend.remaining(owner.recorded()).next().is_none();
        if self.backend.gone || nothing {
            return None;
        }
        let why = match &self.backend.hopeless {
            Some(why) => format!("; {why}"),
            None if owner.let_go => " (let go by annotation)".to_owned(),
            None => " (the hand-over is incomplete, so the driver cannot be asked)".to_owned(),
        };
        let text = format!("let go, check the backend by hand: {}{why}", self.what_is_left(owner));
        Some(Note::warning(owner, NoteReason::LetGo, &text))
    }

    /// Everything that a person needs to find the account at the backend.
    fn what_is_left(&self, owner: &AccessView) -> String {
        let ids: Vec<_> = self.backend.remaining(owner.recorded()).collect();
        let id = if ids.is_empty() {
            "accountID not known".to_owned()
        } else {
            format!("accountID {}", ids.join(", "))
        };
        let parameters =
            owner.parameters.as_deref().map(|p| format!(", parameters {p:?}")).unwrap_or_default();
        let driver = owner.driver.as_deref().unwrap_or_default();
        format!("driver {driver}, account {}, {id}{parameters}", account_name(owner))
    }
}

/// The first word on an access that went away by force.
fn owner_gone(owner: &AccessView, ours_to_undo: bool) -> Note {
    let account = account_name(owner);
    let id = owner.account_id.as_deref().unwrap_or("not known");
    let driver = owner.driver.as_deref().unwrap_or_default();
    let text = if ours_to_undo {
        format!("the BucketAccess was deleted by force; its account {account} is being revoked")
    } else {
        format!(
            "the BucketAccess was deleted by force; its account is left, revoke it by hand: \
             driver {driver}, account {account}, accountID {id}"
        )
    };
    Note::warning(owner, NoteReason::OwnerGone, &text)
}
