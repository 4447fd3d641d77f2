//! What this process knows of an access that the API does not hold (R6), and where the current pass stands.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use cosi_api::value::AccountId;

use super::{AccessView, Call, Effect, Place, Request, SecretData, SecretView};
use crate::bucket::BucketView;
use crate::inflight::{Pace, Sending, Telling};
use crate::{Context, Retry, Time, Uid, WriteFailure};

pub(super) type Backend = crate::inflight::Backend<AccessView, Granted, Call>;

/// The in-flight queue's record of one access, and where the current pass stands.
///
/// A new one is empty; an empty one may be dropped.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AccessState {
    pub(super) backend: Backend,
    pub(super) pace: Pace,
    pub(super) telling: Telling,
    pub(super) secrets: Secrets,
    pub(super) pass: Pass,
}

/// A usable answer of a Grant, until it is recorded.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Granted {
    /// What was asked for. A status that somebody wiped may be filled in anew, for other buckets.
    pub(super) request: Request,
    pub(super) account: AccountId,
    /// What goes into each Secret.
    pub(super) data: BTreeMap<Arc<str>, SecretData>,
    /// The Secrets into which it was written.
    pub(super) written: BTreeSet<Arc<str>>,
}

/// What is known of the Secrets from one pass to the next.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Secrets {
    /// Backoff of those that could not be read or written.
    pub(super) retry: Option<Retry>,
    /// Those of a Ready access are looked at again then.
    pub(super) next_look: Option<Time>,
    /// A Grant was sent since they were written: it may have voided what is in them.
    pub(super) outdated: bool,
    /// They were made, or met, before: to read one first is cheaper than to create it in vain.
    pub(super) met: bool,
    /// Those whose creation had no certain outcome.
    pub(super) landing: BTreeMap<Arc<str>, Landing>,
}

/// A Secret that may still appear.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Landing {
    /// Until then.
    pub(super) until: Time,
    /// The Secret of that name that a later creation made.
    pub(super) other: Option<Uid>,
    /// More than one creation may still land.
    pub(super) several: bool,
}

/// Where the current pass stands.
#[allow(clippy::struct_excessive_bools, reason = "independent facts about a pass")]
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Pass {
    pub(super) awaiting: Awaiting,
    /// The view is as good as a live read, and younger than all that is known of Secrets (R4).
    pub(super) live: bool,
    /// A live read showed that the access is gone; a UID never comes back.
    pub(super) gone: bool,
    /// The read was begun on which depends what is still done without the lease.
    pub(super) will_looked: bool,
    /// A write had no certain outcome: nothing is decided on the view before it was read again (R5).
    pub(super) must_read: bool,
    /// The driver answered UNIMPLEMENTED to the by-name RPC in this pass.
    pub(super) by_name_missing: bool,
    /// The accessed Buckets, as they were read.
    pub(super) buckets: Option<Vec<Option<BucketView>>>,
    /// The Secrets, as far as they were looked at.
    pub(super) sights: BTreeMap<Arc<str>, Sight>,
}

/// What was seen of a Secret in this pass.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Sight {
    Missing,
    Found(SecretView),
    /// It could not be read or written; no more of it in this pass. A person is to know why, unless it passes by itself.
    Failed(Option<String>),
}

/// The effect whose result comes next.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum Awaiting {
    /// None: between passes.
    #[default]
    Nothing,
    /// A live read; what was known of the access may be old.
    Read,
    /// A live read of the accessed Buckets.
    Buckets,
    /// The write that puts our finalizer back on.
    Intent,
    /// The write that takes a false cleanup-finished off a live access.
    Reopening,
    /// The write that says that the clean-up is finished.
    Finishing,
    /// The write that says that the access is not usable.
    Closing,
    /// The write that records the account; all Secrets are written.
    Recording,
    /// The write that shows an error in the status.
    Reporting,
    /// Something that is done with a Secret.
    Secret(Arc<str>, Deed),
    /// A driver call. From now on something may be there.
    Call(Sending<Call>),
    /// A note to a person.
    Tell,
}

/// What is done with a Secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Deed {
    Look,
    /// Created, with credentials if there are any yet.
    Create,
    /// Credentials were written.
    Fill,
    Release,
    Delete,
}

impl AccessState {
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

    /// The access is done with: forget all about it but the fence and what is still to be told.
    pub(super) fn forget(&mut self) {
        let fence = self.pace.fence.take();
        let notes = std::mem::take(&mut self.telling.notes);
        *self = Self::default();
        self.pace.fence = fence;
        self.telling.notes = notes;
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

    /// A live read, as soon as the API server may be asked.
    pub(super) fn read(&mut self, place: &Place, ctx: &Context<'_>) -> Effect {
        match self.pace.api_gate(ctx) {
            Some(at) => Effect::Wait(at),
            None => self.expect(Awaiting::Read, Effect::Read(place.clone())),
        }
    }

    /// Nothing more to do for now. A fence that is still up is remembered until it falls.
    pub(super) fn finish(&mut self, ctx: &Context<'_>) -> Effect {
        if let Some(until) = self.pace.fence_gate(ctx) {
            return Effect::Wait(until);
        }
        self.pace.fence = None;
        Effect::Done
    }

    /// A Secret could not be read or written.
    pub(super) fn secret_failed(
        &mut self,
        name: Arc<str>,
        why: Option<String>,
        failure: Option<&WriteFailure>,
        ctx: &Context<'_>,
    ) {
        self.pass.sights.insert(name, Sight::Failed(why));
        let asked = failure.and_then(WriteFailure::asked);
        self.secrets.retry = Some(Retry::after_failure(self.secrets.retry, ctx).not_before(asked, ctx));
    }
}
