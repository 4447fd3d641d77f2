//! C37, C38: however often a grant is repeated, and wherever it is cut off, one account with one key is left.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use std::collections::BTreeMap;
use std::sync::Mutex;

use cosi_driver_sdk::{
    AccountId, AccountKey, Credentials, DriverError, ErrorKind, KeyedAccount, S3Credentials, Secret,
    async_trait, one_live_key,
};
use rstest::rstest;

/// What goes wrong in one call to the backend.
#[derive(Debug, Clone, Copy)]
enum Fault {
    /// Nothing was done.
    Before,
    /// It was done, and the answer was lost.
    After,
    /// It fails, and is done when so many more calls have begun.
    Late(usize),
}

/// A backend like AWS IAM, with at most one account of interest.
#[derive(Debug, Default)]
struct Iam {
    state: Mutex<State>,
    limit: usize,
    /// Whether the driver has a store for keys.
    remembers: bool,
}

#[derive(Debug, Default)]
struct State {
    accounts: usize,
    keys: Vec<Secret>,
    made: usize,
    stored: Option<AccountKey>,
    foreign: bool,
    calls: Vec<&'static str>,
    faults: BTreeMap<usize, Fault>,
    /// Keys that appear at the call with this number.
    late: BTreeMap<usize, Secret>,
}

impl Iam {
    /// With an account that has so many keys; `None`: without one.
    fn new(limit: usize, remembers: bool, keys: Option<usize>) -> Self {
        let mut state = State { accounts: usize::from(keys.is_some()), ..State::default() };
        for _ in 0..keys.unwrap_or(0) {
            let key = state.next_key();
            state.keys.push(key.id);
        }
        Self { state: Mutex::new(state), limit, remembers }
    }

    fn failing(self, faults: impl IntoIterator<Item = (usize, Fault)>) -> Self {
        self.state.lock().unwrap().faults = faults.into_iter().collect();
        self
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    fn call<T>(
        &self,
        what: &'static str,
        effect: impl FnOnce(&mut State) -> Result<T, DriverError>,
    ) -> Result<T, DriverError> {
        let mut state = self.state();
        let number = state.calls.len();
        state.calls.push(what);
        if let Some(key) = state.late.remove(&number) {
            state.keys.push(key);
        }
        match state.faults.remove(&number) {
            None => effect(&mut state),
            Some(Fault::Before) => Err(DriverError::unavailable("nothing was done")),
            Some(Fault::After) => {
                effect(&mut state)?;
                Err(DriverError::unavailable("the answer was lost"))
            }
            Some(Fault::Late(delay)) => {
                let key = state.next_key();
                state.late.insert(number + delay, key.id);
                Err(DriverError::unavailable("it takes a while"))
            }
        }
    }

    /// Grants until it succeeds; the number of tries, and the answer's key.
    async fn grant(&self) -> (usize, Secret) {
        for attempt in 1..10 {
            if let Ok((account, credentials)) = one_live_key(self).await {
                assert_eq!(account.as_str(), "account");
                return (attempt, key_of(credentials));
            }
        }
        panic!("no grant succeeds: {:?}", self.state());
    }

    fn assert_one_account_with(&self, key: &Secret) {
        let state = self.state();
        assert_eq!((state.accounts, &state.keys[..]), (1, std::slice::from_ref(key)), "{state:?}");
    }
}

impl State {
    fn next_key(&mut self) -> AccountKey {
        self.made += 1;
        let id = Secret::new(format!("canary-{}", self.made));
        let credentials =
            S3Credentials { access_key_id: id.clone(), access_secret_key: Secret::new("canary") };
        AccountKey { id, credentials: Credentials::S3(credentials) }
    }
}

fn key_of(credentials: Credentials) -> Secret {
    let Credentials::S3(s3) = credentials else { panic!("not for S3") };
    s3.access_key_id
}

#[async_trait]
impl KeyedAccount for Iam {
    async fn find(&self) -> Result<Option<AccountId>, DriverError> {
        self.call("find", |state| {
            if state.foreign {
                return Err(DriverError::already_exists("somebody else's"));
            }
            Ok((state.accounts > 0).then(|| "account".parse().unwrap()))
        })
    }

    async fn create(&self) -> Result<AccountId, DriverError> {
        self.call("create", |state| {
            state.accounts += 1;
            Ok("account".parse()?)
        })
    }

    async fn allow(&self, _: &AccountId) -> Result<(), DriverError> {
        self.call("allow", |_| Ok(()))
    }

    async fn keys(&self, _: &AccountId) -> Result<Vec<Secret>, DriverError> {
        self.call("keys", |state| Ok(state.keys.clone()))
    }

    async fn create_key(&self, _: &AccountId) -> Result<AccountKey, DriverError> {
        self.call("create_key", |state| {
            if state.keys.len() >= self.limit {
                return Err(DriverError::resource_exhausted("no more keys for this account"));
            }
            let key = state.next_key();
            state.keys.push(key.id.clone());
            Ok(key)
        })
    }

    async fn delete_key(&self, _: &AccountId, key: &Secret) -> Result<(), DriverError> {
        self.call("delete_key", |state| {
            state.keys.retain(|other| other != key);
            Ok(())
        })
    }

    fn most_keys(&self) -> usize {
        self.limit
    }

    async fn recall(&self, _: &AccountId) -> Result<Option<AccountKey>, DriverError> {
        if self.remembers { self.call("recall", |state| Ok(state.stored.clone())) } else { Ok(None) }
    }

    async fn remember(&self, _: &AccountId, key: &AccountKey) -> Result<(), DriverError> {
        let key = key.clone();
        if !self.remembers {
            return Ok(());
        }
        self.call("remember", |state| {
            state.stored = Some(key);
            Ok(())
        })
    }
}

/// More calls than any grant makes here.
const CALLS: usize = 16;

fn cut_off() -> impl Iterator<Item = (usize, Fault)> {
    (0..CALLS).flat_map(|number| [(number, Fault::Before), (number, Fault::After)])
}

/// Every account that a grant can find at the backend.
fn starts(limit: usize) -> impl Iterator<Item = Option<usize>> {
    [None].into_iter().chain((0..=limit).map(Some))
}

#[rstest]
#[tokio::test]
async fn a_grant_cut_off_anywhere_and_repeated_leaves_one_account_and_one_key(
    #[values(1, 2, 5)] limit: usize,
    #[values(false, true)] remembers: bool,
) {
    for (keys, fault) in starts(limit).flat_map(|keys| cut_off().map(move |fault| (keys, fault))) {
        let backend = Iam::new(limit, remembers, keys).failing([fault]);
        let (attempts, key) = backend.grant().await;
        backend.assert_one_account_with(&key);
        assert!(attempts <= 2, "{keys:?} keys, {fault:?}");
    }
}

#[rstest]
#[tokio::test]
async fn a_grant_cut_off_twice_and_repeated_leaves_one_account_and_one_key(
    #[values(1, 2)] limit: usize,
    #[values(false, true)] remembers: bool,
) {
    for keys in starts(limit) {
        for (one, two) in cut_off().flat_map(|one| cut_off().map(move |two| (one, two))) {
            let backend = Iam::new(limit, remembers, keys).failing([one, two]);
            let (attempts, key) = backend.grant().await;
            backend.assert_one_account_with(&key);
            assert!(attempts <= 3, "{keys:?} keys, {one:?}, {two:?}");
        }
    }
}

/// C37: lost answers, restarts.
#[tokio::test]
async fn ten_grants_leave_one_account_and_the_key_of_the_last() {
    let backend = Iam::new(2, false, None);
    let mut last = None;
    for _ in 0..10 {
        let (attempts, key) = backend.grant().await;
        assert_eq!(attempts, 1);
        assert_ne!(last.replace(key.clone()), Some(key.clone()));
        backend.assert_one_account_with(&key);
    }
}

#[tokio::test]
async fn a_driver_that_remembers_answers_the_same_key_again_and_again() {
    let backend = Iam::new(2, true, None);
    let (_, first) = backend.grant().await;
    for number in 0..CALLS {
        let calls = backend.state().calls.len();
        backend.state().faults.insert(calls + number, Fault::After);
        assert_eq!(backend.grant().await.1, first);
    }
    assert_eq!(backend.state().made, 1);
}

#[tokio::test]
async fn a_remembered_key_that_somebody_deleted_is_replaced() {
    let backend = Iam::new(2, true, None);
    let (_, first) = backend.grant().await;
    backend.state().keys.clear();
    let (_, second) = backend.grant().await;
    assert_ne!(first, second);
    backend.assert_one_account_with(&second);
    assert_eq!(backend.grant().await.1, second);
}

/// C38.
#[tokio::test]
async fn a_look_up_that_fails_makes_nothing() {
    let backend = Iam::new(2, false, Some(1)).failing([(0, Fault::Before)]);
    assert_eq!(one_live_key(&backend).await.unwrap_err().kind(), ErrorKind::Unavailable);
    assert_eq!(backend.state().calls, ["find"]);
}

/// C38, for keys: taken for "none", a list that fails would leave the old key alive.
#[tokio::test]
async fn a_list_of_keys_that_fails_makes_and_deletes_nothing() {
    let backend = Iam::new(2, false, Some(1)).failing([(2, Fault::Before)]);
    one_live_key(&backend).await.unwrap_err();
    assert_eq!(backend.state().calls, ["find", "allow", "keys"]);
}

/// COSI-GRANT-3.
#[tokio::test]
async fn an_account_of_somebody_else_is_refused_and_untouched() {
    let backend = Iam::new(2, false, Some(1));
    backend.state().foreign = true;
    assert_eq!(one_live_key(&backend).await.unwrap_err().kind(), ErrorKind::AlreadyExists);
    assert_eq!(backend.state().calls, ["find"]);
}

#[tokio::test]
async fn the_rights_are_there_before_the_key() {
    let backend = Iam::new(2, false, None);
    backend.grant().await;
    assert_eq!(backend.state().calls, ["find", "create", "allow", "keys", "create_key", "keys"]);
}

/// The oldest key may be the one in a user's Secret.
#[tokio::test]
async fn a_backend_that_makes_no_new_key_takes_no_old_one_away() {
    let backend = Iam::new(2, false, Some(1));
    let old = backend.state().keys[0].clone();
    for repeat in 0..4 {
        // After, the first time: a key is left that nobody knows.
        let fault = if repeat == 0 { Fault::After } else { Fault::Before };
        let calls = backend.state().calls.len();
        let surplus = usize::from(repeat == 1);
        backend.state().faults.insert(calls + 3 + surplus, fault);
        one_live_key(&backend).await.unwrap_err();
        assert_eq!(*backend.state().calls.last().unwrap(), "create_key");
        assert!(backend.state().keys.contains(&old));
    }
    let (_, new) = backend.grant().await;
    backend.assert_one_account_with(&new);
}

/// find, allow, keys, create_key; and the same again, and a list at the end.
#[rstest]
#[tokio::test]
async fn a_key_that_appears_late_does_not_outlive_the_repeated_grant(#[values(1, 2, 3, 4, 5)] delay: usize) {
    let backend = Iam::new(5, false, Some(0)).failing([(3, Fault::Late(delay))]);
    let (attempts, key) = backend.grant().await;
    assert_eq!(attempts, 2);
    assert!(backend.state().late.is_empty());
    backend.assert_one_account_with(&key);
}

#[tokio::test]
async fn a_key_that_appears_after_the_repeated_grant_does_not_outlive_the_next() {
    let backend = Iam::new(5, false, Some(0)).failing([(3, Fault::Late(6))]);
    backend.grant().await;
    let (_, key) = backend.grant().await;
    assert!(backend.state().late.is_empty());
    backend.assert_one_account_with(&key);
}

/// I7.
#[tokio::test]
async fn a_key_does_not_print_itself() {
    let backend = Iam::new(2, true, None);
    let answer = one_live_key(&backend).await;
    assert!(!format!("{answer:?} {backend:?}").contains("canary"));
}
