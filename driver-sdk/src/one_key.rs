//! One account, one live key: for backends that show a key's secret once, when it is made.

use async_trait::async_trait;

use crate::error::DriverError;
use crate::model::credentials::{Credentials, Secret};
use crate::model::ids::AccountId;

/// A key that the backend has just made, or that the driver has kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountKey {
    /// By which the backend lists and deletes it. Hidden, too: at some backends it is one half of the credentials.
    pub id: Secret,
    /// What the user gets.
    pub credentials: Credentials,
}

/// What the backend can do for the account of one grant. Made anew for each call, so that it can hold the request.
///
/// # Assumptions
/// - **A failure is an error.** A look-up that fails must not answer "absent", nor a list that fails "empty": an account
///   would be made twice, or keys would be left alive (C38, COSI-GEN-7).
/// - **Ownership is marked together with the making** (a path, a tag), so that [`find`](Self::find) can tell (COSI-GRANT-4).
/// - Each method may be called again after it failed, whether or not it had taken effect.
#[async_trait]
pub trait KeyedAccount: Send + Sync {
    /// The account of this grant; `None` only if the backend said that there is none. One of the same name that this grant did
    /// not make is `ALREADY_EXISTS` (COSI-GRANT-3).
    async fn find(&self) -> Result<Option<AccountId>, DriverError>;

    /// Makes the account.
    async fn create(&self) -> Result<AccountId, DriverError>;

    /// Gives the account exactly the rights asked for, before it gets a key. Called every time, so it must be safe to repeat.
    async fn allow(&self, account: &AccountId) -> Result<(), DriverError>;

    /// Ids of all keys of the account, the oldest first if the backend can tell.
    async fn keys(&self, account: &AccountId) -> Result<Vec<Secret>, DriverError>;

    /// Makes one more key.
    async fn create_key(&self, account: &AccountId) -> Result<AccountKey, DriverError>;

    /// Deletes a key; gone already is `Ok`.
    async fn delete_key(&self, account: &AccountId, key: &Secret) -> Result<(), DriverError>;

    /// How many keys an account can have at this backend. Two are enough (AWS IAM has two); with one, the old key has to go
    /// before the new one is made.
    fn most_keys(&self) -> usize {
        2
    }

    /// The key that [`remember`](Self::remember) stored last. The default is for a driver that stores none.
    async fn recall(&self, account: &AccountId) -> Result<Option<AccountKey>, DriverError> {
        let _ = account;
        Ok(None)
    }

    /// Stores a key durably, in place of the one before. With this and [`recall`](Self::recall) a repeated grant answers
    /// the same credentials, and not only working ones.
    async fn remember(&self, account: &AccountId, key: &AccountKey) -> Result<(), DriverError> {
        let _ = (account, key);
        Ok(())
    }
}

/// The account of a grant, and the one key of it that is alive.
///
/// ```
/// # use cosi_driver_sdk::{AccountId, Credentials, DriverError, KeyedAccount, one_live_key};
/// # async fn grant(account: impl KeyedAccount) -> Result<(AccountId, Credentials), DriverError> {
/// // In `Driver::grant_access`, with an `impl KeyedAccount` made from the request:
/// one_live_key(&account).await
/// # }
/// ```
///
/// # Guarantees
/// - After an `Ok` there is one account, and the key that is answered is its only one (C37).
/// - However often it fails or is cut off, and wherever: there is never a second account, and there are never more than two keys
///   (one, if [`most_keys`](KeyedAccount::most_keys) says so). The repeated call brings it in order again.
/// - Where there is room for two, the oldest key lives until the new one is there: a backend that fails half-way doesn't take
///   away a key that somebody may be using.
/// - With [`recall`](KeyedAccount::recall), the key that was remembered is answered again for as long as the backend has it.
///
/// # Assumptions
/// Those of [`KeyedAccount`], and that one call at a time runs for an account: the server sees to that
/// ([`Driver`](crate::Driver)). If a key that was asked for appears at the backend only after a later call has ended, it lives until
/// the call after that, or until the account is revoked.
///
/// # Errors
/// The first that the backend answers; nothing is cleaned up after it (R8).
pub async fn one_live_key(backend: &impl KeyedAccount) -> Result<(AccountId, Credentials), DriverError> {
    let account = match backend.find().await? {
        Some(account) => account,
        None => backend.create().await?,
    };
    backend.allow(&account).await?;
    let key = match remembered(backend, &account).await? {
        Some(key) => key,
        None => fresh(backend, &account).await?,
    };
    // Listed again: a key whose making had seemed to fail may have appeared by now.
    for other in backend.keys(&account).await?.iter().filter(|id| **id != key.id) {
        backend.delete_key(&account, other).await?;
    }
    Ok((account, key.credentials))
}

/// The key in the driver's own store, if it works: somebody may have deleted it at the backend.
async fn remembered(
    backend: &impl KeyedAccount,
    account: &AccountId,
) -> Result<Option<AccountKey>, DriverError> {
    let Some(key) = backend.recall(account).await? else { return Ok(None) };
    Ok(backend.keys(account).await?.contains(&key.id).then_some(key))
}

/// A new key. What an earlier call left behind goes first, or the backend's limit would be in the way for ever.
async fn fresh(backend: &impl KeyedAccount, account: &AccountId) -> Result<AccountKey, DriverError> {
    let keep_meanwhile = usize::from(backend.most_keys() > 1);
    for surplus in backend.keys(account).await?.iter().skip(keep_meanwhile) {
        backend.delete_key(account, surplus).await?;
    }
    let key = backend.create_key(account).await?;
    backend.remember(account, &key).await?;
    Ok(key)
}
