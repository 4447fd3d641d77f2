//! Bugs in what becomes of an access.

use std::collections::BTreeSet;
use std::sync::Arc;

use cosi_lifecycle::Wake;
use cosi_lifecycle::access::{
    AccessState, AccessView, Call, CallOk, Effect, Event, Owner, SecretView, StatusWrite,
};

use super::seam::{Seam, Stale, refusal, soften};
use super::{Bug, is, seeded};

/// What bugs remember of an access.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    /// The last effect was the write of readiness.
    recording: bool,
    /// The last effect was a Grant.
    granting: bool,
    /// The last Grant failed.
    failed: bool,
    stale: Stale<AccessView>,
}

impl Seam for AccessState {
    const RESTS: bool = false;
    type Memory = Memory;

    fn distort(_: Option<&Arc<AccessView>>, memory: &Memory) -> Option<Arc<AccessView>> {
        memory.stale.shown()
    }

    fn corrupt(&mut self, view: Option<&Arc<AccessView>>, event: Event, memory: &mut Memory) -> Event {
        if memory.granting {
            memory.failed = matches!(event, Event::Called(Err(_)));
        }
        if let Some(view) = view.filter(|view| !view.deleting && !view.ready) {
            memory.stale.keep(view);
        }
        memory.stale.acknowledged |= matches!(event, Event::Called(Ok(CallOk::Revoked)));
        let forgets = match seeded() {
            Some(Bug::ForgetOnFailedWrite) => memory.recording && matches!(event, Event::Wrote(Err(_))),
            Some(Bug::ForgetTheGone) => view.is_none(),
            _ => false,
        };
        if forgets {
            *self = Self::default();
            return Event::Start(Wake::CHANGED);
        }
        match event {
            Event::Called(Err(failure)) => Event::Called(Err(soften(failure))),
            Event::Called(Ok(ok)) => {
                if is(Bug::PrintCredentials) {
                    print(&ok);
                }
                Event::Called(Ok(ok))
            }
            Event::Secret(Ok(Some(secret))) if is(Bug::AdoptSecrets) => {
                let own =
                    view.map(|view| Owner { name: Arc::clone(&view.place.name), uid: view.uid.clone() });
                Event::Secret(Ok(Some(SecretView { owner: own, owned: true, ..secret })))
            }
            event => event,
        }
    }

    fn lie(view: Option<&Arc<AccessView>>, effect: &Effect, memory: &mut Memory) -> Option<Event> {
        let going = view.is_none_or(|view| view.deleting);
        let skips = match (seeded()?, effect) {
            (Bug::CacheForLiveRead, Effect::Read(_)) => return Some(Event::Read(Ok(()))),
            (Bug::CreateFromStaleCache, Effect::Read(_)) if memory.stale.acknowledged => {
                return Some(Event::Read(Ok(())));
            }
            (Bug::GrantUnreserved, Effect::CreateSecret { owner, data, .. }) if data.is_empty() => {
                return Some(Event::Secret(Ok(Some(never_made(owner)))));
            }
            (Bug::NothingWithoutId, _) => going && view.is_none_or(|view| view.account_id.is_none()),
            (Bug::ReleaseOnFailedCreate, _) => going && memory.failed,
            _ => false,
        };
        match effect {
            Effect::Call(Call::RevokeByName(_)) if skips => Some(Event::Called(Ok(CallOk::Revoked))),
            Effect::Call(Call::Grant(_)) if skips => Some(Event::Called(Err(refusal()))),
            _ => None,
        }
    }

    fn divert(_: Option<&Arc<AccessView>>, effect: Effect, memory: &mut Memory) -> Effect {
        memory.recording = matches!(&effect, Effect::WriteStatus { status: StatusWrite::Ready(_), .. });
        memory.granting = matches!(&effect, Effect::Call(Call::Grant(_)));
        effect
    }
}

/// A Secret that does not exist.
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

/// As a careless `{:?}` would, if the types did not hide what they hold.
fn print(ok: &CallOk) {
    if let CallOk::Granted { credentials, .. } = ok {
        let values = credentials.iter().flat_map(|(_, data)| data.iter());
        tracing::info!("granted {:?}", values.collect::<Vec<_>>());
    }
}
