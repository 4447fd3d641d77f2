//! How a Secret goes.

use std::sync::Arc;

use super::{Next, Whose, version, whose};
use crate::access::decide::View;
use crate::access::state::{Awaiting, Deed, Sight};
use crate::access::{AccessState, AccessView, Effect, SecretView};
use crate::finalizers::without_ours;
use crate::{Context, NoteReason};

impl AccessState {
    /// No Secret of the access is left. `None` if so.
    pub(in crate::access) fn remove(
        &mut self,
        view: View<'_>,
        owner: &Arc<AccessView>,
        ctx: &Context<'_>,
    ) -> Option<Effect> {
        self.look_again_at_what_may_have_landed(ctx);
        let removal = self.each(view, owner, NoteReason::DeletionBlocked, ctx, |state, name| {
            state.next_to_remove(owner, name)
        });
        if removal.is_some() {
            return removal;
        }
        // One that was to be created without certain outcome may still appear, and nobody would look for it then.
        let until = self.secrets.landing.values().map(|landing| landing.until).max()?;
        Some(self.pause(view, until, ctx))
    }

    /// The time of a creation without certain outcome is over. That its Secret was missing before says nothing of now.
    fn look_again_at_what_may_have_landed(&mut self, ctx: &Context<'_>) {
        let sights = &mut self.pass.sights;
        self.secrets.landing.retain(|name, landing| {
            let may_land = landing.until > ctx.now;
            if !may_land && matches!(sights.get(name), Some(Sight::Missing)) {
                sights.remove(name);
            }
            may_land
        });
    }

    fn next_to_remove(&mut self, owner: &AccessView, name: &Arc<str>) -> Next {
        let secret = match self.sight(name) {
            None => return Next::Do(self.look(owner, name)),
            Some(Sight::Missing) => return Next::Fine,
            Some(Sight::Failed(_)) => return Next::Blocked,
            Some(Sight::Found(secret)) => secret.clone(),
        };
        match whose(owner, &secret) {
            Whose::Ours => self.next_to_drop(owner, name, &secret),
            // Only who was once granted can have owned it; another access may still live on it.
            Whose::Stray if secret.deleting || owner.account_id.is_some() => {
                self.release(owner, name, &secret)
            }
            Whose::Stray | Whose::Leftover | Whose::Foreign => Next::Fine,
        }
    }

    /// First our finalizer goes, then the Secret. Others' finalizers are not waited for (C18).
    pub(super) fn next_to_drop(&mut self, owner: &AccessView, name: &Arc<str>, secret: &SecretView) -> Next {
        if secret.finalizer {
            return self.release(owner, name, secret);
        }
        if !secret.deleting {
            let effect = Effect::DeleteSecret(version(owner, name, secret));
            return Next::Do(self.expect(Awaiting::Secret(Arc::clone(name), Deed::Delete), effect));
        }
        Next::Fine
    }

    /// Our finalizer goes; others' stay (I4).
    pub(super) fn release(&mut self, owner: &AccessView, name: &Arc<str>, secret: &SecretView) -> Next {
        let finalizers = without_ours(&secret.other_finalizers);
        let effect = Effect::ReleaseSecret { secret: version(owner, name, secret), finalizers };
        Next::Do(self.expect(Awaiting::Secret(Arc::clone(name), Deed::Release), effect))
    }
}
