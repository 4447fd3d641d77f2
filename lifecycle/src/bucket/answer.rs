//! What a driver's answer changes in what is known.

use std::collections::BTreeMap;

use cosi_api::ObjectProtocol;
use cosi_api::value::BucketId;

use super::state::{Attempt, BucketState, Purpose, Sent};
use super::undo::is_storable;
use super::{BucketAnswer, BucketView, Call, CallOk};
use crate::{Code, Context, Failure, Fence, Note, NoteReason, Outcome, Problem, Rpc};

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
            self.backend.learn(id);
        }
        match checked {
            Ok(answer) => self.backend.answer = Some(answer),
            Err(why) => {
                self.pace.refused(attempt, ctx);
                self.telling.raise(about, Problem::answer(rpc, why), NoteReason::Refused);
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
        self.pace.after(outcome, rpc, ctx);
        match outcome {
            Outcome::NotSent => self.backend.sent = before,
            Outcome::Refused => {}
            Outcome::Unknown | Outcome::Busy => self.backend.unknown |= rpc == Rpc::CreateBucket,
        }
    }

    /// R3: the spec wants OK for what is gone already, so NOT_FOUND is believed only the second time, after the grace.
    fn not_found(&mut self, call: &Call, about: &BucketView, ctx: &Context<'_>) {
        if self.backend.not_found.as_ref() != Some(call) {
            self.backend.not_found = Some(call.clone());
            self.pace.put_up(Fence::grace(ctx));
            return;
        }
        let rpc = call.rpc();
        let text = format!(
            "{rpc} answered NOT_FOUND twice; the bucket is taken as gone (a driver should answer OK)"
        );
        self.telling.note_once(Note::warning(about, NoteReason::NotFoundAtBackend, &text));
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
        let retry = self.pace.retry(attempt, failure, ctx);
        self.telling.complain(about, attempt, failure, retry);
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
