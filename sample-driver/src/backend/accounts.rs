//! Who may do what: the operator, and the accounts in the store's ledger. Whoever is neither may nothing.

use std::sync::Arc;

use s3s::{
    S3Error, S3Result,
    auth::{S3Auth, SecretKey},
    s3_error,
};

use crate::store::{BucketId, KeyPair, Scope, Store, StoreError};

/// What an operation does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Need {
    /// Reads objects of one bucket, or the list of them.
    Read,
    /// Changes objects of one bucket.
    Write,
    /// Looks at more than one bucket.
    Operate,
}

/// Everybody who may do something. Nothing is kept in memory: an account that was revoked is unknown to the next request.
#[derive(Clone, Debug)]
pub(crate) struct Accounts {
    operator: KeyPair,
    store: Arc<Store>,
}

impl Accounts {
    pub(crate) fn new(operator: KeyPair, store: Arc<Store>) -> Self {
        Self { operator, store }
    }

    /// The operator reads and writes objects in every bucket, and lists buckets.
    pub(crate) fn is_operator(&self, access_key: &str) -> bool {
        access_key == self.operator.access_key
    }

    /// # Errors
    /// `AccessDenied` if the holder of the access key may not do that with the bucket, or has been revoked.
    pub(crate) fn check(&self, access_key: &str, need: Need, bucket: &BucketId) -> S3Result<()> {
        let scope = if self.is_operator(access_key) {
            Scope { read: true, write: true }
        } else {
            self.store.scope(access_key, bucket).map_err(unreadable)?
        };
        let allowed = match need {
            Need::Read => scope.read,
            Need::Write => scope.write,
            Need::Operate => false,
        };
        if allowed { Ok(()) } else { Err(denied()) }
    }
}

/// In doubt, no.
fn unreadable(error: StoreError) -> S3Error {
    tracing::error!(cause = crate::chain::chain(&error), "an S3 request can't be checked");
    S3Error::internal_error(error)
}

pub(crate) fn denied() -> S3Error {
    s3_error!(AccessDenied, "Access Denied")
}

#[async_trait::async_trait]
impl S3Auth for Accounts {
    async fn get_secret_key(&self, access_key: &str) -> S3Result<SecretKey> {
        if self.is_operator(access_key) {
            return Ok(self.operator.secret.clone());
        }
        self.store.secret(access_key).map_err(unreadable)?.ok_or_else(|| s3_error!(InvalidAccessKeyId))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use tempfile::TempDir;

    use super::*;
    use crate::store::{AccountRequest, IdPrefix, Request};

    /// A store with `own-bucket` and `other-bucket`, and an operator.
    pub(crate) async fn world() -> (TempDir, Arc<Store>, Accounts) {
        let data = TempDir::new().unwrap();
        let store = Arc::new(Store::open(data.path(), IdPrefix::default()).unwrap());
        for name in ["own-bucket", "other-bucket"] {
            let request = Request { name: name.into(), protocols: [].into(), parameters: [].into() };
            store.create(request).await.unwrap();
        }
        let operator = KeyPair { access_key: "OPERATOR".into(), secret: "secret".into() };
        (data, Arc::clone(&store), Accounts::new(operator, store))
    }

    /// The key of an account on `own-bucket`.
    pub(crate) async fn account(store: &Store, name: &str, read: bool, write: bool) -> KeyPair {
        let buckets = [("own-bucket".parse().unwrap(), Scope { read, write })].into();
        store.grant(AccountRequest { name: name.into(), buckets }).await.unwrap()
    }

    #[tokio::test]
    async fn an_account_may_nothing_on_a_bucket_that_it_was_not_granted() {
        let (_data, store, accounts) = world().await;
        let reader = account(&store, "reader", true, false).await;
        let may = |key: &str, need, bucket: &str| accounts.check(key, need, &bucket.parse().unwrap()).is_ok();
        assert!(may(&reader.access_key, Need::Read, "own-bucket"));
        assert!(!may(&reader.access_key, Need::Write, "own-bucket"));
        assert!(!may(&reader.access_key, Need::Operate, "own-bucket"));
        assert!(!may(&reader.access_key, Need::Read, "other-bucket"));
        assert!(!may("NOBODY", Need::Read, "own-bucket"));
        assert!(may("OPERATOR", Need::Write, "other-bucket"));
    }

    #[tokio::test]
    async fn a_revoked_account_is_unknown_at_once() {
        let (_data, store, accounts) = world().await;
        let key = account(&store, "ba-1", true, true).await;
        assert_eq!(accounts.get_secret_key(&key.access_key).await.unwrap().expose(), key.secret.expose());
        store.revoke("ba-1").await.unwrap();
        assert!(accounts.get_secret_key(&key.access_key).await.is_err());
        assert!(accounts.check(&key.access_key, Need::Read, &"own-bucket".parse().unwrap()).is_err());
    }

    /// I7.
    #[tokio::test]
    async fn neither_the_operators_secret_nor_an_accounts_is_printed() {
        let (_data, store, accounts) = world().await;
        let key = account(&store, "ba-1", true, true).await;
        let printed = format!("{accounts:?}");
        assert!(!printed.contains("OPERATOR") && !printed.contains(key.secret.expose()), "{printed}");
    }
}
