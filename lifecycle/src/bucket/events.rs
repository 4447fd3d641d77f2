//! The step: one event in, one effect out.

use std::fmt;
use std::sync::Arc;

use super::decide::View;
use super::state::{Awaiting, BucketState, Sent};
use super::{BucketView, Claim, Effect, Event, NoteReason};
use crate::{Context, Problem, Retry, WriteFailure};

/// An event that cannot follow the last effect: a defect of the shell. The state is as before.
#[derive(Debug, thiserror::Error)]
#[error("event {event} cannot follow {awaiting}")]
pub struct Impossible {
    event: String,
    awaiting: String,
}

impl BucketState {
    /// Folds in what happened and says what to do next.
    ///
    /// `view` is the object as last read, with own writes folded in, or `None` if there is none that is ours.
    ///
    /// # Errors
    ///
    /// [`Impossible`] if the event does not answer the last effect; nothing has changed then.
    pub fn step(&mut self, view: View<'_>, event: Event, ctx: &Context<'_>) -> Result<Effect, Impossible> {
        let awaiting = std::mem::take(&mut self.pass.awaiting);
        match (awaiting, event) {
            (Awaiting::Nothing, Event::Start { changed, connected }) => {
                // What woke us may be our own write, or something that the last pass has seen already.
                let changed =
                    changed && BucketView::matters(self.backend.owner.as_deref(), view.map(Arc::as_ref));
                self.start(changed, connected, ctx);
            }
            (Awaiting::Read, Event::Read(result)) => self.was_read(result, ctx),
            (Awaiting::Claim, Event::Claim(claim)) => self.saw_claim(claim, ctx),
            (Awaiting::Tell, Event::Told) => self.pass.live = false,
            (Awaiting::Call { call, before, purpose }, Event::Called(result)) => {
                self.pass.live = false;
                if let Some(about) = self.subject(view) {
                    self.called((call, before, purpose), result, &about, ctx);
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
                let impossible = Impossible { event: name(&event), awaiting: name(&awaiting) };
                self.pass.awaiting = awaiting;
                return Err(impossible);
            }
        }
        Ok(self.decide(view, ctx))
    }

    /// The object that a call was made for: as it is now if it is still there, else as it was.
    fn subject(&self, view: View<'_>) -> Option<Arc<BucketView>> {
        let owner = self.backend.owner.as_ref()?;
        Some(view.filter(|v| v.uid == owner.uid).unwrap_or(owner).clone())
    }

    fn start(&mut self, changed: bool, connected: bool, ctx: &Context<'_>) {
        self.pass.live = false;
        self.pass.by_name_missing = false;
        let call = self.pace.call.as_mut();
        if let Some((_, retry)) = call.filter(|_| changed || (connected && self.pace.until_connected)) {
            retry.at = ctx.now;
        }
        if changed {
            self.pace.record = None;
            self.pace.claim = None;
        }
    }

    fn was_read(&mut self, result: Result<(), WriteFailure>, ctx: &Context<'_>) {
        match result {
            Ok(()) => {
                self.pass.live = true;
                self.pass.must_read = false;
            }
            Err(failure) => {
                self.pass.must_read = true;
                self.back_off_api(asked(&failure), ctx);
            }
        }
    }

    fn saw_claim(&mut self, claim: Claim, ctx: &Context<'_>) {
        match claim {
            Claim::Leaving => {
                self.pass.claim_leaving = true;
                self.pace.claim = None;
            }
            // No event need come when the claim goes, so it is looked at again.
            Claim::Live | Claim::Unreadable => {
                self.pace.claim = Some(Retry::after_failure(self.pace.claim, ctx));
            }
        }
    }

    /// A write succeeded; what it returned is the view, and as good as a live read.
    fn wrote(&mut self, write: &Awaiting, ctx: &Context<'_>) {
        self.pass.live = true;
        self.pace.api = None;
        self.pace.conflicts = 0;
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
                    self.raise(about, Problem::recording(&message), NoteReason::Refused);
                }
            }
            // An intent refused as invalid met an object that is deleting by now; read it.
            (_, failure) => {
                self.pass.must_read = true;
                self.back_off_api(asked(&failure), ctx);
            }
        }
    }
}

/// How long the API server asked to be left alone.
const fn asked(failure: &WriteFailure) -> Option<std::time::Duration> {
    match failure {
        WriteFailure::Other { retry_after, .. } => *retry_after,
        _ => None,
    }
}

/// The variant's name: an event's content may be long, and is not to be printed.
fn name(value: &impl fmt::Debug) -> String {
    let text = format!("{value:?}");
    text.split(['(', ' ', '{']).next().unwrap_or_default().to_owned()
}
