//! A call that failed, and the next call of an undo: the same for Buckets and accesses.

use cosi_api::value::BucketId;

use super::{Attempt, Backend, Pace, Purpose, Sent, Telling};
use crate::note::{Note, NoteReason, Subject};
use crate::{Code, Context, Failure, Fence, Outcome, Problem, Rpc};

/// A driver call of either kind.
pub(crate) trait DriverCall: Clone + PartialEq {
    /// Which RPC it is.
    fn rpc(&self) -> Rpc;
    /// What it does to the backend.
    fn role(&self) -> Role<'_>;
}

/// What a call does to the backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role<'a> {
    /// It makes the thing, or finds it.
    Make,
    /// It changes nothing.
    Look,
    /// It takes away the thing with this id.
    UndoById(&'a str),
    /// It takes away what a Make with the same request made.
    UndoByName,
}

/// An owner of something at the backend.
pub(crate) trait Owner: Subject {
    /// What it owns, in a sentence.
    const THING: &'static str;
    /// The id that is recorded in its status.
    fn recorded(&self) -> Option<&str>;
}

/// A call that was sent.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sending<C> {
    pub(crate) call: C,
    /// What was known before, should it turn out that the call never left.
    pub(crate) before: Sent,
    /// What the call is for.
    pub(crate) purpose: Purpose,
}

impl<C: DriverCall> Sending<C> {
    pub(crate) fn attempt(&self) -> Attempt {
        Attempt { rpc: self.call.rpc(), purpose: self.purpose }
    }
}

/// The next step of an undo (R10 b–e).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Undo<'a> {
    /// By this id.
    ById(&'a str),
    /// By the name.
    ByName,
    /// By making it again, to learn its id.
    Replay,
}

impl<O: Owner, A, C> Backend<O, A, C> {
    /// The next step of the undo; `None` if the backend is clean. An id that breaks the protocol may be a slip of the
    /// driver and name nothing, so the name is the surer way, and without it a replay, which may bring a better id. Only then a
    /// driver gets such an id back.
    pub(crate) fn next_undo<'a>(&'a self, owner: &'a O, by_name_missing: bool) -> Option<Undo<'a>> {
        let mut remaining = self.remaining(owner.recorded());
        if let Some(id) = remaining.find(|id| is_storable(id)) {
            return Some(Undo::ById(id));
        }
        if self.sent == Sent::Nothing {
            return None;
        }
        if !by_name_missing {
            return Some(Undo::ByName);
        }
        // What was acknowledged as gone must not be made again.
        let better_id_may_come = !self.replayed && self.deleted.is_empty();
        let odd = self.remaining(owner.recorded()).next().filter(|_| !better_id_may_come);
        Some(odd.map_or(Undo::Replay, Undo::ById))
    }

    /// The backend has nothing with this id any more.
    pub(crate) fn undone(&mut self, id: &str, owner: &O) {
        self.deleted.push(id.into());
        self.answer = None;
        let none_left = self.remaining(owner.recorded()).next().is_none();
        self.gone = none_left;
    }
}

/// All that a failed call changes.
pub(crate) struct Flight<'a, O, A, C> {
    pub(crate) backend: &'a mut Backend<O, A, C>,
    pub(crate) pace: &'a mut Pace,
    pub(crate) telling: &'a mut Telling,
    /// The driver lacks the by-name RPC, as far as this pass knows.
    pub(crate) by_name_missing: &'a mut bool,
}

impl<O: Owner, A, C: DriverCall> Flight<'_, O, A, C> {
    /// The call did not answer OK.
    pub(crate) fn failed(&mut self, sent: &Sending<C>, failure: &Failure, about: &O, ctx: &Context<'_>) {
        self.note_outcome(sent, failure, ctx);
        let rpc = sent.call.rpc();
        let code = match failure {
            Failure::Answered { code, .. } => Some(*code),
            _ => None,
        };
        match (sent.call.role(), code) {
            // Either the RPC is missing, or the driver refuses the request as it refused to make the thing; the replay tells
            // (C7).
            (Role::UndoByName, Some(Code::Unimplemented | Code::InvalidArgument)) => {
                *self.by_name_missing = true;
            }
            (Role::UndoById(_) | Role::UndoByName, Some(Code::NotFound)) => {
                self.not_found(&sent.call, about, ctx);
            }
            // An id outside of the protocol's alphabet was the driver's own; if it does not take it back, there is still
            // the name.
            (Role::UndoById(id), Some(Code::InvalidArgument)) if !is_storable(id) => {
                self.backend.ids.retain(|known| known.as_ref() != id);
                let none_left = self.backend.remaining(about.recorded()).next().is_none();
                self.backend.gone = !self.backend.deleted.is_empty() && none_left;
            }
            (Role::Make, Some(_)) if sent.purpose == Purpose::Undo && self.is_hopeless(rpc, failure) => {
                self.backend.hopeless = Some(Problem::call(rpc, failure).text);
            }
            _ => {
                let retry = self.pace.retry(sent.attempt(), failure, ctx);
                self.telling.complain(about, sent.attempt(), failure, retry);
            }
        }
    }

    /// What the outcome says of the backend, and forbids.
    fn note_outcome(&mut self, sent: &Sending<C>, failure: &Failure, ctx: &Context<'_>) {
        let outcome = failure.outcome(sent.call.rpc());
        self.pace.after(outcome, sent.call.rpc(), ctx);
        match outcome {
            Outcome::NotSent => self.backend.sent = sent.before,
            Outcome::Refused => {}
            Outcome::Unknown | Outcome::Busy => self.backend.unknown |= sent.call.role() == Role::Make,
        }
    }

    /// R3: the spec wants OK for what is gone already, so NOT_FOUND is believed only the second time, after the grace.
    fn not_found(&mut self, call: &C, about: &O, ctx: &Context<'_>) {
        if self.backend.not_found.as_ref() != Some(call) {
            self.backend.not_found = Some(call.clone());
            self.pace.put_up(Fence::grace(ctx));
            return;
        }
        let (rpc, thing) = (call.rpc(), O::THING);
        let text = format!(
            "{rpc} answered NOT_FOUND twice; the {thing} is taken as gone (a driver should answer OK)"
        );
        self.telling.note_once(Note::warning(about, NoteReason::NotFoundAtBackend, &text));
        match call.role() {
            Role::UndoById(id) => self.backend.undone(id, about),
            _ => self.backend.gone = true,
        }
    }

    /// R10 e: a replay that the driver refuses for good made nothing and never will – unless an earlier call of this
    /// process had an unknown outcome.
    fn is_hopeless(&self, rpc: Rpc, failure: &Failure) -> bool {
        failure.is_terminal(rpc) && !self.backend.unknown
    }
}

/// Whether the id is one that the protocol allows, and the API takes; those of buckets and accounts are alike.
pub(crate) fn is_storable(id: &str) -> bool {
    BucketId::try_from(id.to_owned()).is_ok()
}
