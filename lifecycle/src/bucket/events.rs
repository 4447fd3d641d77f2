//! The step: one event in, one effect out.

use std::sync::Arc;

use super::decide::View;
use super::state::{Awaiting, BucketState, Sent};
use super::{BucketView, Claim, Effect, Event};
use crate::{Context, Impossible, Machine, NoteReason, Problem, Retry, Wake, WriteFailure};

impl Machine for BucketState {
    type View = BucketView;
    type Event = Event;
    type Effect = Effect;

    fn step(&mut self, view: View<'_>, event: Event, ctx: &Context<'_>) -> Result<Effect, Impossible> {
        let awaiting = std::mem::take(&mut self.pass.awaiting);
        match (awaiting, event) {
            (Awaiting::Nothing, Event::Start(wake)) => self.start(wake, view, ctx),
            (Awaiting::Read, Event::Read(result)) => self.was_read(result, view, ctx),
            (Awaiting::Claim, Event::Claim(claim)) => self.saw_claim(claim, ctx),
            (Awaiting::Tell, Event::Told) => self.pass.live = false,
            (Awaiting::Call(sent), Event::Called(result)) => {
                self.pass.live = false;
                self.pass.will_looked = false;
                if let Some(about) = self.subject(view) {
                    self.called(&sent, result, &about, ctx);
                }
            }
            (
                write @ (Awaiting::Intent | Awaiting::Removal | Awaiting::Recording | Awaiting::Reporting),
                Event::Wrote(result),
            ) => match result {
                Ok(()) => self.wrote(&write, ctx),
                Err(failure) => self.not_written(&write, failure, view, ctx),
            },
            (awaiting, event) => {
                let impossible = Impossible::new(&event, &awaiting);
                self.pass.awaiting = awaiting;
                return Err(impossible);
            }
        }
        Ok(self.decide(view, ctx))
    }

    fn is_empty(&self) -> bool {
        let Self { backend, pace, telling, claim, pass } = self;
        !backend.may_be_there()
            && backend.sent == Sent::Unknown
            && pace.is_empty()
            && claim.is_none()
            && telling.is_empty()
            && pass.awaiting == Awaiting::Nothing
            && !pass.must_read
    }

    fn follows_an_object(&self) -> bool {
        self.backend.owner.is_some()
    }
}

impl BucketState {
    /// The object that a call was made for: as it is now if it is still there, else as it was.
    fn subject(&self, view: View<'_>) -> Option<Arc<BucketView>> {
        let owner = self.backend.owner.as_ref()?;
        Some(view.filter(|v| v.uid == owner.uid).unwrap_or(owner).clone())
    }

    fn start(&mut self, wake: Wake, view: View<'_>, ctx: &Context<'_>) {
        self.pass.live = false;
        self.pass.gone = false;
        self.pass.will_looked = false;
        self.pass.by_name_missing = false;
        // What woke us may be our own write, or something that the last pass has seen already.
        let changed =
            wake.changed && BucketView::matters(self.backend.owner.as_deref(), view.map(Arc::as_ref));
        self.pace.begin(changed, wake.connected, ctx);
        if changed {
            self.claim = None;
        }
    }

    fn was_read(&mut self, result: Result<(), WriteFailure>, view: View<'_>, ctx: &Context<'_>) {
        self.pass.gone = result.is_ok() && view.is_none();
        match result {
            Ok(()) => {
                self.pass.live = true;
                self.pass.must_read = false;
            }
            Err(failure) => {
                self.pass.must_read = true;
                self.pace.back_off_api(failure.asked(), ctx);
            }
        }
    }

    fn saw_claim(&mut self, claim: Claim, ctx: &Context<'_>) {
        match claim {
            Claim::Leaving => {
                self.pass.claim_leaving = true;
                self.claim = None;
            }
            // No event need come when the claim goes, so it is looked at again.
            Claim::Live | Claim::Unreadable => {
                self.claim = Some(Retry::after_failure(self.claim, ctx));
            }
        }
    }

    /// A write succeeded; what it returned is the view, and as good as a live read.
    fn wrote(&mut self, write: &Awaiting, ctx: &Context<'_>) {
        self.pass.live = true;
        self.pace.wrote();
        match write {
            Awaiting::Intent if self.backend.sent == Sent::Unknown => self.backend.sent = Sent::Nothing,
            Awaiting::Removal => {
                self.forget();
                // Nothing is decided any more on an object that we have let go, should it still be the view.
                self.pass.live = false;
            }
            Awaiting::Reporting => self.telling.report.settled(ctx.now),
            // The view shows the id, and `decide` finds the Bucket Ready. Where it does not (a CRD that prunes our fields),
            // the next try must not come at once.
            Awaiting::Recording => self.pace.record = Some(Retry::after_failure(self.pace.record, ctx)),
            _ => {}
        }
    }

    fn not_written(&mut self, write: &Awaiting, failure: WriteFailure, view: View<'_>, ctx: &Context<'_>) {
        match (write, failure) {
            (_, WriteFailure::Conflict) => self.conflicted(ctx),
            (_, WriteFailure::NotFound) => self.pass.must_read = true,
            (Awaiting::Reporting, WriteFailure::Invalid { .. }) => self.telling.report.settled(ctx.now),
            (Awaiting::Recording, WriteFailure::Invalid { message }) => {
                self.pace.record = Some(Retry::after_refusal(self.pace.record, ctx));
                if let Some(about) = view {
                    self.telling.raise(about, Problem::recording(&message), NoteReason::Refused);
                }
            }
            // An intent refused as invalid met an object that is deleting by now; read it.
            (_, failure) => {
                self.pass.must_read = true;
                self.pace.back_off_api(failure.asked(), ctx);
            }
        }
    }
}
