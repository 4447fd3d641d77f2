//! The seams between the machine and its shell where seeded bugs sit.

use std::sync::Arc;

use super::World;
use crate::bucket::decide::write_finalizers;
use crate::bucket::state::{Awaiting, Backend, Sent};
use crate::bucket::{BucketView, Effect, Event};
use crate::testing::{Mutant, soften};
use crate::{Code, Failure, Fence, Rpc};

impl World {
    /// The object as a seeded bug shows it.
    pub(super) fn distorted(&self, view: Arc<BucketView>) -> Arc<BucketView> {
        let vanished = view.bucket_id.as_deref().is_some_and(|id| !self.backend.things.contains_key(id));
        let owner = self.lane().state.backend.owner.as_ref();
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
    pub(super) fn corrupted(&mut self, event: Event) -> Event {
        let failed_write = matches!(event, Event::Wrote(Err(_)));
        match self.mutant {
            Some(Mutant::InternalIsRefused) => softened(event, |f| f.code() == Some(Code::Internal)),
            Some(Mutant::TimeoutIsRefused) => softened(event, |f| matches!(f, Failure::NoAnswer { .. })),
            Some(Mutant::ForgetOnFailedWrite)
                if failed_write && self.lane().state.backend.answer.is_some() =>
            {
                self.lane_mut().state.backend = Backend::default();
                event
            }
            Some(Mutant::LetGoThoughUnknown) => {
                self.lane_mut().state.backend.unknown = false;
                event
            }
            Some(Mutant::ForgetTheGone) if self.lane().index.is_none() => {
                self.lane_mut().state.backend = Backend::default();
                self.lane_mut().state.backend.owner = self.looked.clone();
                event
            }
            Some(Mutant::NothingWithoutId) if self.lane().state.backend.ids.is_empty() => {
                self.lane_mut().state.backend.sent = Sent::Nothing;
                event
            }
            Some(Mutant::RefusedIsForgotten)
                if self.make_refused && self.lane().state.backend.ids.is_empty() =>
            {
                self.lane_mut().state.backend.sent = Sent::Nothing;
                event
            }
            _ => event,
        }
    }

    /// The next effect, or what a seeded bug makes of it.
    pub(super) fn diverted(&mut self, effect: Effect) -> Effect {
        let except = match self.mutant {
            Some(Mutant::NoGraceBeforeRepeat) => Some(Rpc::CreateBucket),
            Some(Mutant::NoGraceBeforeDelete) => Some(Rpc::DeleteBucketByName),
            _ => None,
        };
        if except.is_some() {
            let pace = &mut self.lane_mut().state.pace;
            pace.fence = pace.fence.map(|fence| Fence { except, ..fence });
        }
        if self.has(Mutant::ReleaseOnFailedCreate)
            && self.make_failed
            && let (Effect::Call(_), Some(view)) = (&effect, self.present().filter(|v| v.deleting))
        {
            self.lane_mut().state.pass.awaiting = Awaiting::Removal;
            return write_finalizers(&view, crate::finalizers::without_ours(&view.other_finalizers));
        }
        effect
    }
}

fn softened(event: Event, which: impl FnOnce(&Failure) -> bool) -> Event {
    match event {
        Event::Called(Err(failure)) => Event::Called(Err(soften(failure, which))),
        event => event,
    }
}
