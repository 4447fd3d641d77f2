//! What a check asked the driver to make, so that all of it can be taken away again, whatever became of the check.
//!
//! Each thing is written down before it is asked for. It is struck off when the driver says that it is gone; what the
//! driver refused was never there (COSI-ERR-10).

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::buckets::patiently;
use super::{accounts, buckets};
use crate::driver::failure::Failure;
use crate::driver::rpc::{Create, Delete, Grant};
use crate::driver::{Answer, Driver};
use crate::s3::{Access, Deed, S3, Seen};

/// Everything that may be there, in the order in which it was asked for.
#[derive(Default)]
pub(crate) struct Made(Mutex<Vec<Thing>>);

struct Thing {
    what: What,
    /// What it may be called by.
    ids: BTreeSet<String>,
    /// Calls of which it is not known what they made.
    open: usize,
}

#[derive(Clone, PartialEq)]
enum What {
    Bucket(Create),
    Account(Grant),
    Object { access: Access, key: String },
}

impl Made {
    pub(crate) fn bucket_asked(&self, request: &Create) {
        self.asked(What::Bucket(request.clone()));
    }

    pub(crate) fn bucket_answered(&self, request: &Create, answer: &Answer<Create>) {
        self.answered(&What::Bucket(request.clone()), answer.as_ref().map(|made| made.bucket_id.as_str()));
    }

    pub(crate) fn bucket_gone(&self, request: &Create, id: &str) {
        self.gone(&What::Bucket(request.clone()), id);
    }

    /// The driver says so, by name.
    pub(crate) fn bucket_undone(&self, request: &Create) {
        self.settled(&What::Bucket(request.clone()));
    }

    /// It was seen that it is not there.
    pub(crate) fn bucket_forgotten(&self, request: &Create) {
        self.forget(&What::Bucket(request.clone()));
    }

    /// It is there after all.
    pub(crate) fn bucket_found(&self, request: &Create, id: Option<&str>) {
        self.found(What::Bucket(request.clone()), id);
    }

    /// It is there after all.
    pub(crate) fn account_found(&self, request: &Grant, id: Option<&str>) {
        self.found(What::Account(request.clone()), id);
    }

    pub(crate) fn account_asked(&self, request: &Grant) {
        self.asked(What::Account(request.clone()));
    }

    pub(crate) fn account_answered(&self, request: &Grant, answer: &Answer<Grant>) {
        self.answered(&What::Account(request.clone()), answer.as_ref().map(|made| made.account_id.as_str()));
    }

    pub(crate) fn account_gone(&self, request: &Grant, id: &str) {
        self.gone(&What::Account(request.clone()), id);
    }

    /// The driver says so, by name.
    pub(crate) fn account_undone(&self, request: &Grant) {
        self.settled(&What::Account(request.clone()));
    }

    /// It was seen that it is not there.
    pub(crate) fn account_forgotten(&self, request: &Grant) {
        self.forget(&What::Account(request.clone()));
    }

    /// An object that this access, which may write, takes away.
    pub(crate) fn object(&self, access: &Access, key: &str) {
        self.asked(What::Object { access: access.clone(), key: key.to_owned() });
    }

    pub(crate) fn object_gone(&self, access: &Access, key: &str) {
        self.forget(&What::Object { access: access.clone(), key: key.to_owned() });
    }

    fn asked(&self, what: What) {
        let mut things = self.lock();
        match things.iter_mut().find(|thing| thing.what == what) {
            Some(thing) => thing.open += 1,
            None => things.push(Thing { what, ids: BTreeSet::new(), open: 1 }),
        }
    }

    fn found(&self, what: What, id: Option<&str>) {
        let mut things = self.lock();
        let place = things.iter().position(|thing| thing.what == what);
        let mut thing = match place {
            Some(place) => things.remove(place),
            None => Thing { what, ids: BTreeSet::new(), open: 0 },
        };
        match id {
            Some(id) => drop(thing.ids.insert(id.to_owned())),
            None => thing.open += 1,
        }
        things.push(thing);
    }

    /// Nothing that has no id is there any more; ids are kept until it is known of each.
    fn settled(&self, what: &What) {
        let mut things = self.lock();
        things.iter_mut().filter(|thing| thing.what == *what).for_each(|thing| thing.open = 0);
        things.retain(Thing::may_be_there);
    }

    fn answered(&self, what: &What, answer: Result<&str, &Failure>) {
        let mut things = self.lock();
        let Some(thing) = things.iter_mut().find(|thing| thing.what == *what) else { return };
        match answer {
            // An OK without an id has made something that can't be called by one.
            Ok("") => {}
            Ok(id) => {
                thing.ids.insert(id.to_owned());
                thing.open -= 1;
            }
            Err(failure) if failure.is_refusal() => thing.open -= 1,
            Err(_) => {}
        }
        things.retain(Thing::may_be_there);
    }

    fn gone(&self, what: &What, id: &str) {
        let mut things = self.lock();
        for thing in things.iter_mut().filter(|thing| thing.what == *what) {
            thing.ids.remove(id);
        }
        things.retain(Thing::may_be_there);
    }

    fn forget(&self, what: &What) {
        self.lock().retain(|thing| thing.what != *what);
    }

    /// Takes everything away, the last first. What can't be taken away is told.
    ///
    /// # Cancellation
    /// What was not taken away yet is told by [`left`](Self::left).
    pub(crate) async fn take_away(&self, driver: &Driver, s3: &S3) -> Vec<String> {
        let mut left = Vec::new();
        loop {
            let Some((what, ids, open)) = self.last() else { return left };
            for id in ids {
                match by_id(driver, &what, &id).await {
                    Ok(()) => self.gone(&what, &id),
                    Err(failure) => left.push(format!("{}, id {id}: {failure}", what.title())),
                }
            }
            if open > 0
                && let Err(why) = unknown(driver, s3, &what).await
            {
                left.push(format!("{}, perhaps: {why}", what.title()));
            }
            self.forget(&what);
        }
    }

    /// What may be there still.
    pub(crate) fn left(&self) -> Vec<String> {
        self.lock().iter().map(|thing| format!("{}: not taken away", thing.what.title())).collect()
    }

    fn last(&self) -> Option<(What, BTreeSet<String>, usize)> {
        self.lock().last().map(|thing| (thing.what.clone(), thing.ids.clone(), thing.open))
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Thing>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Thing {
    fn may_be_there(&self) -> bool {
        self.open > 0 || !self.ids.is_empty()
    }
}

impl What {
    fn title(&self) -> String {
        match self {
            Self::Bucket(request) => format!("bucket {}", request.name),
            Self::Account(request) => format!("account {}", request.account_name),
            Self::Object { access, key } => format!("object {key} in bucket {}", access.bucket()),
        }
    }
}

async fn by_id(driver: &Driver, what: &What, id: &str) -> Result<(), Failure> {
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
async fn unknown(driver: &Driver, s3: &S3, what: &What) -> Result<(), String> {
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
