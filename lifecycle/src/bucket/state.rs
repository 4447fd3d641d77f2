//! What this process knows of a name that the API does not hold (R6).

use super::{BucketAnswer, BucketView, Call, Effect};
pub(super) use crate::inflight::{Attempt, Purpose, Sent};
use crate::inflight::{Pace, Sending, Telling};
use crate::{Context, Retry};

/// The in-flight queue's record of one name, and where the current pass stands.
///
/// A new one is empty; an empty one may be dropped.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BucketState {
    pub(super) backend: Backend,
    pub(super) pace: Pace,
    pub(super) telling: Telling,
    /// Backoff of looking at the claim.
    pub(super) claim: Option<Retry>,
    pub(super) pass: Pass,
}

pub(super) type Backend = crate::inflight::Backend<BucketView, BucketAnswer, Call>;

/// Where the current pass stands.
#[allow(clippy::struct_excessive_bools, reason = "independent facts about a pass")]
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Pass {
    pub(super) awaiting: Awaiting,
    /// The view is as good as a live read (R4).
    pub(super) live: bool,
    /// A live read showed that there is no such object of ours, and nothing was begun since.
    pub(super) gone: bool,
    /// The read was begun on which depends what is still done without the lease.
    pub(super) will_looked: bool,
    /// A write had no certain outcome: nothing is decided on the view before it was read again (R5).
    pub(super) must_read: bool,
    /// The driver answered UNIMPLEMENTED to the by-name RPC in this pass.
    pub(super) by_name_missing: bool,
    /// The claim is leaving. That never changes back.
    pub(super) claim_leaving: bool,
}

/// The effect whose result comes next.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum Awaiting {
    /// None: between passes.
    #[default]
    Nothing,
    /// A live read; what was known of the object may be old.
    Read,
    /// A live read of the claim.
    Claim,
    /// The write that puts our finalizer on the object; if it succeeds, the object existed and was not deleting.
    Intent,
    /// The write that takes our finalizer off; the backend is clean, or is to stay.
    Removal,
    /// The write that records the answer; the bucket is there.
    Recording,
    /// The write that shows an error in the status.
    Reporting,
    /// A driver call. From now on something may be there.
    Call(Sending<Call>),
    /// A note to a person.
    Tell,
}

impl BucketState {
    /// Whether something may be at the backend that is not recorded in the API.
    #[must_use]
    pub fn may_be_there(&self) -> bool {
        self.backend.may_be_there()
    }

    /// Whether a driver call is running right now.
    #[must_use]
    pub const fn is_calling(&self) -> bool {
        matches!(self.pass.awaiting, Awaiting::Call(_))
    }

    /// The owner is done with: forget all about it but the fence, which is about the name.
    pub(super) fn forget(&mut self) {
        let fence = self.pace.fence.take();
        let notes = std::mem::take(&mut self.telling.notes);
        let live = self.pass.live;
        *self = Self::default();
        self.pace.fence = fence;
        self.telling.notes = notes;
        self.pass.live = live;
    }

    /// A write met a newer object.
    pub(super) fn conflicted(&mut self, ctx: &Context<'_>) {
        self.pass.must_read = true;
        self.pace.conflicted(ctx);
    }

    /// The next note to a person, if one is queued.
    pub(super) fn tell_next(&mut self) -> Option<Effect> {
        let note = self.telling.notes.pop_front()?;
        Some(self.expect(Awaiting::Tell, Effect::Tell(note)))
    }

    /// Sets what the next event must answer, and returns the effect that asks for it.
    pub(super) fn expect(&mut self, awaiting: Awaiting, effect: Effect) -> Effect {
        self.pass.awaiting = awaiting;
        effect
    }

    /// Nothing more to do for now. A fence that is still up is remembered until it falls.
    pub(super) fn finish(&mut self, ctx: &Context<'_>) -> Effect {
        if let Some(until) = self.pace.fence_gate(ctx) {
            return Effect::Wait(until);
        }
        self.pace.fence = None;
        Effect::Done
    }
}
