//! A service in memory that does badly when a test says so.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard},
};

use cosi_driver_sdk::{AccountKey, Credentials, DriverError, ErrorKind, S3Credentials, Secret, async_trait};

use crate::s3::seam::{Made, Tagged, Tags, Users};

/// What goes wrong at one call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fault {
    /// Not done, and answered with an error of this kind.
    Refused(ErrorKind),
    /// Done, but the answer is lost.
    Lost,
}

#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub(super) struct Thing {
    pub(super) tags: Tags,
    pub(super) policy: String,
    pub(super) keys: Vec<String>,
}

#[derive(Default)]
pub(super) struct State {
    pub(super) things: BTreeMap<String, Thing>,
    /// Names of all calls so far.
    pub(super) calls: Vec<&'static str>,
    pub(super) fault: Option<(usize, Fault)>,
    /// Somebody else makes this just before we do.
    pub(super) rival: Option<String>,
    /// Making what is there already is answered as if it had been made.
    pub(super) says_made: bool,
    /// The most keys that one user had.
    pub(super) most_keys: usize,
    next_key: usize,
}

/// Buckets, or users. Clones are the same ones. Tags given along with the making are lost, as at some services.
#[derive(Clone, Default)]
pub(super) struct Fake(Arc<Mutex<State>>);

impl Fake {
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }

    pub(super) fn put(&self, name: &str, tags: &[(&str, &str)]) {
        let tags = tags.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        self.state().things.insert(name.to_owned(), Thing { tags, ..Thing::default() });
    }

    pub(super) fn names(&self) -> Vec<String> {
        self.state().things.keys().cloned().collect()
    }

    /// From now on, calls counted anew.
    pub(super) fn fail(&self, fault: Option<(usize, Fault)>) {
        let mut state = self.state();
        state.calls.clear();
        state.fault = fault;
    }

    fn call<T>(
        &self,
        name: &'static str,
        effect: impl FnOnce(&mut State) -> Result<T, DriverError>,
    ) -> Result<T, DriverError> {
        let mut state = self.state();
        let number = state.calls.len();
        state.calls.push(name);
        match state.fault.filter(|(at, _)| *at == number) {
            None => effect(&mut state),
            Some((_, Fault::Refused(kind))) => Err(DriverError::new(kind, "told to fail")),
            Some((_, Fault::Lost)) => {
                let _lost = effect(&mut state);
                Err(DriverError::unavailable("told to lose the answer"))
            }
        }
    }
}

fn absent() -> DriverError {
    DriverError::aborted("absent")
}

#[async_trait]
impl Tagged for Fake {
    async fn tags(&self, name: &str) -> Result<Option<Tags>, DriverError> {
        self.call("tags", |state| Ok(state.things.get(name).map(|thing| thing.tags.clone())))
    }

    async fn make(&self, name: &str, _: &Tags) -> Result<Made, DriverError> {
        self.call("make", |state| {
            if let Some(rival) = state.rival.take() {
                state.things.insert(rival, Thing::default());
            }
            if state.things.contains_key(name) {
                return Ok(if state.says_made { Made::New } else { Made::Taken });
            }
            state.things.insert(name.to_owned(), Thing::default());
            Ok(Made::New)
        })
    }

    async fn tag(&self, name: &str, tags: &Tags) -> Result<(), DriverError> {
        self.call("tag", |state| {
            state.things.get_mut(name).ok_or_else(absent)?.tags = tags.clone();
            Ok(())
        })
    }

    async fn delete(&self, name: &str) -> Result<(), DriverError> {
        self.call("delete", |state| {
            state.things.remove(name);
            Ok(())
        })
    }
}

#[async_trait]
impl Users for Fake {
    async fn allow(&self, user: &str, policy: &str) -> Result<(), DriverError> {
        self.call("allow", |state| {
            policy.clone_into(&mut state.things.get_mut(user).ok_or_else(absent)?.policy);
            Ok(())
        })
    }

    async fn keys(&self, user: &str) -> Result<Vec<Secret>, DriverError> {
        self.call("keys", |state| {
            let thing = state.things.get(user).ok_or_else(absent)?;
            Ok(thing.keys.iter().map(Secret::new).collect())
        })
    }

    async fn create_key(&self, user: &str) -> Result<AccountKey, DriverError> {
        self.call("create key", |state| {
            state.next_key += 1;
            let id = format!("key-{}", state.next_key);
            let thing = state.things.get_mut(user).ok_or_else(absent)?;
            thing.keys.push(id.clone());
            state.most_keys = state.most_keys.max(thing.keys.len());
            let credentials =
                S3Credentials { access_key_id: Secret::new(&id), access_secret_key: Secret::new("secret") };
            Ok(AccountKey { id: Secret::new(id), credentials: Credentials::S3(credentials) })
        })
    }

    async fn delete_key(&self, user: &str, key: &Secret) -> Result<(), DriverError> {
        self.call("delete key", |state| {
            state.things.get_mut(user).ok_or_else(absent)?.keys.retain(|id| id != key.expose());
            Ok(())
        })
    }
}
