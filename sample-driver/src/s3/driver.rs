//! The COSI side: each RPC as a few calls to the service.

use cosi_driver_sdk::{
    AccountId, AccountName, Bucket, BucketId, BucketName, CallContext, CreateBucketRequest,
    DeleteBucketByNameRequest, DeleteBucketRequest, Driver, DriverError, DriverInfo, Fingerprint,
    GetExistingBucketRequest, GrantAccessRequest, GrantedAccess, NameLedger, Parameters,
    RevokeAccessByNameRequest, RevokeAccessRequest, async_trait, one_live_key,
};

use super::{
    account::Account,
    owned::{Owned, is_marked_by},
    policy, request,
    seam::{Tagged, Users},
};
use crate::driver::Profile;

/// A driver for the buckets and users of one service. A bucket's id is its name, and an account's id is the user's.
///
/// # Guarantees
/// A create is refused with `ALREADY_EXISTS` exactly if the bucket wasn't made for the same name, protocols and parameters,
/// and exactly then a delete by name with the same fields leaves it alone (I4); likewise a grant and a revoke by name. Where a
/// call was cut off between making and marking, the repeated call and the undo find what was made, by the ledger.
///
/// # Assumptions
/// Nobody else makes buckets or users of these names with the same credentials, and no second copy of the driver runs with
/// another ledger.
pub struct S3Driver<B, U> {
    buckets: B,
    users: U,
    ledger: NameLedger,
    profile: Profile,
}

impl<B: Tagged, U: Users> S3Driver<B, U> {
    /// A driver for this service, with this face to the world.
    pub fn new(buckets: B, users: U, ledger: NameLedger, profile: Profile) -> Self {
        Self { buckets, users, ledger, profile }
    }

    fn bucket<'a>(&'a self, name: &'a str, request: impl Into<Fingerprint>) -> Owned<'a, B, BucketId> {
        Owned::new(&self.buckets, self.ledger.buckets(), &self.profile.info, name, request)
    }

    fn user<'a>(&'a self, name: &'a str, request: impl Into<Fingerprint>) -> Owned<'a, U, AccountId> {
        Owned::new(&self.users, self.ledger.accounts(), &self.profile.info, name, request)
    }

    fn described(&self, id: BucketId) -> Bucket {
        Bucket { info: self.profile.bucket_info(id.as_str()).into(), id }
    }

    /// A grant on a bucket that isn't there would give rights on whoever makes one of that name (protocol: refused).
    async fn check_buckets(&self, request: &GrantAccessRequest) -> Result<(), DriverError> {
        for bucket in &request.buckets {
            if self.buckets.tags(bucket.bucket_id.as_str()).await?.is_none() {
                return Err(DriverError::failed_precondition(format!(
                    "there is no bucket {}",
                    bucket.bucket_id
                )));
            }
        }
        Ok(())
    }

    /// An account id is text in an object's status: it must not be a way to delete any user of the service.
    async fn check_user(&self, id: &AccountId) -> Result<(), DriverError> {
        let Some(tags) = self.users.tags(id.as_str()).await? else { return Ok(()) };
        let ours = match is_marked_by(&tags, &self.profile.info, id.as_str()) {
            Some(ours) => ours,
            None => self.ledger.accounts().find(id).await?.is_some(),
        };
        if ours {
            return Ok(());
        }
        Err(DriverError::failed_precondition(format!(
            "user {id} bears no mark of this driver, which deletes only users that it has made; delete the user at the service"
        )))
    }
}

#[async_trait]
impl<B: Tagged, U: Users> Driver for S3Driver<B, U> {
    fn info(&self) -> DriverInfo {
        self.profile.info.clone()
    }

    fn bucket_id_for(&self, name: &BucketName, _: &Parameters) -> Option<BucketId> {
        BucketId::new(name.as_str()).ok()
    }

    fn account_id_for(&self, name: &AccountName, _: &Parameters) -> Option<AccountId> {
        AccountId::new(name.as_str()).ok()
    }

    async fn create_bucket(
        &self,
        _: &CallContext,
        asked: CreateBucketRequest,
    ) -> Result<Bucket, DriverError> {
        request::check_create(&asked)?;
        let bucket = self.bucket(asked.name.as_str(), &asked);
        if !bucket.find().await? {
            bucket.make().await?;
        }
        tokio::time::sleep(self.profile.create_delay).await;
        Ok(self.described(BucketId::new(asked.name.as_str())?))
    }

    async fn delete_bucket(&self, _: &CallContext, asked: DeleteBucketRequest) -> Result<(), DriverError> {
        // An id that no bucket can have names nothing that could be deleted.
        if !request::is_bucket(asked.bucket_id.as_str()) {
            return Ok(());
        }
        self.buckets.delete(asked.bucket_id.as_str()).await?;
        Ok(self.ledger.buckets().forget(&asked.bucket_id).await?)
    }

    async fn get_existing_bucket(
        &self,
        _: &CallContext,
        asked: GetExistingBucketRequest,
    ) -> Result<Bucket, DriverError> {
        request::check_existing(&asked)?;
        let id = asked.bucket_id;
        if request::is_bucket(id.as_str()) && self.buckets.tags(id.as_str()).await?.is_some() {
            return Ok(self.described(id));
        }
        Err(DriverError::not_found(format!("there is no bucket {id}")))
    }

    async fn delete_bucket_by_name(
        &self,
        _: &CallContext,
        asked: DeleteBucketByNameRequest,
    ) -> Result<(), DriverError> {
        let name = asked.name.as_str();
        if request::is_bucket(name) { self.bucket(name, &asked).undo().await } else { Ok(()) }
    }

    async fn grant_access(
        &self,
        _: &CallContext,
        asked: GrantAccessRequest,
    ) -> Result<GrantedAccess, DriverError> {
        request::check_grant(&asked)?;
        let policy = policy::document(&asked.buckets)?;
        self.check_buckets(&asked).await?;
        let name = asked.account_name.as_str();
        let (owned, id) = (self.user(name, &asked), AccountId::new(name)?);
        let (account_id, credentials) =
            one_live_key(&Account { users: &self.users, owned, id, policy }).await?;
        tracing::info!(account = %asked.account_name, "the account is there");
        tokio::time::sleep(self.profile.grant_delay).await;
        let ids = asked.buckets.iter().map(|bucket| bucket.bucket_id.clone());
        let buckets = ids.map(|id| (id.clone(), self.profile.bucket_info(id.as_str()).into())).collect();
        Ok(GrantedAccess { account_id, buckets, credentials })
    }

    async fn revoke_access(&self, _: &CallContext, asked: RevokeAccessRequest) -> Result<(), DriverError> {
        let id = asked.account_id;
        if !request::is_user(id.as_str()) {
            return Ok(());
        }
        self.check_user(&id).await?;
        self.users.delete(id.as_str()).await?;
        Ok(self.ledger.accounts().forget(&id).await?)
    }

    async fn revoke_access_by_name(
        &self,
        _: &CallContext,
        asked: RevokeAccessByNameRequest,
    ) -> Result<(), DriverError> {
        let name = asked.account_name.as_str();
        if request::is_user(name) { self.user(name, &asked).undo().await } else { Ok(()) }
    }
}
