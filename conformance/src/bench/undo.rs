//! Takes one thing away.

use std::time::Duration;

use super::buckets::patiently;
use super::made::What;
use super::{accounts, buckets};
use crate::driver::Driver;
use crate::driver::failure::Failure;
use crate::driver::rpc::Delete;
use crate::s3::{Access, Deed, S3, Seen};

pub(super) async fn by_id(driver: &Driver, what: &What, id: &str) -> Result<(), Failure> {
    let answer = match what {
        What::Bucket(request) => {
            let delete = Delete { bucket_id: id.to_owned(), parameters: request.parameters.clone() };
            patiently(driver.timeout(), || driver.ask(delete.clone())).await.map(drop)
        }
        What::Account(request) => {
            let revoke = accounts::revoke_request(id, request);
            patiently(driver.timeout(), || driver.ask(revoke.clone())).await.map(drop)
        }
        What::Object { .. } => Ok(()),
    };
    // Not the right answer, but clear.
    answer.or_else(|failure| if failure.is(tonic::Code::NotFound) { Ok(()) } else { Err(failure) })
}

/// Undoes a call whose outcome is not known: by name, or by repeating it to learn the id.
pub(super) async fn unknown(driver: &Driver, s3: &S3, what: &What) -> Result<(), String> {
    let limit = driver.timeout();
    let by_name = match what {
        What::Bucket(request) => patiently(limit, || driver.ask(buckets::undo(request))).await.map(drop),
        What::Account(request) => patiently(limit, || driver.ask(accounts::undo(request))).await.map(drop),
        What::Object { access, key } => return object(s3, access, key, limit).await,
    };
    match by_name {
        Err(failure) if failure.is(tonic::Code::Unimplemented) => {}
        other => return other.map_err(|failure| failure.to_string()),
    }
    let again = match what {
        What::Bucket(request) => {
            patiently(limit, || driver.ask(request.clone())).await.map(|made| made.bucket_id)
        }
        What::Account(request) => {
            patiently(limit, || driver.ask(request.clone())).await.map(|made| made.account_id)
        }
        What::Object { .. } => return Ok(()),
    };
    match again {
        Ok(id) => by_id(driver, what, &id).await.map_err(|failure| failure.to_string()),
        Err(failure) if failure.is_refusal() => Ok(()),
        Err(failure) => Err(failure.to_string()),
    }
}

async fn object(s3: &S3, access: &Access, key: &str, limit: Duration) -> Result<(), String> {
    match tokio::time::timeout(limit, s3.once(access, Deed::Delete, key)).await {
        Ok(Seen::Allowed | Seen::Absent) => Ok(()),
        Ok(other) => Err(format!("deleting it: {other}")),
        Err(_) => Err("deleting it took too long".to_owned()),
    }
}
