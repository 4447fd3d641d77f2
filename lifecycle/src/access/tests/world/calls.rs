//! Calls to the driver.

use std::collections::BTreeMap;
use std::sync::Arc;

use cosi_api::{ObjectProtocol, keys::s3};

use super::World;
use crate::Failure;
use crate::access::{Call, CallOk, GrantedBucket, Request, SecretData};
use crate::testing::{CallFault, Fault, Reply, UNSTORABLE};

impl World {
    pub(super) fn ask(&mut self, call: &Call, fault: Option<Fault>) -> Result<CallOk, Failure> {
        let (Call::Grant(request) | Call::Revoke { request, .. } | Call::RevokeByName(request)) = call;
        let by = Arc::clone(&self.lane().key);
        let recorded = self.api.object.as_ref().is_some_and(|o| o.view.account_id.is_some());
        let reply = self.call(call, (&request.account, &by), "", fault)?;
        Ok(match call {
            Call::Grant(request) => granted(reply, request, recorded),
            Call::Revoke { .. } | Call::RevokeByName(_) => CallOk::Revoked,
        })
    }
}

/// What stands in a Secret for this key.
pub(super) fn access_key(key: u32) -> String {
    format!("key-{key}")
}

/// A driver never gives another id to a name that it knows; but one may, and it is noticed if an id was recorded.
fn granted(reply: Reply, request: &Request, recorded: bool) -> CallOk {
    let id = match reply.defect {
        Some(CallFault::NoId) => String::new(),
        Some(CallFault::BadId) => format!("{}{UNSTORABLE}", reply.id),
        Some(CallFault::OtherId) if recorded => "other-id".to_owned(),
        _ => reply.id,
    };
    let info = |bucket: &str| -> BTreeMap<String, String> {
        let all = [
            (s3::BUCKET_ID, bucket),
            (s3::ENDPOINT, "https://s3"),
            (s3::REGION, "r"),
            (s3::ADDRESSING_STYLE, "path"),
        ];
        let empty = reply.defect == Some(CallFault::EmptyValue);
        let kept = all.into_iter().filter(|(key, _)| !(empty && *key == s3::ENDPOINT));
        kept.map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
    };
    let bucket = |id: &str| GrantedBucket { id: id.to_owned(), info: vec![(ObjectProtocol::S3, info(id))] };
    let mut buckets: Vec<_> = request.buckets.iter().map(|reach| bucket(&reach.id)).collect();
    match reply.defect {
        Some(CallFault::NoInfo) => {
            for bucket in &mut buckets {
                bucket.info.clear();
            }
        }
        Some(CallFault::WrongBucket) => buckets.push(bucket("never-asked-for")),
        _ => {}
    }
    let mut credentials = SecretData::default();
    if request.service_account.is_none() {
        credentials.set(s3::ACCESS_KEY_ID, access_key(reply.key));
        credentials.set(s3::ACCESS_SECRET_KEY, format!("secret of {}", access_key(reply.key)));
    }
    let credentials = vec![(ObjectProtocol::S3, credentials)];
    let credentials = if reply.defect == Some(CallFault::NoCredentials) { vec![] } else { credentials };
    CallOk::Granted { id, buckets, credentials }
}
