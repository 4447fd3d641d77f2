//! What a check asked the driver to make, so that all of it can be taken away again, whatever became of the check.
//!
//! Each thing is written down before it is asked for. It is struck off when the driver says that it is gone; what the
//! driver refused was never there (COSI-ERR-10).

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::undo;
use crate::driver::failure::Failure;
use crate::driver::rpc::{Create, Grant};
use crate::driver::{Answer, Driver};
use crate::s3::{Access, S3};

/// Everything that may be there, in the order in which it was asked for.
#[derive(Default)]
pub(crate) struct Made {
    things: Mutex<Vec<Thing>>,
    /// What could not be taken away, and why.
    kept: Mutex<Vec<String>>,
}

struct Thing {
    what: What,
    /// What it may be called by.
    ids: BTreeSet<String>,
    /// Calls of which it is not known what they made.
    open: usize,
}

/// One thing, by what it was asked for.
#[derive(Clone, PartialEq)]
pub(super) enum What {
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
        // It keeps its place: an object goes before its bucket.
        let place = things.iter().position(|thing| thing.what == what).unwrap_or(things.len());
        if place == things.len() {
            things.push(Thing { what, ids: BTreeSet::new(), open: 0 });
        }
        match (things.get_mut(place), id) {
            (Some(thing), Some(id)) => drop(thing.ids.insert(id.to_owned())),
            (Some(thing), None) => thing.open += 1,
            (None, _) => {}
        }
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
                thing.open = thing.open.saturating_sub(1);
            }
            Err(failure) if failure.is_refusal() => thing.open = thing.open.saturating_sub(1),
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

    /// Takes everything away, the last first.
    ///
    /// # Cancellation
    /// What was not taken away is told by [`left`](Self::left) in any case.
    pub(crate) async fn take_away(&self, driver: &Driver, s3: &S3) {
        while let Some((what, ids, open)) = self.last() {
            for id in ids {
                match undo::by_id(driver, &what, &id).await {
                    Ok(()) => self.gone(&what, &id),
                    Err(failure) => self.keep(format!("{}, id {id}: {failure}", what.title())),
                }
            }
            if open > 0
                && let Err(why) = undo::unknown(driver, s3, &what).await
            {
                self.keep(format!("{}, perhaps: {why}", what.title()));
            }
            self.forget(&what);
        }
    }

    /// What may be there still, and why.
    pub(crate) fn left(&self) -> Vec<String> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let untried =
            self.lock().iter().map(|thing| format!("{}: not taken away", thing.what.title())).collect();
        [kept, untried].concat()
    }

    fn keep(&self, why: String) {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).push(why);
    }

    fn last(&self) -> Option<(What, BTreeSet<String>, usize)> {
        self.lock().last().map(|thing| (thing.what.clone(), thing.ids.clone(), thing.open))
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Thing>> {
        self.things.lock().unwrap_or_else(PoisonError::into_inner)
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
