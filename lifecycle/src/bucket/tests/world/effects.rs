//! The one place that runs effects: requests to the API server here, calls to the driver in `calls`.

use std::sync::Arc;
use std::time::Duration;

use super::api::{Object, Written, invalid, other};
use super::{ApiFault, Fault, Mutant, World};
use crate::WriteFailure;
use crate::bucket::{Claim, Effect, Event};
use cosi_api::names::FINALIZER;

impl World {
    pub(super) fn execute(&mut self, effect: &Effect, fault: Option<Fault>) -> Event {
        self.advance(self.now + Duration::from_millis(1));
        let api = if let Some(Fault::Api(fault)) = fault { Some(fault) } else { None };
        match effect {
            Effect::Read => Event::Read(self.read(api)),
            Effect::ReadClaim(_) => {
                Event::Claim(if api.is_some() { Claim::Unreadable } else { self.api.claim })
            }
            write @ (Effect::WriteFinalizers { .. } | Effect::WriteStatus { .. }) => self.write(api, write),
            Effect::Call(call) => Event::Called(self.call(call, fault)),
            Effect::Tell(note) => {
                self.notes.push(note.clone());
                Event::Told
            }
            Effect::Wait(_) | Effect::Done => unreachable!("not an effect to be run"),
        }
    }

    /// The write takes effect at the API server.
    fn apply(&mut self, write: &Effect) -> Written {
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

    /// Writes whose answer came long ago take effect, if their conditions still hold.
    pub(super) fn land_writes(&mut self) {
        while let Some(due) = self.late_writes.iter().position(|(lands, _)| *lands <= self.now) {
            let (_, write) = self.late_writes.remove(due);
            let landed = self.apply(&write).is_ok();
            self.log(|| format!("lands late ({landed}): {write:?}"));
            if self.lag.is_none() {
                self.deliver();
            }
        }
    }

    fn read(&mut self, fault: Option<ApiFault>) -> Result<(), WriteFailure> {
        self.meet(fault)?;
        if !self.has(Mutant::CacheForLiveRead) {
            self.fold(self.api.version, self.api.view());
        }
        self.looked = self.api.view();
        Ok(())
    }

    fn write(&mut self, fault: Option<ApiFault>, write: &Effect) -> Event {
        self.writes += 1;
        if fault == Some(ApiFault::Overtaken) {
            self.api.change(|o: &mut Object| o.labels += 1);
        }
        if let Some(ApiFault::LandsLater(after)) = fault {
            self.late_writes.push((self.now + after, write.clone()));
        }
        if let Err(failure) = self.meet(fault.filter(|f| *f != ApiFault::AppliedLost)) {
            return Event::Wrote(Err(failure));
        }
        let written = self.apply(write);
        if fault == Some(ApiFault::AppliedLost) {
            return Event::Wrote(Err(other("the answer was lost")));
        }
        Event::Wrote(written.map(|view| {
            self.looked = Some(Arc::clone(&view));
            self.fold(self.api.version, Some(view));
        }))
    }

    fn meet(&mut self, fault: Option<ApiFault>) -> Result<(), WriteFailure> {
        let Some(fault) = fault else { return Ok(()) };
        match fault {
            ApiFault::Lost | ApiFault::AppliedLost | ApiFault::LandsLater(_) => {
                Err(other("the request was lost"))
            }
            ApiFault::Conflict => Err(WriteFailure::Conflict),
            ApiFault::Invalid => Err(invalid("out of the blue")),
            ApiFault::Forbidden => Err(WriteFailure::Forbidden { message: "scripted".to_owned() }),
            ApiFault::Throttled => {
                let retry_after = Some(Duration::from_secs(5));
                Err(WriteFailure::Other { message: "throttled".to_owned(), retry_after })
            }
            ApiFault::Slow => {
                self.advance(self.now + Duration::from_secs(30));
                Ok(())
            }
            ApiFault::Overtaken => Ok(()),
        }
    }
}
