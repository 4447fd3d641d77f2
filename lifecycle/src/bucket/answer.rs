//! What a driver's answer changes in what is known.

use std::collections::BTreeMap;

use cosi_api::ObjectProtocol;
use cosi_api::value::BucketId;

use super::state::{Attempt, BucketState};
use super::{BucketAnswer, BucketView, Call, CallOk};
use crate::inflight::{Flight, Purpose, Sending};
use crate::{Context, Failure, NoteReason, Problem, Rpc};

impl BucketState {
    /// The call has ended here. `about` is the object that it was made for.
    pub(super) fn called(
        &mut self,
        sent: &Sending<Call>,
        result: Result<CallOk, Failure>,
        about: &BucketView,
        ctx: &Context<'_>,
    ) {
        match result {
            Ok(ok) => {
                self.pace.call = None;
                self.answered(&sent.call, sent.purpose, ok, about, ctx);
            }
            Err(failure) => {
                let Self { backend, pace, telling, pass, .. } = self;
                let by_name_missing = &mut pass.by_name_missing;
                Flight { backend, pace, telling, by_name_missing }.failed(sent, &failure, about, ctx);
            }
        }
    }

    fn answered(&mut self, call: &Call, purpose: Purpose, ok: CallOk, about: &BucketView, ctx: &Context<'_>) {
        let attempt = Attempt { rpc: call.rpc(), purpose };
        match (call, ok) {
            (Call::Delete { id, .. }, _) => self.backend.undone(id, about),
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
            self.backend.replayed |= attempt.purpose == Purpose::Undo;
        }
        match checked {
            Ok(answer) => self.backend.answer = Some(answer),
            Err(why) => {
                self.pace.refused(attempt, ctx);
                self.telling.raise(about, Problem::answer(rpc, why), NoteReason::Refused);
            }
        }
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
