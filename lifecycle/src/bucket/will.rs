//! What is still done when the lease is lost (R15).

use cosi_api::DeletionPolicy;

use super::decide::View;
use super::state::{Awaiting, BucketState, Purpose};
use super::{Call, Effect};
use crate::inflight::Sending;
use crate::{Context, Rpc};

impl BucketState {
    /// Nothing is begun and nothing is written any more, for another process may act by now. One thing only that process
    /// cannot know: the id that an own Create was answered with and that is not recorded. If the Bucket is gone – a live read
    /// says so –, nobody else will ever delete what was made; so it is deleted by that id, and by no other way.
    pub(super) fn last_will(&mut self, view: View<'_>, ctx: &Context<'_>) -> Effect {
        let owner = self.backend.owner.clone().filter(|owner| owner.policy == DeletionPolicy::Delete);
        let Some((owner, id)) = owner.zip(self.backend.remaining(None).next().map(Box::from)) else {
            return Effect::Done;
        };
        // Not even an own write will do, and one read must: there is no time to try again.
        if !self.pass.will_looked {
            self.pass.will_looked = true;
            return self.expect(Awaiting::Read, Effect::Read);
        }
        if !self.pass.gone || view.is_some() || self.pace.holds(Rpc::DeleteBucket, ctx) {
            return Effect::Done;
        }
        let call = Call::Delete { id, parameters: owner.parameters.clone() };
        let sending = Sending { call: call.clone(), before: self.backend.sent, purpose: Purpose::Undo };
        self.expect(Awaiting::Call(sending), Effect::LastWill(call))
    }
}
