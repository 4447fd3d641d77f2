//! What each RPC does at the backend.

use tonic::Status;

use super::abilities::Abilities;
use super::accounts::{Access, Account};
use super::answer::Answer;
use super::backend::{Backend, Bucket, Wanted};
use super::call::Request;
use super::ledger::Effect;

/// What the call saw under its name when it arrived: only a racy backend acts on it.
#[derive(Default)]
pub(super) struct Seen {
    pub(super) bucket: Option<Bucket>,
    pub(super) account: Option<Account>,
}

/// Does at the backend what is asked, or the half of it.
pub(super) fn act(
    backend: &mut Backend,
    abilities: &Abilities,
    request: &Request,
    seen: Seen,
    half: bool,
) -> (Vec<Effect>, Result<Answer, Status>) {
    match request {
        Request::GetInfo(_) => (vec![], Ok(Answer::info(abilities))),
        Request::Create(r) => {
            let wanted = Wanted::new(&r.protocols, &r.parameters);
            let (effects, bucket) = backend.create(abilities, &r.name, &wanted, seen.bucket, half);
            (effects, bucket.map(|bucket| Answer::bucket(bucket, &wanted.protocols(abilities))))
        }
        Request::GetExisting(r) => {
            let protocols = Wanted::new(&r.protocols, &r.parameters).protocols(abilities);
            let bucket = backend.by_id(&r.existing_bucket_id).cloned();
            let bucket = bucket.ok_or_else(|| Status::not_found("no such bucket"));
            (vec![], bucket.map(|bucket| Answer::bucket(bucket, &protocols)))
        }
        Request::Grant(r) => {
            let (effects, account) = backend.grant(abilities, r, seen.account, half);
            (effects, account.and_then(Answer::grant))
        }
        Request::DeleteByName(_) | Request::RevokeByName(_) if !abilities.by_name => {
            (vec![], Err(Status::unimplemented("this driver has no by-name RPCs")))
        }
        // Half of a delete or revoke is nothing yet.
        _ if half => (vec![], Ok(Answer::Done)),
        Request::Delete(r) => done(backend.delete(abilities, &r.bucket_id)),
        Request::DeleteByName(r) => {
            let wanted = Wanted::new(&r.protocols, &r.parameters);
            done(backend.delete_by_name(abilities, &r.name, &wanted))
        }
        Request::Revoke(r) => done(backend.revoke(abilities, &r.account_id)),
        Request::RevokeByName(r) => {
            done(backend.revoke_by_name(abilities, &r.account_name, &Access::of_revoke(r)))
        }
    }
}

fn done((effects, result): (Vec<Effect>, Result<(), Status>)) -> (Vec<Effect>, Result<Answer, Status>) {
    (effects, result.map(|()| Answer::Done))
}
