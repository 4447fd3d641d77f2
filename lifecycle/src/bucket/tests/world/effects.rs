//! The one place that runs effects, and the seams where seeded bugs sit.

use std::sync::Arc;
use std::time::Duration;

use super::api::{Object, Written, invalid, other};
use super::backend::{UNSTORABLE, Work, bucket, refused};
use super::{ApiFault, CallFault, Crash, Fault, GRACE, Mutant, TIMEOUT, World};
use crate::bucket::decide::write_finalizers;
use crate::bucket::state::{Awaiting, Backend, Sent};
use crate::bucket::{BucketView, Call, CallOk, Claim, Effect, Event};
use crate::{Code, Failure, Fence, Outcome, Rpc, Settings, WriteFailure};
use cosi_api::names::FINALIZER;

impl World {
    pub(super) fn execute(&mut self, effect: &Effect, fault: Option<Fault>) -> Event {
        self.advance(self.now + Duration::from_millis(1));
        let api = if let Some(Fault::Api(fault)) = fault { Some(fault) } else { None };
        match effect {
            Effect::Read => Event::Read(self.read(api)),
            Effect::ReadClaim(_) => Event::Claim(if api.is_some() { Claim::Unreadable } else { self.api.claim }),
            Effect::WriteFinalizers { uid, resource_version, finalizers } => {
                let loose = self.has(Mutant::UnconditionedFinalizers)
                    || (self.has(Mutant::StubbornRemoval) && !finalizers.iter().any(|f| f == FINALIZER));
                let version = Some(resource_version.as_ref()).filter(|_| !loose);
                self.write(api, |world| world.api.write_finalizers(uid, version, finalizers))
            }
            Effect::WriteStatus { resource_version, status } => {
                let loose = self.has(Mutant::UnconditionedStatus);
                let version = Some(resource_version.as_ref()).filter(|_| !loose);
                self.check_record(status);
                self.write(api, |world| world.api.write_status(version, status))
            }
            Effect::Call(call) => Event::Called(self.call(call, fault)),
            Effect::Tell(note) => {
                self.notes.push(note.clone());
                Event::Told
            }
            Effect::Wait(_) | Effect::Done => unreachable!("not an effect to be run"),
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

    fn write(&mut self, fault: Option<ApiFault>, write: impl FnOnce(&mut Self) -> Written) -> Event {
        self.writes += 1;
        if fault == Some(ApiFault::Overtaken) {
            self.api.change(|o: &mut Object| o.labels += 1);
        }
        if let Err(failure) = self.meet(fault.filter(|f| *f != ApiFault::AppliedLost)) {
            return Event::Wrote(Err(failure));
        }
        let foreign = self.api.object.as_ref().map(|o| o.view.other_finalizers.clone());
        let written = write(self);
        self.check_foreign_finalizers(foreign);
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
            ApiFault::Lost | ApiFault::AppliedLost => Err(other("the request was lost")),
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

    fn call(&mut self, call: &Call, fault: Option<Fault>) -> Result<CallOk, Failure> {
        let fault = match fault {
            Some(Fault::Call(CallFault::NotSent)) => {
                return Err(Failure::NotSent { message: "no connection".to_owned() });
            }
            Some(Fault::Call(fault)) => Some(fault),
            Some(Fault::Crash(Crash::During(after))) => Some(CallFault::NoAnswerLater(after)),
            _ => None,
        };
        self.rpcs += 1;
        let by = self.state.backend.owner.as_ref().map_or_else(|| "nobody".into(), |o| Arc::clone(&o.uid));
        self.check_call(call, &by);
        let crashing = matches!(self.plan.iter().find(|(at, _)| *at + 1 == self.effects.len()), Some((_, Fault::Crash(_))));
        if let Some(CallFault::Code(code)) = fault {
            return self.learnt(call, refused(code));
        }
        let (answer, work) = self.backend.take(call, &by);
        let answer = match fault {
            None | Some(CallFault::Code(_) | CallFault::NotSent) => {
                self.backend.land(work);
                answer
            }
            Some(CallFault::Done(code)) => {
                self.backend.land(work);
                refused(code)
            }
            Some(CallFault::Half(code)) => {
                if let Work::Make { id, by, .. } = work {
                    self.backend.land(Work::Make { id, by, half: true });
                }
                refused(code)
            }
            Some(CallFault::Later(code, after)) => {
                self.backend.start(call.rpc(), work, self.now + after);
                refused(code)
            }
            Some(CallFault::NoAnswer) => self.no_answer(),
            Some(CallFault::NoAnswerDone) => {
                self.backend.land(work);
                self.no_answer()
            }
            Some(CallFault::NoAnswerLater(after)) => {
                let lands = if crashing { self.now + after } else { self.now + TIMEOUT + after };
                self.backend.start(call.rpc(), work, lands);
                if crashing { answer } else { self.no_answer() }
            }
            Some(odd @ (CallFault::NoId | CallFault::BadId | CallFault::NoInfo)) => {
                self.backend.land(work);
                spoil(odd, answer)
            }
        };
        self.learnt(call, answer)
    }

    fn no_answer(&mut self) -> Result<CallOk, Failure> {
        self.advance(self.now + TIMEOUT);
        Err(Failure::NoAnswer { code: Code::DeadlineExceeded, message: "deadline".to_owned() })
    }

    /// What the shell remembers of an answer, and the oracles.
    fn learnt(&mut self, call: &Call, answer: Result<CallOk, Failure>) -> Result<CallOk, Failure> {
        if let Call::Create(_) = call {
            let outcome = answer.as_ref().err().map(|f| f.outcome(call.rpc()));
            self.create_failed = outcome.is_some();
            self.create_refused = outcome == Some(Outcome::Refused);
            self.saw_unknown |= matches!(outcome, Some(Outcome::Unknown | Outcome::Busy));
        }
        match (call, &answer) {
            (Call::DeleteByName(_), Err(Failure::Answered { code: Code::Unimplemented, .. })) => {
                self.by_name_missing = true;
            }
            (Call::Delete { .. } | Call::DeleteByName(_), Ok(_)) => {
                let owner = self.state.backend.owner.as_ref().map(|o| Arc::clone(&o.uid));
                self.acknowledged.extend(owner);
            }
            _ => {}
        }
        answer
    }

    pub(super) fn believed_settings(&self) -> Settings {
        let grace = if self.has(Mutant::NoGrace) { Duration::ZERO } else { GRACE };
        Settings { late_landing_grace: grace, ..self.settings }
    }

    /// The object as a seeded bug shows it.
    pub(super) fn distort(&self, view: Arc<BucketView>) -> Arc<BucketView> {
        let vanished = view.bucket_id.as_deref().is_some_and(|id| !self.backend.buckets.contains_key(id));
        let owner = self.state.backend.owner.as_ref();
        match self.mutant {
            Some(Mutant::NoIntent) if !view.deleting => {
                Arc::new(BucketView { finalizer: true, ..(*view).clone() })
            }
            Some(Mutant::RecreateVanished) if vanished => {
                Arc::new(BucketView { ready: None, bucket_id: None, ..(*view).clone() })
            }
            Some(Mutant::DisinheritTheHeir) if owner.is_some_and(|o| o.uid != view.uid) => {
                Arc::new(BucketView { finalizer: false, ..(*view).clone() })
            }
            _ => view,
        }
    }

    /// The event, and the state before it, as a seeded bug has them.
    pub(super) fn corrupt(&mut self, event: Event) -> Event {
        let failed_write = matches!(event, Event::Wrote(Err(_)));
        match self.mutant {
            Some(Mutant::InternalIsRefused) => soften(event, |f| f.code() == Some(Code::Internal)),
            Some(Mutant::TimeoutIsRefused) => soften(event, |f| matches!(f, Failure::NoAnswer { .. })),
            Some(Mutant::ForgetOnFailedWrite) if failed_write && self.state.backend.answer.is_some() => {
                self.state.backend = Backend::default();
                event
            }
            Some(Mutant::LetGoThoughUnknown) => {
                self.state.backend.unknown = false;
                event
            }
            Some(Mutant::ForgetTheGone) if self.index.is_none() => {
                self.state.backend = Backend::default();
                self.state.backend.owner = self.looked.clone();
                event
            }
            Some(Mutant::NothingWithoutId) if self.state.backend.ids.is_empty() => {
                self.state.backend.sent = Sent::Nothing;
                event
            }
            Some(Mutant::RefusedIsForgotten) if self.create_refused && self.state.backend.ids.is_empty() => {
                self.state.backend.sent = Sent::Nothing;
                event
            }
            _ => event,
        }
    }

    /// The next effect, or what a seeded bug makes of it.
    pub(super) fn divert(&mut self, effect: Effect) -> Effect {
        let pace = &mut self.state.pace;
        let except = match self.mutant {
            Some(Mutant::NoGraceBeforeRepeat) => Some(Rpc::CreateBucket),
            Some(Mutant::NoGraceBeforeDelete) => Some(Rpc::DeleteBucketByName),
            _ => None,
        };
        if except.is_some() {
            pace.fence = pace.fence.map(|fence| Fence { except, ..fence });
        }
        if self.has(Mutant::ReleaseOnFailedCreate)
            && self.create_failed
            && let (Effect::Call(_), Some(view)) = (&effect, self.present().filter(|v| v.deleting))
        {
            self.state.pass.awaiting = Awaiting::Removal;
            return write_finalizers(&view, view.finalizers_without_ours());
        }
        effect
    }
}

fn soften(event: Event, which: impl FnOnce(&Failure) -> bool) -> Event {
    match event {
        Event::Called(Err(failure)) if which(&failure) => {
            let message = failure.message().to_owned();
            Event::Called(Err(Failure::Answered { code: Code::FailedPrecondition, message }))
        }
        event => event,
    }
}

fn spoil(odd: CallFault, answer: Result<CallOk, Failure>) -> Result<CallOk, Failure> {
    match (odd, answer?) {
        (CallFault::NoId, CallOk::Bucket { .. }) => bucket(""),
        (CallFault::BadId, CallOk::Bucket { id, .. }) => bucket(&format!("{id}{UNSTORABLE}")),
        (_, CallOk::Bucket { id, .. }) => Ok(CallOk::Bucket {
            id,
            protocols: Vec::new(),
            info: std::collections::BTreeMap::new(),
        }),
        (_, ok) => Ok(ok),
    }
}
