//! The seams between the machine and its shell where seeded bugs sit.

use std::sync::Arc;
use std::time::Duration;

use super::{GRACE, Mutant, World};
use crate::bucket::decide::write_finalizers;
use crate::bucket::state::{Awaiting, Backend, Sent};
use crate::bucket::{BucketView, Effect, Event};
use crate::{Code, Failure, Fence, Rpc, Settings};

impl World {
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
