//! The one place that runs effects: requests to the API server here, calls to the driver in `calls`.

use std::sync::Arc;

use super::cluster::{bucket, others};
use super::{Reachable, World};
use crate::WriteFailure;
use crate::access::{AccessView, Effect, Event, SecretView, Version};
use crate::testing::{ApiFault, Fault, Held as _, Mutant, with_finalizers};

impl World {
    pub(super) fn execute(&mut self, effect: &Effect, fault: Option<Fault>) -> Event {
        let api = if let Some(Fault::Api(fault)) = fault { Some(fault) } else { None };
        if let Some(lie) = self.lie(effect) {
            return lie;
        }
        match effect {
            Effect::Read(_) => Event::Read(self.read(api)),
            Effect::ReadBuckets(names) => self.read_buckets(api, names),
            Effect::ReadSecret(place) => {
                let met = self.meet(api);
                Event::Secret(met.map(|()| self.known.secrets.get(&place.name).map(|s| s.view.clone())))
            }
            write @ (Effect::WriteFinalizers { .. }
            | Effect::WriteCleanupFinished { .. }
            | Effect::WriteStatus { .. }) => self.store(api, write),
            write @ (Effect::CreateSecret { .. }
            | Effect::WriteSecret { .. }
            | Effect::ReleaseSecret { .. }
            | Effect::DeleteSecret(_)) => {
                Event::Secret(self.write(api, write, |world| world.apply_to_secret(write, false)))
            }
            Effect::Call(call) | Effect::LastWill(call) => Event::Called(self.ask(call, fault)),
            Effect::Tell(note) => {
                self.notes.push(note.clone());
                Event::Told
            }
            Effect::Wait(_) | Effect::Done => unreachable!("not an effect to be run"),
        }
    }

    fn read(&mut self, fault: Option<ApiFault>) -> Result<(), WriteFailure> {
        self.meet(fault)?;
        let key = Arc::clone(&self.lane().key);
        self.looked = self.api.view();
        if !self.has(Mutant::CacheForLiveRead) {
            self.fold(self.api.version, self.api.view().filter(|v| v.uid == key));
        }
        Ok(())
    }

    fn read_buckets(&mut self, fault: Option<ApiFault>, names: &[Arc<str>]) -> Event {
        let met = self.meet(fault);
        let found = |name: &Arc<str>| match self.known.buckets.get(name) {
            Some(Reachable::Missing) => None,
            state => Some(bucket(name, state.copied())),
        };
        let read = |name: &Arc<str>| met.clone().map(|()| found(name));
        let buckets: Vec<_> = names.iter().map(read).collect();
        self.known.shown = met.is_ok() && self.known.buckets.is_empty();
        Event::Buckets(buckets)
    }

    fn store(&mut self, fault: Option<ApiFault>, write: &Effect) -> Event {
        let written = self.write(fault, write, |world| world.apply(write));
        Event::Wrote(written.map(|view| {
            self.looked = Some(Arc::clone(&view));
            self.fold(self.api.version, Some(view));
        }))
    }

    pub(super) fn land(&mut self, write: &Effect) -> bool {
        match write {
            Effect::WriteFinalizers { .. }
            | Effect::WriteCleanupFinished { .. }
            | Effect::WriteStatus { .. } => self.apply(write).is_ok(),
            write => self.apply_to_secret(write, true).is_ok(),
        }
    }

    /// A write of the access takes effect at the API server.
    fn apply(&mut self, write: &Effect) -> Result<Arc<AccessView>, WriteFailure> {
        let before = self.api.object.as_ref().map(|o| o.view.other_finalizers.clone());
        let written = match write {
            Effect::WriteFinalizers { object, finalizers } => {
                let version = Some(object.resource_version.as_ref());
                self.api.write_finalizers(&object.uid, version, finalizers)
            }
            Effect::WriteCleanupFinished { object, finished } => {
                self.matching(object)?;
                let written = self.api.change(|o| o.view.cleanup_finished = *finished);
                written.ok_or(WriteFailure::NotFound)
            }
            Effect::WriteStatus { object, status } => {
                let loose = self.has(Mutant::UnconditionedStatus);
                let version = Some(object.resource_version.as_ref()).filter(|_| !loose);
                let written = self.api.write_status(version, status);
                if written.is_ok() {
                    self.check_record(status);
                }
                written
            }
            _ => unreachable!("not a write of an access"),
        };
        self.check_foreign_finalizers(before);
        written
    }

    fn matching(&self, meant: &Version) -> Result<(), WriteFailure> {
        let object = self.api.conditions(Some(&meant.resource_version))?;
        if object.view.uid == meant.uid { Ok(()) } else { Err(WriteFailure::Conflict) }
    }

    /// A write of a Secret takes effect at the API server.
    fn apply_to_secret(&mut self, write: &Effect, late: bool) -> Result<Option<SecretView>, WriteFailure> {
        match write {
            Effect::CreateSecret { place, owner, data } => self.create_secret(place, owner, data, late),
            Effect::WriteSecret { secret, data } => {
                self.find_secret(secret)?;
                self.check_secret(secret, false);
                Ok(self.fill_secret(&secret.place.name, data))
            }
            Effect::ReleaseSecret { secret, finalizers } => {
                let found = self.find_secret(secret)?;
                let released = with_finalizers(&found.view, finalizers)?;
                let kept = others(finalizers) == found.view.other_finalizers;
                self.check_secret(secret, true);
                self.check_released(kept);
                Ok(self.change_secret(&secret.place.name, |s| s.view = released))
            }
            Effect::DeleteSecret(secret) => {
                self.find_secret(secret)?;
                self.check_secret(secret, true);
                let left = self.change_secret(&secret.place.name, |s| s.view.begin_deletion());
                Ok(left.filter(|view| !view.is_gone()))
            }
            _ => unreachable!("not a write of a Secret"),
        }
    }
}
