//! What a driver's answer changes in what is known.

use std::collections::BTreeMap;

use cosi_api::ObjectProtocol;
use cosi_api::value::BucketId;

use super::state::{Attempt, BucketState, Purpose, Sent};
use super::undo::is_storable;
use super::{BucketAnswer, BucketView, Call, CallOk, Note, NoteReason};
use crate::fence::Fence;
use crate::{Code, Context, Failure, Outcome, Problem, Retry, Rpc};

impl BucketState {
    /// The call has ended here. `about` is the object that it was made for.
    pub(super) fn called(
        &mut self,
        (call, before, purpose): (Call, Sent, Purpose),
        result: Result<CallOk, Failure>,
        about: &BucketView,
        ctx: &Context<'_>,
    ) {
        match result {
            Ok(ok) => {
                self.pace.call = None;
                self.answered(&call, purpose, ok, about, ctx);
            }
            Err(failure) => {
                self.pace_after(call.rpc(), before, &failure, ctx);
                self.failed(&call, purpose, &failure, about, ctx);
            }
        }
    }

    fn answered(&mut self, call: &Call, purpose: Purpose, ok: CallOk, about: &BucketView, ctx: &Context<'_>) {
        let attempt = Attempt { rpc: call.rpc(), purpose };
        match (call, ok) {
            (Call::Delete { id, .. }, _) => self.deleted(id, about),
            (Call::DeleteByName(_), _) => self.backend.gone = true,
            (Call::Create(_) | Call::GetExisting { .. }, CallOk::Bucket { id, protocols, info }) => {
                let checked = usable(&id, protocols, info, about);
                self.learn(attempt, &id, checked, about, ctx);
            }
            (Call::Create(_) | Call::GetExisting { .. }, CallOk::Deleted) => {
                self.learn(attempt, "", Err("without any content".to_owned()), about, ctx);
            }
        }
    }

    /// The id is kept before its content is judged: even an unusable answer gives an id to delete by (R6).
    fn learn(
        &mut self,
        attempt: Attempt,
        id: &str,
        checked: Result<BucketAnswer, String>,
        about: &BucketView,
        ctx: &Context<'_>,
    ) {
        let rpc = attempt.rpc;
        if rpc == Rpc::CreateBucket {
            // A replay may have made again what was deleted before.
            self.backend.deleted.retain(|deleted| deleted.as_ref() != id);
            if id.is_empty() {
                self.backend.unknown = true;
            } else if !self.backend.ids.iter().any(|known| known.as_ref() == id) {
                self.backend.ids.push(id.into());
            }
        }
        match checked {
            Ok(answer) => self.backend.answer = Some(answer),
            Err(why) => {
                self.pace.call = Some((attempt, Retry::after_refusal(None, ctx)));
                self.pace.until_connected = true;
                self.raise(about, Problem::answer(rpc, why), NoteReason::Refused);
            }
        }
    }

    /// The backend has no bucket with this id any more.
    fn deleted(&mut self, id: &str, about: &BucketView) {
        self.backend.deleted.push(id.into());
        self.backend.answer = None;
        let none_left = self.remaining_ids(about).next().is_none();
        self.backend.gone = none_left;
    }

    fn failed(
        &mut self,
        call: &Call,
        purpose: Purpose,
        failure: &Failure,
        about: &BucketView,
        ctx: &Context<'_>,
    ) {
        let rpc = call.rpc();
        let answered = match failure {
            Failure::Answered { code, .. } => Some(*code),
            _ => None,
        };
        match (call, answered) {
            // Either the RPC is missing, or the driver refuses the request as it refused the Create; the replay tells (C7).
            (Call::DeleteByName(_), Some(Code::Unimplemented | Code::InvalidArgument)) => {
                self.pass.by_name_missing = true;
            }
            (Call::Delete { .. } | Call::DeleteByName(_), Some(Code::NotFound)) => {
                self.not_found(call, about, ctx);
            }
            // An id outside of the protocol's alphabet was the driver's own; if it does not take it back, there is still
            // the name.
            (Call::Delete { id, .. }, Some(Code::InvalidArgument)) if !is_storable(id) => {
                self.backend.ids.retain(|known| known != id);
                self.backend.gone =
                    !self.backend.deleted.is_empty() && self.remaining_ids(about).next().is_none();
            }
            (Call::Create(_), Some(_)) if purpose == Purpose::Undo && self.is_hopeless(rpc, failure) => {
                self.backend.hopeless = Some(Problem::call(rpc, failure).text);
            }
            _ => self.complain(Attempt { rpc, purpose }, failure, about, ctx),
        }
    }

    /// What the outcome forbids, and for how long.
    fn pace_after(&mut self, rpc: Rpc, before: Sent, failure: &Failure, ctx: &Context<'_>) {
        let outcome = failure.outcome(rpc);
        match outcome {
            Outcome::NotSent => self.backend.sent = before,
            Outcome::Refused => {}
            Outcome::Unknown | Outcome::Busy => {
                let except = (outcome == Outcome::Busy).then_some(rpc);
                let fence = Fence { except, ..Fence::grace(ctx) };
                self.pace.fence = Some(fence.on_top_of(self.pace.fence));
                self.backend.unknown |= rpc == Rpc::CreateBucket;
            }
        }
    }

    /// R3: the spec wants OK for what is gone already, so NOT_FOUND is believed only the second time, after the grace.
    fn not_found(&mut self, call: &Call, about: &BucketView, ctx: &Context<'_>) {
        if self.backend.not_found.as_ref() != Some(call) {
            self.backend.not_found = Some(call.clone());
            self.pace.fence = Some(Fence::grace(ctx).on_top_of(self.pace.fence));
            return;
        }
        let rpc = call.rpc();
        let text = format!(
            "{rpc} answered NOT_FOUND twice; the bucket is taken as gone (a driver should answer OK)"
        );
        self.note_once(Note::warning(about, NoteReason::NotFoundAtBackend, &text));
        match call {
            Call::Delete { id, .. } => self.deleted(id, about),
            _ => self.backend.gone = true,
        }
    }

    /// R10 e: a replayed Create that the driver refuses for good made nothing and never will – unless an earlier one of
    /// this process had an unknown outcome.
    fn is_hopeless(&self, rpc: Rpc, failure: &Failure) -> bool {
        failure.is_terminal(rpc) && !self.backend.unknown
    }

    /// The call is to be tried again: after its backoff, or when something changes.
    fn complain(&mut self, attempt: Attempt, failure: &Failure, about: &BucketView, ctx: &Context<'_>) {
        let Attempt { rpc, purpose } = attempt;
        let previous = self.pace.call.filter(|(of, _)| *of == attempt).map(|(_, retry)| retry);
        let terminal = failure.is_terminal(rpc);
        let retry =
            if terminal { Retry::after_refusal(previous, ctx) } else { Retry::after_failure(previous, ctx) };
        let not_sent = failure.outcome(rpc) == Outcome::NotSent;
        self.pace.call = Some((attempt, retry));
        self.pace.until_connected = terminal || not_sent;
        // A driver that restarts is no news; one that stays away is. Nor is a call that is still at work: what is known of it
        // says more than ABORTED.
        let at_work = failure.outcome(rpc) == Outcome::Busy && self.telling.report.is_about(rpc);
        if at_work || (not_sent && retry.failures < 2) {
            return;
        }
        let reason = match (purpose, terminal) {
            (Purpose::Undo, _) => NoteReason::DeletionBlocked,
            (Purpose::Provide, true) => NoteReason::Refused,
            (Purpose::Provide, false) => NoteReason::Failing,
        };
        self.raise(about, Problem::call(rpc, failure), reason);
    }
}

/// The answer, if all that a Ready Bucket needs is in it and right.
fn usable(
    id: &str,
    protocols: Vec<ObjectProtocol>,
    info: BTreeMap<String, String>,
    about: &BucketView,
) -> Result<BucketAnswer, String> {
    if id.is_empty() {
        return Err("without a bucket_id".to_owned());
    }
    let id = BucketId::try_from(id.to_owned())
        .map_err(|e| format!("with a bucket_id that cannot be stored: {e}"))?;
    if let Some(recorded) = about.bucket_id.as_deref().filter(|recorded| *recorded != id.as_str()) {
        return Err(format!("with bucket_id {id}, while {recorded} is recorded in status.bucketID"));
    }
    if protocols.is_empty() {
        return Err("without info for any protocol".to_owned());
    }
    if let Some(missing) = about.protocols.iter().find(|p| !protocols.contains(p)) {
        return Err(format!("without info for protocol {missing}, which the Bucket requires"));
    }
    Ok(BucketAnswer { id, protocols, info })
}
