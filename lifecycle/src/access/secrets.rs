//! The Secrets of an access: reserved before the Grant, filled after it, inspected while Ready, gone before the Revoke.

use std::sync::Arc;

use super::decide::View;
use super::required::required_keys;
use super::state::{Awaiting, Deed, Sight};
use super::{AccessState, AccessView, Effect, Owner, Place, SecretData, SecretView, Version};
use crate::{Context, Note, NoteReason, Problem, Time};

/// After so long a request that the API server did not answer has certainly ended there.
const API_SERVER_GIVES_UP: std::time::Duration = std::time::Duration::from_mins(1);

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
    /// Somebody else's: neither changed nor deleted (I4, C31).
    Foreign,
}

impl AccessState {
    /// Every Secret is there, is ours, and holds what was granted, if anything was. `None` if so.
    pub(super) fn reserve(&mut self, view: &Arc<AccessView>, ctx: &Context<'_>) -> Option<Effect> {
        self.each(Some(view), view, NoteReason::Failing, ctx, |state, name| {
            state.next_to_have(view, name, ctx)
        })
    }

    /// No Secret of the access is left. `None` if so.
    pub(super) fn remove(
        &mut self,
        view: View<'_>,
        owner: &Arc<AccessView>,
        ctx: &Context<'_>,
    ) -> Option<Effect> {
        let removal = self.each(view, owner, NoteReason::DeletionBlocked, ctx, |state, name| {
            state.next_to_remove(owner, name)
        });
        if removal.is_some() {
            return removal;
        }
        // One that was to be created without certain outcome may still appear, and nobody would look for it then.
        self.secrets.landing.retain(|_, until| *until > ctx.now);
        let until = self.secrets.landing.values().max().copied()?;
        Some(self.pause(view, until, ctx))
    }

    /// Every Secret of a Ready access is as it was written. `None` if so.
    pub(super) fn inspect(&mut self, view: &Arc<AccessView>, ctx: &Context<'_>) -> Option<Effect> {
        if let Some(at) = self.pace.api_gate(ctx).max(self.secret_gate(ctx)) {
            return Some(Effect::Wait(at));
        }
        let mut failed = false;
        for name in view.secrets() {
            let lost = match self.sight(name) {
                None => return Some(self.look(view, name)),
                Some(Sight::Failed(_)) => {
                    failed = true;
                    None
                }
                Some(Sight::Missing) => Some("is gone"),
                Some(Sight::Found(secret)) => unlike_written(view, secret),
            };
            if let Some(why) = lost {
                return Some(self.lost(view, name, why, ctx));
            }
        }
        self.secrets.met = true;
        self.secrets.retry.filter(|_| failed).map(|retry| Effect::Wait(retry.at))
    }

    /// A Secret of a Ready access is not as it was written: the access is not usable, and a person should know why
    /// credentials change.
    fn lost(&mut self, view: &Arc<AccessView>, name: &str, why: &str, ctx: &Context<'_>) -> Effect {
        let text = format!("Secret {name} {why}; the access is granted again, with the same account");
        self.telling.note_once(Note::warning(view, NoteReason::SecretLost, &text));
        match self.tell_next() {
            Some(tell) => tell,
            None => self.close(view, ctx),
        }
    }

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
                    texts.push(format!("Secret {name} {why}"));
                }
                Some(Sight::Found(secret)) if whose(owner, secret) == Whose::Foreign => texts.push(format!(
                    "Secret {name} exists and does not belong to this BucketAccess; it is left as it is: \
                     delete it, or make the BucketAccess anew with another accessSecretName"
                )),
                _ => {}
            }
        }
        let recheck = ctx.now + ctx.settings.recheck_interval;
        let until = self.secrets.retry.filter(|_| !terminal).map_or(recheck, |retry| retry.at);
        let reason = if terminal { NoteReason::Refused } else { trouble };
        self.telling.raise(owner, Problem::secrets(&texts.join("; "), terminal), reason);
        self.pause(view, until, ctx)
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
            Whose::Foreign => Next::Blocked,
            Whose::Ours if !secret.deleting => self.next_to_fill(view, name, &secret),
            // Seen before the access itself was: the Secret's owner was older, and is gone. Else this access may be the older.
            Whose::Leftover if !self.pass.live => Next::Do(self.read(&view.place, ctx)),
            Whose::Ours | Whose::Leftover => match self.next_to_drop(view, name, &secret) {
                Next::Fine => {
                    let why = "is being deleted, and others' finalizers hold it".to_owned();
                    self.secret_failed(Arc::clone(name), why, None, ctx);
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

    fn next_to_remove(&mut self, owner: &AccessView, name: &Arc<str>) -> Next {
        let secret = match self.sight(name) {
            None => return Next::Do(self.look(owner, name)),
            Some(Sight::Missing) => return Next::Fine,
            Some(Sight::Failed(_)) => return Next::Blocked,
            Some(Sight::Found(secret)) => secret.clone(),
        };
        match whose(owner, &secret) {
            Whose::Ours => self.next_to_drop(owner, name, &secret),
            Whose::Leftover | Whose::Foreign => Next::Fine,
        }
    }

    /// First our finalizer goes, then the Secret. Others' finalizers are not waited for (C18).
    fn next_to_drop(&mut self, owner: &AccessView, name: &Arc<str>, secret: &SecretView) -> Next {
        let version = version(owner, name, secret);
        if secret.finalizer {
            let finalizers = secret.other_finalizers.iter().map(ToString::to_string).collect();
            let effect = Effect::ReleaseSecret { secret: version, finalizers };
            return Next::Do(self.expect(Awaiting::Secret(Arc::clone(name), Deed::Release), effect));
        }
        if !secret.deleting {
            let effect = Effect::DeleteSecret(version);
            return Next::Do(self.expect(Awaiting::Secret(Arc::clone(name), Deed::Delete), effect));
        }
        Next::Fine
    }

    fn look(&mut self, view: &AccessView, name: &Arc<str>) -> Effect {
        let effect = Effect::ReadSecret(place(view, name));
        self.expect(Awaiting::Secret(Arc::clone(name), Deed::Look), effect)
    }

    fn create(&mut self, view: &AccessView, name: &Arc<str>) -> Effect {
        let granted = self.backend.answer.as_ref().and_then(|granted| granted.data.get(name));
        let data = granted.cloned().unwrap_or_default();
        let deed = if data.is_empty() { Deed::Reserve } else { Deed::Create };
        let owner = Owner { name: Arc::clone(&view.place.name), uid: Arc::clone(&view.uid) };
        let effect = Effect::CreateSecret { place: place(view, name), owner, data };
        self.expect(Awaiting::Secret(Arc::clone(name), deed), effect)
    }

    /// Something was done with a Secret, or was to be.
    pub(super) fn secret(
        &mut self,
        name: Arc<str>,
        deed: Deed,
        result: Result<Option<SecretView>, crate::WriteFailure>,
        ctx: &Context<'_>,
    ) {
        use crate::WriteFailure::{Conflict, Forbidden, Invalid, NotFound, Other};
        // What is known of the access is older than what is known of the Secret now.
        self.pass.live = false;
        let creates = matches!(deed, Deed::Reserve | Deed::Create);
        // Whatever became of a creation that failed, the Secret may be there.
        self.secrets.met |= creates && result.is_err();
        match result {
            Ok(found) => {
                if deed != Deed::Look {
                    self.pace.wrote();
                }
                self.see(Arc::clone(&name), found);
                if matches!(deed, Deed::Create | Deed::Fill) {
                    self.written(name, ctx);
                }
            }
            Err(Conflict) => {
                self.pass.sights.remove(&name);
                self.pace.conflicted(ctx);
            }
            Err(NotFound) if !creates => self.see(name, None),
            Err(failure) => {
                let why = match &failure {
                    Invalid { message } | Forbidden { message } | Other { message, .. } => message.as_str(),
                    Conflict | NotFound => "its namespace is gone",
                };
                if creates && matches!(failure, Other { .. }) {
                    self.secrets.landing.insert(Arc::clone(&name), ctx.now + API_SERVER_GIVES_UP);
                }
                let verb = if deed == Deed::Look { "read" } else { "written" };
                self.secret_failed(name, format!("cannot be {verb}: {why}"), Some(&failure), ctx);
            }
        }
    }

    /// Credentials were written into a Secret. Whoever takes them out again on the way must not make us write for ever.
    fn written(&mut self, name: Arc<str>, ctx: &Context<'_>) {
        let (Some(granted), Some(Sight::Found(secret))) =
            (&mut self.backend.answer, self.pass.sights.get(&name))
        else {
            return;
        };
        let complete = granted.data.get(&name).is_none_or(|data| is_held(secret, data));
        if complete {
            granted.written.insert(name);
        } else {
            self.secret_failed(name, "does not keep what is written into it".to_owned(), None, ctx);
        }
    }

    /// How a Secret is now.
    fn see(&mut self, name: Arc<str>, found: Option<SecretView>) {
        // One that nothing holds any more is gone with the write that took the last finalizer off.
        let held = |s: &SecretView| !s.deleting || s.finalizer || !s.other_finalizers.is_empty();
        let sight = match found.filter(held) {
            Some(secret) => {
                self.secrets.landing.remove(&name);
                Sight::Found(secret)
            }
            None => Sight::Missing,
        };
        self.pass.sights.insert(name, sight);
    }
}

/// Whether the Secret has a value for every key of `data`.
fn is_held(secret: &SecretView, data: &SecretData) -> bool {
    data.iter().all(|(key, _)| secret.keys.contains(key))
}

fn whose(access: &AccessView, secret: &SecretView) -> Whose {
    match &secret.owner {
        Some(owner) if owner.uid == access.uid => Whose::Ours,
        Some(owner) if owner.name == access.place.name => Whose::Leftover,
        _ => Whose::Foreign,
    }
}

/// Why the Secret of a Ready access is not as it was written, if so. Values edited by hand are not compared.
fn unlike_written(view: &AccessView, secret: &SecretView) -> Option<&'static str> {
    if whose(view, secret) != Whose::Ours {
        return Some("was taken by somebody else");
    }
    if secret.deleting {
        return Some("is being deleted");
    }
    let required = required_keys(view.protocol, view.authentication?);
    required.iter().any(|key| !secret.keys.contains(*key)).then_some("lacks a key that it needs")
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
