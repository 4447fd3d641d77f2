//! One user, one live key.

use cosi_driver_sdk::{AccountId, AccountKey, DriverError, KeyedAccount, Secret, async_trait};

use super::{owned::Owned, seam::Users};

/// The user of one grant.
pub(super) struct Account<'a, U> {
    pub(super) users: &'a U,
    pub(super) owned: Owned<'a, U, AccountId>,
    pub(super) id: AccountId,
    pub(super) policy: String,
}

/// Two keys at most, as IAM has it. No secret is kept here: a repeated grant answers a new key, and the old one ends.
#[async_trait]
impl<U: Users> KeyedAccount for Account<'_, U> {
    async fn find(&self) -> Result<Option<AccountId>, DriverError> {
        Ok(self.owned.find().await?.then(|| self.id.clone()))
    }

    async fn create(&self) -> Result<AccountId, DriverError> {
        self.owned.make().await?;
        Ok(self.id.clone())
    }

    async fn allow(&self, account: &AccountId) -> Result<(), DriverError> {
        self.users.allow(account.as_str(), &self.policy).await
    }

    async fn keys(&self, account: &AccountId) -> Result<Vec<Secret>, DriverError> {
        self.users.keys(account.as_str()).await
    }

    async fn create_key(&self, account: &AccountId) -> Result<AccountKey, DriverError> {
        self.users.create_key(account.as_str()).await
    }

    async fn delete_key(&self, account: &AccountId, key: &Secret) -> Result<(), DriverError> {
        self.users.delete_key(account.as_str(), key).await
    }
}
