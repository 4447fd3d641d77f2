//! The COSI side: each RPC as one call to the [`Store`], and its errors as gRPC codes.

mod accounts;
mod errors;
mod parameters;

use std::{sync::Arc, time::Duration};

use cosi_driver_sdk::{
    AccountId, AccountName, AddressingStyle, Bucket, BucketId, BucketName, CallContext, CreateBucketRequest,
    DeleteBucketByNameRequest, DeleteBucketRequest, Driver, DriverError, DriverInfo,
    GetExistingBucketRequest, GrantAccessRequest, GrantedAccess, Parameters, RevokeAccessByNameRequest,
    RevokeAccessRequest, S3BucketInfo, async_trait,
};

use crate::store::{self, Request, Store};

/// What the driver tells about itself and about its buckets.
#[derive(Clone, Debug)]
pub struct Profile {
    /// Name and protocols.
    pub info: DriverInfo,
    /// URL at which users reach the S3 server.
    pub endpoint: String,
    /// Region that users sign for.
    pub region: String,
    /// How a bucket's name goes into a URL.
    pub addressing_style: AddressingStyle,
    /// How long to wait after a bucket was made before saying so: plays a slow backend.
    pub create_delay: Duration,
    /// The same, after an account was made.
    pub grant_delay: Duration,
}

impl Profile {
    /// How users find a bucket.
    #[must_use]
    pub fn bucket_info(&self, id: &str) -> S3BucketInfo {
        S3BucketInfo {
            bucket_id: id.to_owned(),
            endpoint: self.endpoint.clone(),
            region: self.region.clone(),
            addressing_style: self.addressing_style,
        }
    }
}

/// A driver for the buckets and accounts of one store.
///
/// # Guarantees
/// A create is refused with `ALREADY_EXISTS` exactly if the bucket wasn't made for the same name, protocols and parameters,
/// and exactly then a delete by name with the same fields leaves it alone (I4). Likewise a grant, and a revoke by name, for an
/// account that wasn't made for the same name and buckets. A repeated grant answers the same credentials.
#[derive(Debug)]
pub struct SampleDriver {
    store: Arc<Store>,
    profile: Profile,
}

impl SampleDriver {
    /// A driver for `store` with this face to the world.
    #[must_use]
    pub fn new(store: Arc<Store>, profile: Profile) -> Self {
        Self { store, profile }
    }

    fn bucket(&self, id: &store::BucketId) -> Result<Bucket, DriverError> {
        Ok(Bucket { id: BucketId::new(id.as_str())?, info: self.profile.bucket_info(id.as_str()).into() })
    }
}

#[async_trait]
impl Driver for SampleDriver {
    fn info(&self) -> DriverInfo {
        self.profile.info.clone()
    }

    fn bucket_id_for(&self, name: &BucketName, _: &Parameters) -> Option<BucketId> {
        let id = self.store.id_for(name.as_str()).ok()?;
        BucketId::new(id.as_str()).ok()
    }

    fn account_id_for(&self, name: &AccountName, _: &Parameters) -> Option<AccountId> {
        AccountId::new(name.as_str()).ok()
    }

    async fn create_bucket(
        &self,
        _: &CallContext,
        request: CreateBucketRequest,
    ) -> Result<Bucket, DriverError> {
        parameters::check(&request.protocols, &request.parameters)?;
        let id = self
            .store
            .create(parameters::request(&request.name, &request.protocols, &request.parameters))
            .await?;
        tokio::time::sleep(self.profile.create_delay).await;
        self.bucket(&id)
    }

    async fn delete_bucket(&self, _: &CallContext, request: DeleteBucketRequest) -> Result<(), DriverError> {
        // An id that no bucket here can have names nothing that could be deleted.
        let Ok(id) = request.bucket_id.as_str().parse() else { return Ok(()) };
        Ok(self.store.delete(&id, parameters::contents(&request.parameters)).await?)
    }

    async fn get_existing_bucket(
        &self,
        _: &CallContext,
        request: GetExistingBucketRequest,
    ) -> Result<Bucket, DriverError> {
        parameters::check(&request.protocols, &request.parameters)?;
        let missing = || DriverError::not_found(format!("there is no bucket {}", request.bucket_id));
        let id: store::BucketId = request.bucket_id.as_str().parse().map_err(|_| missing())?;
        if self.store.exists(&id)? { self.bucket(&id) } else { Err(missing()) }
    }

    async fn delete_bucket_by_name(
        &self,
        _: &CallContext,
        request: DeleteBucketByNameRequest,
    ) -> Result<(), DriverError> {
        let contents = parameters::contents(&request.parameters);
        let request: Request = parameters::request(&request.name, &request.protocols, &request.parameters);
        Ok(self.store.delete_by_name(request, contents).await?)
    }

    async fn grant_access(
        &self,
        _: &CallContext,
        request: GrantAccessRequest,
    ) -> Result<GrantedAccess, DriverError> {
        let key = self.store.grant(accounts::wanted(&request)?).await?;
        tracing::info!(account = %request.account_name, "the account is there");
        tokio::time::sleep(self.profile.grant_delay).await;
        let ids = request.buckets.into_iter().map(|bucket| bucket.bucket_id);
        Ok(GrantedAccess {
            account_id: AccountId::new(request.account_name)?,
            buckets: ids.map(|id| (id.clone(), self.profile.bucket_info(id.as_str()).into())).collect(),
            credentials: accounts::credentials(key),
        })
    }

    async fn revoke_access(&self, _: &CallContext, request: RevokeAccessRequest) -> Result<(), DriverError> {
        Ok(self.store.revoke(request.account_id.as_str()).await?)
    }

    async fn revoke_access_by_name(
        &self,
        _: &CallContext,
        request: RevokeAccessByNameRequest,
    ) -> Result<(), DriverError> {
        match accounts::undone(&request) {
            Some(buckets) => Ok(self.store.revoke_by_name(request.account_name.as_str(), buckets).await?),
            // No grant accepts these fields, so no grant made anything.
            None => Ok(()),
        }
    }
}
