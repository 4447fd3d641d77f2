//! What a driver's answer changes in what is known.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use cosi_api::value::AccountId;
use cosi_api::{BucketAccessAuthenticationType, ObjectProtocol, keys};

use super::handover::accessed;
use super::required::required_keys;
use super::state::Granted;
use super::{AccessState, AccessView, Call, CallOk, GrantedBucket, Request, SecretData};
use crate::inflight::{Flight, Purpose, Sending};
use crate::{Context, Failure, NoteReason, Problem};

impl AccessState {
    /// The call has ended here. `about` is the access that it was made for.
    pub(super) fn called(
        &mut self,
        sent: &Sending<Call>,
        result: Result<CallOk, Failure>,
        about: &AccessView,
        ctx: &Context<'_>,
    ) {
        match result {
            Ok(ok) => {
                self.pace.call = None;
                self.answered(sent, ok, about, ctx);
            }
            Err(failure) => {
                let Self { backend, pace, telling, pass, .. } = self;
                let by_name_missing = &mut pass.by_name_missing;
                Flight { backend, pace, telling, by_name_missing }.failed(sent, &failure, about, ctx);
            }
        }
    }

    fn answered(&mut self, sent: &Sending<Call>, ok: CallOk, about: &AccessView, ctx: &Context<'_>) {
        match (&sent.call, ok) {
            (Call::Revoke { id, .. }, _) => self.backend.undone(id, about),
            (Call::RevokeByName(_), _) => self.backend.gone = true,
            (Call::Grant(request), CallOk::Granted { id, buckets, credentials }) => {
                let check = || usable(&id, &buckets, &credentials, request, about);
                self.learn(sent, &id, check, about, ctx);
            }
            (Call::Grant(_), CallOk::Revoked) => {
                self.learn(sent, "", || Err("without any content".to_owned()), about, ctx);
            }
        }
    }

    /// The id is kept before its content is judged: even an unusable answer gives an id to revoke by (R6). A replay is only
    /// made to learn the id.
    fn learn(
        &mut self,
        sent: &Sending<Call>,
        id: &str,
        check: impl FnOnce() -> Result<Granted, String>,
        about: &AccessView,
        ctx: &Context<'_>,
    ) {
        self.backend.learn(id);
        self.backend.replayed |= sent.purpose == Purpose::Undo;
        if sent.purpose == Purpose::Undo && !id.is_empty() {
            return;
        }
        match check() {
            Ok(granted) => self.backend.answer = Some(granted),
            Err(why) => {
                self.pace.refused(sent.attempt(), ctx);
                let reason = match sent.purpose {
                    Purpose::Provide => NoteReason::Refused,
                    Purpose::Undo => NoteReason::DeletionBlocked,
                };
                self.telling.raise(about, Problem::answer(sent.call.rpc(), why), reason);
            }
        }
    }
}

/// The answer, if all that the Secrets need is in it and right (C36).
fn usable(
    id: &str,
    buckets: &[GrantedBucket],
    credentials: &[(ObjectProtocol, SecretData)],
    request: &Request,
    about: &AccessView,
) -> Result<Granted, String> {
    let account = account(id, about)?;
    let authentication = about.authentication.ok_or("to a request that was not made")?;
    let credentials = credentials_of(about.protocol, credentials)?;
    only_requested(buckets, about)?;
    let mut data = BTreeMap::new();
    for wish in &about.wishes {
        let id = accessed(about, wish).map(|a| a.id.as_ref()).unwrap_or_default();
        let info = info_of(id, about.protocol, buckets)?;
        let content = content(about.protocol, info, credentials);
        complete(id, &content, about.protocol, authentication)?;
        data.insert(Arc::clone(&wish.secret), content);
    }
    Ok(Granted { request: request.clone(), account, data, written: BTreeSet::new() })
}

fn account(id: &str, about: &AccessView) -> Result<AccountId, String> {
    if id.is_empty() {
        return Err("without an account_id".to_owned());
    }
    let id = AccountId::try_from(id.to_owned())
        .map_err(|e| format!("with an account_id that cannot be stored: {e}"))?;
    match about.account_id.as_deref().filter(|recorded| *recorded != id.as_str()) {
        Some(recorded) => {
            Err(format!("with account_id {id}, while {recorded} is recorded in status.accountID"))
        }
        None => Ok(id),
    }
}

/// The message of the requested protocol must be there even if nothing is in it, and no other.
fn credentials_of(
    protocol: ObjectProtocol,
    credentials: &[(ObjectProtocol, SecretData)],
) -> Result<&SecretData, String> {
    if let Some((other, _)) = credentials.iter().find(|(p, _)| *p != protocol) {
        return Err(format!("with credentials for protocol {other}, while {protocol} was asked for"));
    }
    let found = credentials.iter().find(|(p, _)| *p == protocol);
    found.map(|(_, data)| data).ok_or_else(|| format!("without credentials for protocol {protocol}"))
}

fn only_requested(buckets: &[GrantedBucket], about: &AccessView) -> Result<(), String> {
    let mut seen = BTreeSet::new();
    for GrantedBucket { id, .. } in buckets {
        if !about.accessed.iter().any(|a| a.id.as_ref() == id) {
            return Err(format!("with info for bucket {id:?}, which was not asked for"));
        }
        if !seen.insert(id) {
            return Err(format!("with info for bucket {id} twice"));
        }
    }
    Ok(())
}

/// The info of one bucket: for the requested protocol, and no other.
fn info_of<'a>(
    id: &str,
    protocol: ObjectProtocol,
    buckets: &'a [GrantedBucket],
) -> Result<&'a BTreeMap<String, String>, String> {
    let bucket = buckets.iter().find(|b| b.id == id);
    let bucket = bucket.ok_or_else(|| format!("without info for bucket {id}"))?;
    if let Some((other, _)) = bucket.info.iter().find(|(p, _)| *p != protocol) {
        return Err(format!("with info for protocol {other} of bucket {id}, while {protocol} was asked for"));
    }
    let info = bucket.info.iter().find(|(p, _)| *p == protocol);
    info.map(|(_, info)| info).ok_or_else(|| format!("without info for protocol {protocol} of bucket {id}"))
}

fn content(
    protocol: ObjectProtocol,
    info: &BTreeMap<String, String>,
    credentials: &SecretData,
) -> SecretData {
    let mut content = SecretData::default();
    for (key, value) in info {
        content.set(key, value.clone());
    }
    for (key, value) in credentials.iter() {
        content.set(key, value.to_owned());
    }
    content.set(keys::PROTOCOL, protocol.as_str().to_owned());
    content
}

fn complete(
    id: &str,
    content: &SecretData,
    protocol: ObjectProtocol,
    authentication: BucketAccessAuthenticationType,
) -> Result<(), String> {
    let missing = required_keys(protocol, authentication).iter().find(|key| content.get(key).is_none());
    missing.map_or(Ok(()), |key| Err(format!("with an empty {key} for bucket {id}")))
}
