//! The Secrets of an access: reserved before the Grant, filled after it, inspected while Ready, gone before the Revoke.

mod have;
mod inspect;
mod remove;
mod seen;

use std::sync::Arc;

use cosi_api::names::FINALIZER;

use super::decide::View;
use super::state::{Awaiting, Deed, Sight};
use super::{AccessState, AccessView, Effect, Owner, Place, SecretView, Version};
use crate::{Context, NoteReason, Problem, Time};

/// What is next for one Secret.
enum Next {
    /// This.
    Do(Effect),
    /// It is as it should be.
    Fine,
    /// Nothing can be done for it in this pass. The others go on (R8).
    Blocked,
}

/// What a Secret is to the access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Whose {
    /// Its own.
    Ours,
    /// Of an older access of the same name, which must be gone since this one exists.
    Leftover,
    /// Nobody's any more, though a sidecar once put the finalizer on it: somebody took the owner reference off, as `kubectl delete
    /// --cascade=orphan` does. It stays, but whoever wants to delete it must be able to.
    Stray,
    /// Somebody else's: neither changed nor deleted (I4, C31).
    Foreign,
}

impl AccessState {
    /// One Secret after the other; what cannot be done for one does not keep it from being done for the next (R8).
    fn each(
        &mut self,
        view: View<'_>,
        owner: &Arc<AccessView>,
        trouble: NoteReason,
        ctx: &Context<'_>,
        next: impl Fn(&mut Self, &Arc<str>) -> Next,
    ) -> Option<Effect> {
        if let Some(at) = self.pace.api_gate(ctx).max(self.secret_gate(ctx)) {
            return Some(self.pause(view, at, ctx));
        }
        let mut blocked = false;
        for name in owner.secrets() {
            match next(self, name) {
                Next::Do(effect) => return Some(effect),
                Next::Fine => {}
                Next::Blocked => blocked = true,
            }
        }
        if blocked {
            return Some(self.blocked(view, owner, trouble, ctx));
        }
        self.secrets.retry = None;
        self.secrets.met = true;
        None
    }

    /// When Secrets may be worked on, if not now. In a pass that has begun to, the gate is open.
    fn secret_gate(&self, ctx: &Context<'_>) -> Option<Time> {
        let retry = self.secrets.retry.filter(|_| self.pass.sights.is_empty());
        retry.map(|r| r.at).filter(|at| *at > ctx.now)
    }

    /// Says which Secrets are in the way, and when they are looked at again.
    fn blocked(
        &mut self,
        view: View<'_>,
        owner: &Arc<AccessView>,
        trouble: NoteReason,
        ctx: &Context<'_>,
    ) -> Effect {
        let mut texts = Vec::new();
        let mut terminal = true;
        for name in owner.secrets() {
            match self.sight(name) {
                Some(Sight::Failed(why)) => {
                    terminal = false;
                    texts.extend(why.as_ref().map(|why| format!("Secret {name} {why}")));
                }
                Some(Sight::Found(secret)) if is_anothers(owner, secret) => {
                    texts.push(in_the_way(name, secret));
                }
                _ => {}
            }
        }
        let recheck = ctx.now + ctx.settings.recheck_interval;
        let until = self.secrets.retry.filter(|_| !terminal).map_or(recheck, |retry| retry.at);
        if !texts.is_empty() {
            let reason = if terminal { NoteReason::Refused } else { trouble };
            self.telling.raise(owner, Problem::secrets(&texts.join("; "), terminal), reason);
        }
        self.pause(view, until, ctx)
    }

    fn look(&mut self, view: &AccessView, name: &Arc<str>) -> Effect {
        let effect = Effect::ReadSecret(place(view, name));
        self.expect(Awaiting::Secret(Arc::clone(name), Deed::Look), effect)
    }
}

/// What a person can do about a Secret that stands where ours should be.
fn in_the_way(name: &str, secret: &SecretView) -> String {
    match &secret.owner {
        Some(Owner { name: owner, .. }) if secret.deleting && secret.finalizer => format!(
            "Secret {name} belongs to BucketAccess {owner} and is being deleted; if that BucketAccess is gone, take the \
             finalizer {FINALIZER} off the Secret by hand (kubectl edit secret)"
        ),
        Some(Owner { name: owner, .. }) => format!(
            "Secret {name} belongs to BucketAccess {owner}; make this BucketAccess anew with another accessSecretName"
        ),
        None => format!(
            "Secret {name} exists and does not belong to this BucketAccess; it is left as it is: \
             delete it, or make the BucketAccess anew with another accessSecretName"
        ),
    }
}

/// Whether the Secret stands where ours should be, and is not ours to take away.
fn is_anothers(access: &AccessView, secret: &SecretView) -> bool {
    matches!(whose(access, secret), Whose::Foreign | Whose::Stray)
}

fn whose(access: &AccessView, secret: &SecretView) -> Whose {
    match &secret.owner {
        Some(owner) if owner.uid == access.uid => Whose::Ours,
        Some(owner) if owner.name == access.place.name => Whose::Leftover,
        None if secret.finalizer && !secret.owned => Whose::Stray,
        _ => Whose::Foreign,
    }
}

fn place(view: &AccessView, name: &Arc<str>) -> Place {
    Place { namespace: Arc::clone(&view.place.namespace), name: Arc::clone(name) }
}

fn version(view: &AccessView, name: &Arc<str>, secret: &SecretView) -> Version {
    Version {
        place: place(view, name),
        uid: Arc::clone(&secret.uid),
        resource_version: secret.resource_version.clone(),
    }
}
