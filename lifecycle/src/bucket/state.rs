//! What this process knows of a name that the API does not hold (R6).

use std::collections::VecDeque;
use std::sync::Arc;

use super::{BucketAnswer, BucketView, Call, Effect, Note, NoteReason};
use crate::{Context, Fence, Report, Retry, Rpc, Time};

/// The in-flight queue's record of one name, and where the current pass stands.
///
/// A new one is empty; an empty one may be dropped.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BucketState {
    pub(super) backend: Backend,
    pub(super) pace: Pace,
    pub(super) telling: Telling,
    pub(super) pass: Pass,
}

/// What may be at the backend without being recorded in the API.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Backend {
    /// The object that the rest is about, as last seen. Kept though the object may be gone: an undo needs nothing else.
    pub(super) owner: Option<Arc<BucketView>>,
    pub(super) sent: Sent,
    /// A usable answer that is not in the status yet. It is recorded again and again, the driver not asked again (R7).
    pub(super) answer: Option<BucketAnswer>,
    /// Every id that an own Create of this owner was answered with, usable or not; deletion goes by each of them.
    pub(super) ids: Vec<Box<str>>,
    /// Ids whose deletion the driver acknowledged.
    pub(super) deleted: Vec<Box<str>>,
    /// This process itself got an unknown outcome of a Create, so a refused replay proves nothing (R10 e).
    pub(super) unknown: bool,
    /// A delete that the driver answered with NOT_FOUND once.
    pub(super) not_found: Option<Call>,
    /// The backend is clean: the driver said so.
    pub(super) gone: bool,
    /// Why the finalizer may go though the backend could not be cleaned (R10 e).
    pub(super) hopeless: Option<String>,
}

/// Whether a Create was sent for the owner.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Sent {
    /// Not known to this process: an intent found on the object is somebody else's.
    #[default]
    Unknown,
    /// The intent is our own and nothing was sent since.
    Nothing,
    /// Something may be at the backend.
    Maybe,
}

/// What must not be done before when.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Pace {
    pub(super) fence: Option<Fence>,
    /// Backoff of the driver call that failed last.
    pub(super) call: Option<(Attempt, Retry)>,
    /// The call's backoff ends with a new driver connection, too.
    pub(super) until_connected: bool,
    /// Backoff of requests to the API server.
    pub(super) api: Option<Retry>,
    /// Backoff of recording an answer that the API server refused.
    pub(super) record: Option<Retry>,
    /// Backoff of looking at the claim.
    pub(super) claim: Option<Retry>,
    /// Conflicts in a row. A few are normal under foreign writes and cost no wait.
    pub(super) conflicts: u32,
}

/// What a person was told and is still to be told.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Telling {
    pub(super) report: Report,
    pub(super) notes: VecDeque<Note>,
    pub(super) told: Vec<NoteReason>,
}

/// Where the current pass stands.
#[allow(clippy::struct_excessive_bools, reason = "independent facts about a pass")]
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Pass {
    pub(super) awaiting: Awaiting,
    /// The view is as good as a live read (R4).
    pub(super) live: bool,
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
    Call {
        call: Call,
        /// What was known before, should it turn out that the call never left.
        before: Sent,
        /// What the call is for.
        purpose: Purpose,
    },
    /// A note to a person.
    Tell,
}

/// What a call is for. A Create can be either.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// To make the bucket, or find it.
    Provide,
    /// To take it away, or to learn the id to take it away by.
    Undo,
}

/// What a backoff is about. A Create that is to provide a bucket and one that is to tell its id for deletion are two
/// attempts: the backoff of the one does not hold up the other (R11).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Attempt {
    pub(super) rpc: Rpc,
    pub(super) purpose: Purpose,
}

/// After so many conflicts in a row, wait before the next try.
const CONFLICTS_WITHOUT_WAIT: u32 = 16;

impl BucketState {
    /// Whether there is nothing to remember. The shell drops an empty state.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let Self { backend, pace, telling, pass } = self;
        !self.may_be_there()
            && backend.sent == Sent::Unknown
            && pace.fence.is_none()
            && pace.call.is_none()
            && pace.api.is_none()
            && pace.record.is_none()
            && pace.claim.is_none()
            && telling.report.is_empty()
            && telling.notes.is_empty()
            && pass.awaiting == Awaiting::Nothing
            && !pass.must_read
    }

    /// Whether something may be at the backend that is not recorded in the API.
    #[must_use]
    pub fn may_be_there(&self) -> bool {
        !self.backend.gone && (self.backend.sent == Sent::Maybe || !self.backend.ids.is_empty())
    }

    /// Whether the state knows the object that it is about, and so will see by itself what becomes of it.
    #[must_use]
    pub const fn follows_an_object(&self) -> bool {
        self.backend.owner.is_some()
    }

    /// Whether a driver call is running right now.
    #[must_use]
    pub const fn is_calling(&self) -> bool {
        matches!(self.pass.awaiting, Awaiting::Call { .. })
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

    /// Queues a note, once per reason and owner.
    pub(super) fn note_once(&mut self, note: Note) {
        if !self.telling.told.contains(&note.reason) {
            self.telling.told.push(note.reason);
            self.telling.notes.push_back(note);
        }
    }

    /// When a request to the API server may go out, if not now.
    pub(super) fn api_gate(&self, ctx: &Context<'_>) -> Option<Time> {
        self.pace.api.map(|r| r.at).filter(|at| *at > ctx.now)
    }

    /// When no call can be at work any more, if one may be now (R10 a).
    pub(super) fn fence_gate(&self, ctx: &Context<'_>) -> Option<Time> {
        self.pace.fence.map(|f| f.until).filter(|until| *until > ctx.now)
    }

    /// When an attempt may be made, if not now: its fence and its backoff. The backoff of another attempt does not count;
    /// the situation is another one then.
    pub(super) fn call_gate(&self, attempt: Attempt, ctx: &Context<'_>) -> Option<Time> {
        let fence = self.pace.fence.and_then(|f| f.holds(attempt.rpc, ctx.now));
        let backoff =
            self.pace.call.filter(|(of, _)| *of == attempt).map(|(_, r)| r.at).filter(|at| *at > ctx.now);
        fence.max(backoff)
    }

    /// A request to the API server failed in a way that passes by itself.
    pub(super) fn back_off_api(&mut self, asked: Option<std::time::Duration>, ctx: &Context<'_>) {
        let mut retry = Retry::after_failure(self.pace.api, ctx);
        if let Some(asked) = asked {
            retry.at = retry.at.max(ctx.now + asked.min(ctx.settings.retry_interval_max));
        }
        self.pace.api = Some(retry);
    }

    /// A write met a newer object.
    pub(super) fn conflicted(&mut self, ctx: &Context<'_>) {
        self.pass.must_read = true;
        self.pace.conflicts = self.pace.conflicts.saturating_add(1);
        if self.pace.conflicts > CONFLICTS_WITHOUT_WAIT {
            self.back_off_api(None, ctx);
        }
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
        if let Some(until) = self.fence_gate(ctx) {
            return Effect::Wait(until);
        }
        self.pace.fence = None;
        Effect::Done
    }
}
