//! What must not be done before when.

use std::time::Duration;

use crate::note::NoteReason;
use crate::{Context, Failure, Fence, Outcome, Retry, Rpc, Time};

/// Fence and backoffs of one name.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Pace {
    pub(crate) fence: Option<Fence>,
    /// Backoff of the driver call that failed last.
    pub(crate) call: Option<(Attempt, Retry)>,
    /// The call's backoff ends with a new driver connection, too.
    pub(crate) until_connected: bool,
    /// Backoff of requests to the API server.
    pub(crate) api: Option<Retry>,
    /// Backoff of recording an answer that the API server refused.
    pub(crate) record: Option<Retry>,
    /// Conflicts in a row. A few are normal under foreign writes and cost no wait.
    pub(crate) conflicts: u32,
}

/// What a call is for. A Create or Grant can be either.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To make the bucket or account, or find it.
    Provide,
    /// To take it away, or to learn the id to take it away by.
    Undo,
}

/// What a backoff is about. A Create that is to provide a bucket and one that is to tell its id for deletion are two
/// attempts: the backoff of the one does not hold up the other (R11).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Attempt {
    pub(crate) rpc: Rpc,
    pub(crate) purpose: Purpose,
}

impl Attempt {
    /// What a person is told if it fails.
    pub(crate) const fn reason_of_failure(self, failure: &Failure) -> NoteReason {
        match self.purpose {
            Purpose::Undo => NoteReason::DeletionBlocked,
            Purpose::Provide if failure.is_terminal(self.rpc) => NoteReason::Refused,
            Purpose::Provide => NoteReason::Failing,
        }
    }
}

/// After so many conflicts in a row, wait before the next try.
const CONFLICTS_WITHOUT_WAIT: u32 = 16;

impl Pace {
    /// Whether nothing is to be waited for.
    pub(crate) const fn is_empty(&self) -> bool {
        self.fence.is_none() && self.call.is_none() && self.api.is_none() && self.record.is_none()
    }

    /// A pass begins. What changed, or a new connection where that helps, ends a call's backoff (R11, C22).
    pub(crate) fn begin(&mut self, changed: bool, connected: bool, ctx: &Context<'_>) {
        let ends = changed || (connected && self.until_connected);
        if let Some((_, retry)) = self.call.as_mut().filter(|_| ends) {
            retry.at = ctx.now;
        }
        if changed {
            self.record = None;
        }
    }

    /// When a request to the API server may go out, if not now.
    pub(crate) fn api_gate(&self, ctx: &Context<'_>) -> Option<Time> {
        self.api.map(|r| r.at).filter(|at| *at > ctx.now)
    }

    /// When the answer may be recorded, if not now.
    pub(crate) fn record_gate(&self, ctx: &Context<'_>) -> Option<Time> {
        let refused = self.record.map(|r| r.at).filter(|at| *at > ctx.now);
        self.api_gate(ctx).max(refused)
    }

    /// When no call can be at work any more, if one may be now (R10 a).
    pub(crate) fn fence_gate(&self, ctx: &Context<'_>) -> Option<Time> {
        self.fence.map(|f| f.until).filter(|until| *until > ctx.now)
    }

    /// When an attempt may be made, if not now: its fence and its backoff. The backoff of another attempt does not count;
    /// the situation is another one then.
    pub(crate) fn call_gate(&self, attempt: Attempt, ctx: &Context<'_>) -> Option<Time> {
        let fence = self.fence.and_then(|f| f.holds(attempt.rpc, ctx.now));
        let backoff =
            self.call.filter(|(of, _)| *of == attempt).map(|(_, r)| r.at).filter(|at| *at > ctx.now);
        fence.max(backoff)
    }

    /// Whether fence or backoff holds back a call of that RPC that takes something away.
    pub(crate) fn holds(&self, rpc: Rpc, ctx: &Context<'_>) -> bool {
        self.call_gate(Attempt { rpc, purpose: Purpose::Undo }, ctx).is_some()
    }

    /// Nothing is sent before this fence falls, nor before an older one does.
    pub(crate) fn put_up(&mut self, fence: Fence) {
        self.fence = Some(fence.on_top_of(self.fence));
    }

    /// What a call's outcome forbids, and for how long (R3).
    pub(crate) fn after(&mut self, outcome: Outcome, rpc: Rpc, ctx: &Context<'_>) {
        if matches!(outcome, Outcome::Unknown | Outcome::Busy) {
            let except = (outcome == Outcome::Busy).then_some(rpc);
            self.put_up(Fence { except, ..Fence::grace(ctx) });
        }
    }

    /// The call is to be tried again: after its backoff, or when something changes.
    pub(crate) fn retry(&mut self, attempt: Attempt, failure: &Failure, ctx: &Context<'_>) -> Retry {
        let previous = self.call.filter(|(of, _)| *of == attempt).map(|(_, retry)| retry);
        let terminal = failure.is_terminal(attempt.rpc);
        let retry =
            if terminal { Retry::after_refusal(previous, ctx) } else { Retry::after_failure(previous, ctx) };
        self.call = Some((attempt, retry));
        self.until_connected = terminal || failure.outcome(attempt.rpc) == Outcome::NotSent;
        retry
    }

    /// The driver's answer was of no use: it will hardly change its mind soon.
    pub(crate) fn refused(&mut self, attempt: Attempt, ctx: &Context<'_>) {
        self.call = Some((attempt, Retry::after_refusal(None, ctx)));
        self.until_connected = true;
    }

    /// A request to the API server failed in a way that passes by itself.
    pub(crate) fn back_off_api(&mut self, asked: Option<Duration>, ctx: &Context<'_>) {
        self.api = Some(Retry::after_failure(self.api, ctx).not_before(asked, ctx));
    }

    /// A write met a newer object.
    pub(crate) fn conflicted(&mut self, ctx: &Context<'_>) {
        self.conflicts = self.conflicts.saturating_add(1);
        if self.conflicts > CONFLICTS_WITHOUT_WAIT {
            self.back_off_api(None, ctx);
        }
    }

    /// A write succeeded.
    pub(crate) const fn wrote(&mut self) {
        self.api = None;
        self.conflicts = 0;
    }
}
