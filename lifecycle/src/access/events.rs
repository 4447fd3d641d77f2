//! The step: one event in, one effect out.

use std::sync::Arc;

use super::decide::View;
use super::state::Awaiting;
use super::{AccessState, AccessView, Effect, Event};
use crate::bucket::BucketView;
use crate::inflight::Sent;
use crate::{Context, Impossible, Machine, NoteReason, Problem, Request as _, Retry, Wake, WriteFailure};

impl Machine for AccessState {
    type View = AccessView;
    type Event = Event;
    type Effect = Effect;

    fn step(&mut self, view: View<'_>, event: Event, ctx: &Context<'_>) -> Result<Effect, Impossible> {
        let awaiting = std::mem::take(&mut self.pass.awaiting);
        match (awaiting, event) {
            (Awaiting::Nothing, Event::Start(wake)) => self.start(wake, view, ctx),
            (Awaiting::Read, Event::Read(result)) => self.was_read(result, view, ctx),
            (Awaiting::Buckets, Event::Buckets(buckets)) => self.saw_buckets(buckets, ctx),
            (Awaiting::Secret(name, deed), Event::Secret(result)) => self.secret(name, deed, result, ctx),
            (Awaiting::Tell, Event::Told) => self.pass.live = false,
            (Awaiting::Call(sent), Event::Called(result)) => {
                self.pass.live = false;
                self.pass.will_looked = false;
                if let Some(about) = self.backend.owner.clone() {
                    self.called(&sent, result, &about, ctx);
                }
            }
            (
                write @ (Awaiting::Intent
                | Awaiting::Reopening
                | Awaiting::Finishing
                | Awaiting::Closing
                | Awaiting::Recording
                | Awaiting::Reporting),
                Event::Wrote(result),
            ) => match result {
                Ok(()) => self.wrote(&write, view, ctx),
                Err(failure) => self.not_written(&write, failure, view, ctx),
            },
            (awaiting, event) => {
                let impossible = Impossible::new(&event, &awaiting);
                self.pass.awaiting = awaiting;
                return Err(impossible);
            }
        }
        let effect = self.decide(view, ctx);
        if effect.ends_pass().is_some() {
            // What was seen is old when the next pass begins.
            self.pass.sights.clear();
            self.pass.buckets = None;
        }
        Ok(effect)
    }

    fn is_empty(&self) -> bool {
        let Self { backend, pace, telling, secrets, pass } = self;
        !backend.may_be_there()
            && backend.sent == Sent::Unknown
            && pace.is_empty()
            && telling.is_empty()
            && secrets.landing.is_empty()
            && pass.awaiting == Awaiting::Nothing
            && !pass.must_read
    }

    fn follows_an_object(&self) -> bool {
        self.backend.owner.is_some()
    }
}

impl AccessState {
    fn start(&mut self, wake: Wake, view: View<'_>, ctx: &Context<'_>) {
        self.pass.live = false;
        self.pass.gone = false;
        self.pass.will_looked = false;
        self.pass.by_name_missing = false;
        // What woke us may be our own write, or something that the last pass has seen already.
        let changed =
            wake.changed && AccessView::matters(self.backend.owner.as_deref(), view.map(Arc::as_ref));
        let changed = changed || wake.prerequisite;
        self.pace.begin(changed, wake.connected, ctx);
        // A new driver connection is no occasion to look at every Secret of every access.
        if wake.changed || wake.prerequisite {
            self.secrets.next_look = None;
        }
        if changed {
            self.secrets.retry = self.secrets.retry.map(|retry| Retry { at: ctx.now, ..retry });
        }
    }

    fn was_read(&mut self, result: Result<(), WriteFailure>, view: View<'_>, ctx: &Context<'_>) {
        match result {
            Ok(()) => {
                self.pass.live = true;
                self.pass.gone = view.is_none();
                self.pass.must_read = false;
            }
            Err(failure) => {
                self.pass.must_read = true;
                self.pace.back_off_api(failure.asked(), ctx);
            }
        }
    }

    fn saw_buckets(&mut self, buckets: Vec<Result<Option<BucketView>, WriteFailure>>, ctx: &Context<'_>) {
        match buckets.into_iter().collect::<Result<Vec<_>, _>>() {
            Ok(buckets) => self.pass.buckets = Some(buckets),
            Err(failure) => self.pace.back_off_api(failure.asked(), ctx),
        }
    }

    /// A write succeeded; what it returned is the view, and as good as a live read.
    fn wrote(&mut self, write: &Awaiting, view: View<'_>, ctx: &Context<'_>) {
        self.pass.live = true;
        self.pace.wrote();
        match write {
            // It was Ready until now, so whatever a predecessor sent had ended.
            Awaiting::Closing
                if self.backend.sent == Sent::Unknown && view.is_some_and(|v| v.account_id.is_some()) =>
            {
                self.backend.sent = Sent::Nothing;
            }
            Awaiting::Finishing => {
                self.forget();
            }
            Awaiting::Reporting => self.telling.report.settled(ctx.now),
            // The view shows the account, and `decide` finds the access Ready. Where it does not (a CRD that prunes our
            // fields), the next try must not come at once.
            Awaiting::Recording => {
                self.pace.record = Some(Retry::after_failure(self.pace.record, ctx));
                self.telling.told.clear();
            }
            _ => {}
        }
    }

    fn not_written(&mut self, write: &Awaiting, failure: WriteFailure, view: View<'_>, ctx: &Context<'_>) {
        match (write, failure) {
            (_, WriteFailure::Conflict) => {
                self.pass.must_read = true;
                self.pace.conflicted(ctx);
            }
            (_, WriteFailure::NotFound) => self.pass.must_read = true,
            (Awaiting::Reporting, WriteFailure::Invalid { .. }) => self.telling.report.settled(ctx.now),
            (Awaiting::Recording, WriteFailure::Invalid { message }) => {
                self.pace.record = Some(Retry::after_refusal(self.pace.record, ctx));
                if let Some(about) = view {
                    self.telling.raise(about, Problem::recording(&message), NoteReason::Refused);
                }
            }
            // A finalizer refused as invalid met an access that is deleting by now; read it.
            (_, failure) => {
                self.pass.must_read = true;
                self.pace.back_off_api(failure.asked(), ctx);
            }
        }
    }
}
