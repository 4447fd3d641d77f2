//! The one place that runs effects: requests to the API server here, calls to the driver in `calls`.

use std::sync::Arc;

use super::World;
use crate::WriteFailure;
use crate::bucket::{BucketView, Claim, Effect, Event};
use crate::testing::{ApiFault, Fault, Mutant};
use cosi_api::names::FINALIZER;

impl World {
    pub(super) fn execute(&mut self, effect: &Effect, fault: Option<Fault>) -> Event {
        let api = if let Some(Fault::Api(fault)) = fault { Some(fault) } else { None };
        match effect {
            Effect::Read => Event::Read(self.read(api)),
            Effect::ReadClaim(_) => {
                Event::Claim(if api.is_some() { Claim::Unreadable } else { self.known.claim })
            }
            write @ (Effect::WriteFinalizers { .. } | Effect::WriteStatus { .. }) => self.store(api, write),
            Effect::Call(call) | Effect::LastWill(call) => Event::Called(self.ask(call, fault)),
            Effect::Tell(note) => {
                self.notes.push(note.clone());
                Event::Told
            }
            Effect::Wait(_) | Effect::Done => unreachable!("not an effect to be run"),
        }
    }

    /// The write takes effect at the API server.
    pub(super) fn apply(&mut self, write: &Effect) -> Result<Arc<BucketView>, WriteFailure> {
        let foreign = self.api.object.as_ref().map(|o| o.view.other_finalizers.clone());
        let written = match write {
            Effect::WriteFinalizers { uid, resource_version, finalizers } => {
                let loose = self.has(Mutant::UnconditionedFinalizers)
                    || (self.has(Mutant::StubbornRemoval) && !finalizers.iter().any(|f| f == FINALIZER));
                let version = Some(resource_version.as_ref()).filter(|_| !loose);
                self.api.write_finalizers(uid, version, finalizers)
            }
            Effect::WriteStatus { resource_version, status } => {
                let loose = self.has(Mutant::UnconditionedStatus);
                let version = Some(resource_version.as_ref()).filter(|_| !loose);
                self.check_record(status);
                self.api.write_status(version, status)
            }
            _ => unreachable!("not a write"),
        };
        self.check_foreign_finalizers(foreign);
        written
    }

    fn read(&mut self, fault: Option<ApiFault>) -> Result<(), WriteFailure> {
        self.meet(fault)?;
        if !self.has(Mutant::CacheForLiveRead) {
            self.fold(self.api.version, self.api.view());
        }
        self.looked = self.api.view();
        Ok(())
    }

    fn store(&mut self, fault: Option<ApiFault>, write: &Effect) -> Event {
        let written = self.write(fault, write, |world| world.apply(write));
        Event::Wrote(written.map(|view| {
            self.looked = Some(Arc::clone(&view));
            self.fold(self.api.version, Some(view));
        }))
    }
}
