//! The way to a Secret of our own, with what was granted in it.

use std::sync::Arc;

use super::{Next, Whose, place, version, whose};
use crate::access::state::{Awaiting, Deed, Sight};
use crate::access::{AccessState, AccessView, Effect, Owner, SecretData, SecretView};
use crate::{Context, NoteReason};

impl AccessState {
    /// Every Secret is there, is ours, and holds what was granted, if anything was. `None` if so.
    pub(in crate::access) fn reserve(&mut self, view: &Arc<AccessView>, ctx: &Context<'_>) -> Option<Effect> {
        self.each(Some(view), view, NoteReason::Failing, ctx, |state, name| {
            state.next_to_have(view, name, ctx)
        })
    }

    /// The way to a Secret of our own, with what was granted in it.
    fn next_to_have(&mut self, view: &Arc<AccessView>, name: &Arc<str>, ctx: &Context<'_>) -> Next {
        let secret = match self.sight(name) {
            None if self.secrets.met => return Next::Do(self.look(view, name)),
            None | Some(Sight::Missing) => return Next::Do(self.create(view, name)),
            Some(Sight::Failed(_)) => return Next::Blocked,
            Some(Sight::Found(secret)) => secret.clone(),
        };
        match whose(view, &secret) {
            Whose::Stray if secret.deleting => self.release(view, name, &secret),
            Whose::Foreign | Whose::Stray => Next::Blocked,
            Whose::Ours if !secret.deleting => self.next_to_fill(view, name, &secret),
            // Seen before the access itself was: the Secret's owner was older, and is gone. Else this access may be the older.
            Whose::Leftover if !self.pass.live => Next::Do(self.read(&view.place, ctx)),
            Whose::Ours | Whose::Leftover => match self.next_to_drop(view, name, &secret) {
                Next::Fine => {
                    let why = "is being deleted, and others' finalizers hold it".to_owned();
                    self.secret_failed(Arc::clone(name), Some(why), None, ctx);
                    Next::Blocked
                }
                next => next,
            },
        }
    }

    fn next_to_fill(&mut self, view: &AccessView, name: &Arc<str>, secret: &SecretView) -> Next {
        let Some(granted) = &self.backend.answer else { return Next::Fine };
        let Some(data) = granted.data.get(name) else { return Next::Fine };
        if granted.written.contains(name) && is_held(secret, data) {
            return Next::Fine;
        }
        let effect = Effect::WriteSecret { secret: version(view, name, secret), data: data.clone() };
        Next::Do(self.expect(Awaiting::Secret(Arc::clone(name), Deed::Fill), effect))
    }

    fn create(&mut self, view: &AccessView, name: &Arc<str>) -> Effect {
        let granted = self.backend.answer.as_ref().and_then(|granted| granted.data.get(name));
        let data = granted.cloned().unwrap_or_default();
        let owner = Owner { name: Arc::clone(&view.place.name), uid: Arc::clone(&view.uid) };
        let effect = Effect::CreateSecret { place: place(view, name), owner, data };
        self.expect(Awaiting::Secret(Arc::clone(name), Deed::Create), effect)
    }
}

/// Whether the Secret has a value for every key of `data`.
pub(super) fn is_held(secret: &SecretView, data: &SecretData) -> bool {
    data.iter().all(|(key, _)| secret.keys.contains(key))
}
