//! The seams between the machine and its shell where seeded bugs sit.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use super::cluster::bucket;
use super::{NAME, World};
use crate::access::state::{Backend, Pass};
use crate::access::{AccessView, Call, CallOk, Effect, Event, Owner, SecretView};
use crate::inflight::Sent;
use crate::testing::{Mutant, soften};
use crate::{Code, Failure, Fence, Rpc, WriteFailure};

impl World {
    /// The object as a seeded bug shows it.
    pub(super) fn distorted(&self, view: Arc<AccessView>) -> Arc<AccessView> {
        if self.has(Mutant::ReadyToTheEnd) && view.deleting {
            return Arc::new(AccessView { ready: false, ..(*view).clone() });
        }
        view
    }

    /// The event, and the state before it, as a seeded bug has them.
    pub(super) fn corrupted(&mut self, event: Event) -> Event {
        let failed_write = matches!(event, Event::Wrote(Err(_)) | Event::Secret(Err(_)));
        self.known.secret_failed |= matches!(&event, Event::Secret(Err(f)) if *f != WriteFailure::Conflict);
        self.known.secret_failed &= !matches!(event, Event::Start(_));
        let undoing =
            matches!(self.effects.last(), Some(Effect::Call(Call::Revoke { .. } | Call::RevokeByName(_))));
        let gone = self.lane().index.is_none();
        let looked = self.looked.clone();
        let mutant = self.mutant;
        let own = Owner { name: NAME.into(), uid: Arc::clone(&self.lane().key) };
        let backend = &mut self.lane_mut().state.backend;
        match (mutant, event) {
            (Some(Mutant::InternalIsRefused), Event::Called(Err(failure))) => {
                Event::Called(Err(soften(failure, |f| f.code() == Some(Code::Internal))))
            }
            (Some(Mutant::TimeoutIsRefused), Event::Called(Err(failure))) => {
                Event::Called(Err(soften(failure, |f| matches!(f, Failure::NoAnswer { .. }))))
            }
            (Some(Mutant::FinishUnrevoked), Event::Called(Err(_))) if undoing => {
                Event::Called(Ok(CallOk::Revoked))
            }
            (Some(Mutant::AdoptSecrets), Event::Secret(Ok(Some(secret)))) => {
                Event::Secret(Ok(Some(SecretView { owner: Some(own), ..secret })))
            }
            (Some(Mutant::ForgetOnFailedWrite), event) if failed_write => {
                *backend = Backend { owner: backend.owner.take(), ..Backend::default() };
                event
            }
            (Some(Mutant::ForgetTheGone), event) if gone => {
                *backend = Backend { owner: looked, ..Backend::default() };
                event
            }
            (Some(Mutant::LetGoThoughUnknown), event) => {
                backend.unknown = false;
                event
            }
            (Some(Mutant::NothingWithoutId), event) if backend.ids.is_empty() => {
                backend.sent = Sent::Nothing;
                event
            }
            (_, event) => event,
        }
    }

    /// The next effect, or what a seeded bug makes of it.
    pub(super) fn diverted(&mut self, mut effect: Effect) -> Effect {
        let pace = &mut self.lanes[self.turn].state.pace;
        let except = match self.mutant {
            Some(Mutant::NoGraceBeforeRepeat) => Some(Rpc::GrantBucketAccess),
            Some(Mutant::NoGraceBeforeDelete) => Some(Rpc::RevokeBucketAccessByName),
            _ => None,
        };
        if except.is_some() {
            pace.fence = pace.fence.map(|fence| Fence { except, ..fence });
        }
        let secrets = matches!(effect, Effect::ReadSecret(_) | Effect::WriteSecret { .. });
        if self.has(Mutant::OneFailsAll) && self.known.secret_failed && secrets {
            self.lane_mut().state.pass = Pass::default();
            return Effect::Wait(self.now + Duration::from_secs(10));
        }
        if let Effect::ReleaseSecret { finalizers, .. } = &mut effect
            && self.has(Mutant::ReleaseForOthers)
        {
            finalizers.clear();
        }
        effect
    }

    /// What a seeded bug answers instead of running the effect.
    pub(super) fn lie(&self, effect: &Effect) -> Option<Event> {
        let stored = |name: &str| self.known.secrets.get(name).map(|s| s.view.clone());
        let going = self.lane().index.as_ref().is_none_or(|view| view.deleting);
        let gone = self.lane().index.is_none();
        let secret = match (self.mutant?, effect) {
            (Mutant::GrantUnreserved, Effect::CreateSecret { owner, data, .. }) if data.is_empty() => {
                Some(never_made(owner))
            }
            (Mutant::StatusBeforeSecrets, Effect::WriteSecret { secret, data }) => {
                let keys = data.iter().map(|(key, _)| key.to_owned()).collect();
                stored(&secret.place.name).map(|view| SecretView { keys, ..view })
            }
            (Mutant::KeepOldKeys, Effect::WriteSecret { secret, data }) => {
                let full = |view: &SecretView| data.iter().all(|(key, _)| view.keys.contains(key));
                Some(stored(&secret.place.name).filter(full)?)
            }
            (Mutant::RevokeFirst, Effect::ReadSecret(_)) if going => None,
            (Mutant::LeaveSecrets, Effect::ReadSecret(_)) if gone => None,
            (Mutant::GrantUnchecked, Effect::ReadBuckets(names)) => {
                let fine = |name: &Arc<str>| Ok(Some(bucket(name, None)));
                return Some(Event::Buckets(names.iter().map(fine).collect()));
            }
            _ => return None,
        };
        Some(Event::Secret(Ok(secret)))
    }
}

fn never_made(owner: &Owner) -> SecretView {
    SecretView {
        uid: "never made".into(),
        resource_version: "1".into(),
        deleting: false,
        finalizer: true,
        other_finalizers: [].into(),
        owner: Some(owner.clone()),
        owned: true,
        keys: BTreeSet::new(),
    }
}
