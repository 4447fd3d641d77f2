//! Who may do what: a table from access key to secret and rights. Whoever isn't in it may nothing.

use std::{
    collections::HashMap,
    sync::{Arc, PoisonError, RwLock},
};

use s3s::{
    S3Result,
    auth::{S3Auth, SecretKey},
    s3_error,
};

use crate::store::BucketId;

/// What an account may do with the objects of one bucket.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Scope {
    /// Get objects and list them.
    pub read: bool,
    /// Put and delete objects.
    pub write: bool,
}

/// What an account may do at all. Nobody may make or delete buckets over S3.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Rights {
    /// Read and write objects in every bucket, list buckets.
    Operator,
    /// Only what stands here.
    Buckets(HashMap<BucketId, Scope>),
}

impl Rights {
    /// What is allowed on one bucket.
    #[must_use]
    pub fn on(&self, bucket: &BucketId) -> Scope {
        match self {
            Self::Operator => Scope { read: true, write: true },
            Self::Buckets(scopes) => {
                scopes.get(bucket).copied().unwrap_or(Scope { read: false, write: false })
            }
        }
    }
}

#[derive(Debug)]
struct Account {
    secret: SecretKey,
    rights: Arc<Rights>,
}

/// The table. Clones share it; changes hold for the next request.
#[derive(Clone, Default, Debug)]
pub struct Accounts(Arc<RwLock<HashMap<String, Account>>>);

impl Accounts {
    /// Adds an account, or replaces the one with this access key.
    pub fn put(&self, access_key: &str, secret: impl Into<SecretKey>, rights: Rights) {
        let account = Account { secret: secret.into(), rights: Arc::new(rights) };
        self.0.write().unwrap_or_else(PoisonError::into_inner).insert(access_key.to_owned(), account);
    }

    /// Takes an account away; unknown ones are gone already.
    pub fn remove(&self, access_key: &str) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).remove(access_key);
    }

    fn find<T>(&self, access_key: &str, pick: impl FnOnce(&Account) -> T) -> Option<T> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).get(access_key).map(pick)
    }

    pub(crate) fn rights(&self, access_key: &str) -> Option<Arc<Rights>> {
        self.find(access_key, |account| Arc::clone(&account.rights))
    }
}

#[async_trait::async_trait]
impl S3Auth for Accounts {
    async fn get_secret_key(&self, access_key: &str) -> S3Result<SecretKey> {
        self.find(access_key, |account| account.secret.clone()).ok_or_else(|| s3_error!(InvalidAccessKeyId))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_may_nothing_on_a_bucket_that_its_rights_do_not_name() {
        let own: BucketId = "own-bucket".parse().unwrap();
        let other: BucketId = "other-bucket".parse().unwrap();
        let rights = Rights::Buckets([(own.clone(), Scope { read: true, write: false })].into());
        assert_eq!(rights.on(&own), Scope { read: true, write: false });
        assert_eq!(rights.on(&other), Scope { read: false, write: false });
    }

    #[test]
    fn the_table_does_not_print_secrets() {
        let accounts = Accounts::default();
        accounts.put("AKEXAMPLE", "canary-secret", Rights::Operator);
        assert!(!format!("{accounts:?}").contains("canary-secret"));
    }

    #[tokio::test]
    async fn a_removed_account_is_unknown_at_once() {
        let accounts = Accounts::default();
        accounts.put("AKEXAMPLE", "secret", Rights::Operator);
        assert!(accounts.get_secret_key("AKEXAMPLE").await.is_ok());
        accounts.remove("AKEXAMPLE");
        assert!(accounts.get_secret_key("AKEXAMPLE").await.is_err());
        assert!(accounts.rights("AKEXAMPLE").is_none());
    }
}
