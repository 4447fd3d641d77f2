//! What is still done when the lease is lost (R15).

use super::decide::View;
use super::handover::request;
use super::state::Awaiting;
use super::{AccessState, Call, Effect};
use crate::inflight::{Purpose, Sending};
use crate::{Context, Rpc};

impl AccessState {
    /// As for Buckets: an account that an own Grant was answered with, and whose access is gone, is revoked by its id. Its
    /// Secrets are the next leader's, or the garbage collector's.
    pub(super) fn last_will(&mut self, view: View<'_>, ctx: &Context<'_>) -> Effect {
        let id = self.backend.remaining(None).next().map(Box::from);
        let Some((owner, id)) = self.backend.owner.clone().zip(id) else { return Effect::Done };
        if !self.pass.will_looked {
            self.pass.will_looked = true;
            return self.expect(Awaiting::Read, Effect::Read(owner.place.clone()));
        }
        let Some(request) = request(&owner) else { return Effect::Done };
        if view.is_some() || !self.pass.gone || self.pace.holds(Rpc::RevokeBucketAccess, ctx) {
            return Effect::Done;
        }
        let call = Call::Revoke { id, request };
        let sending = Sending { call: call.clone(), before: self.backend.sent, purpose: Purpose::Undo };
        self.expect(Awaiting::Call(sending), Effect::LastWill(call))
    }
}
