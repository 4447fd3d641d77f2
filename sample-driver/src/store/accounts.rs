//! What a store does for accounts.

use std::{collections::BTreeSet, sync::Arc};

use s3s::auth::SecretKey;

use super::{AccountRequest, BucketId, GrantError, KeyPair, Scope, Store, StoreError, in_turn};

impl Store {
    /// Makes the account for `request`, or finds the one that the same request made before, key pair included.
    ///
    /// One that is found has rights again on buckets that were made anew; one that is not found needs all of its buckets.
    ///
    /// # Errors
    /// See [`GrantError`].
    pub async fn grant(&self, request: AccountRequest) -> Result<KeyPair, GrantError> {
        let disk = Arc::clone(&self.disk);
        in_turn((), move || disk.ledger.grant(&request, |id| disk.folders.exists(id))).await
    }

    /// Takes an account away. Its key is dead on return; one that isn't there is "already gone".
    ///
    /// # Errors
    /// When the ledger fails.
    pub async fn revoke(&self, name: &str) -> Result<(), StoreError> {
        let (disk, name) = (Arc::clone(&self.disk), name.to_owned());
        in_turn((), move || disk.ledger.revoke(&name, |_| true)).await
    }

    /// Undoes [`Store::grant`] of this name with these buckets; an account that was made for others is left alone.
    ///
    /// # Errors
    /// When the ledger fails.
    pub async fn revoke_by_name(&self, name: &str, buckets: BTreeSet<BucketId>) -> Result<(), StoreError> {
        let (disk, name) = (Arc::clone(&self.disk), name.to_owned());
        in_turn((), move || disk.ledger.revoke(&name, |request| request.buckets.keys().eq(&buckets))).await
    }

    /// Names of all accounts, sorted.
    ///
    /// # Errors
    /// When the ledger fails.
    pub fn accounts(&self) -> Result<Vec<String>, StoreError> {
        self.disk.ledger.account_names()
    }

    /// The secret that belongs to an access key, if an account has it.
    pub(crate) fn secret(&self, access_key: &str) -> Result<Option<SecretKey>, StoreError> {
        self.disk.ledger.secret(access_key)
    }

    /// What the holder of an access key may do with a bucket.
    pub(crate) fn scope(&self, access_key: &str, bucket: &BucketId) -> Result<Scope, StoreError> {
        self.disk.ledger.scope(access_key, bucket)
    }
}
