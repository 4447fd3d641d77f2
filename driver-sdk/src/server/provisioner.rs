//! The Provisioner service: for each RPC, what it works on, and how the driver's answer becomes the wire's.

use cosi_proto::v1alpha2 as proto;
use proto::provisioner_server::Provisioner;
use tonic::{Request, Response, Status, async_trait};

use super::calls::{Calls, Plan, Running};
use crate::error::DriverError;
use crate::guard::Key;
use crate::model::ids::{AccountName, BucketName};
use crate::model::info::DriverInfo;
use crate::model::parameters::Parameters;
use crate::model::protocol::Protocol;
use crate::model::requests::{
    CreateBucketRequest, DeleteBucketByNameRequest, DeleteBucketRequest, GetExistingBucketRequest,
    GrantAccessRequest, RevokeAccessByNameRequest, RevokeAccessRequest,
};
use crate::wire::answer::{self, Wanted};
use crate::wire::request::FromWire;

/// Hands each request, checked, to the driver.
pub(crate) struct ProvisionerService {
    calls: Calls,
    info: DriverInfo,
}

type Answer<T> = Result<Response<T>, Status>;

/// What a request works on, and what to call it in the trace.
struct Target {
    subject: String,
    keys: Vec<Key>,
}

impl Target {
    fn one(subject: impl Into<String>, key: Key) -> Self {
        Self { subject: subject.into(), keys: vec![key] }
    }
}

impl ProvisionerService {
    pub(crate) fn new(calls: Calls, info: DriverInfo) -> Self {
        Self { calls, info }
    }

    /// COSI-CREATE-5. Not asked when something is to go: what an earlier version of the driver made may still be there.
    fn supports<'a>(&self, wanted: impl IntoIterator<Item = &'a Protocol>) -> Result<(), DriverError> {
        match wanted.into_iter().find(|protocol| !self.info.protocols().contains(protocol)) {
            Some(unknown) => Err(DriverError::invalid_argument(format!(
                "protocol {unknown} is not supported by driver {}",
                self.info.name()
            ))),
            None => Ok(()),
        }
    }

    async fn call<W, R, A, F>(
        &self,
        rpc: &'static str,
        request: Request<W>,
        target: impl FnOnce(&R) -> Result<Target, DriverError>,
        work: impl FnOnce(Running, R) -> F + Send + 'static,
    ) -> Answer<A>
    where
        R: FromWire<W> + Send + 'static,
        A: Send + 'static,
        F: Future<Output = Result<A, DriverError>> + Send,
    {
        let (mut plan, message) = Plan::of(rpc, request);
        let checked = R::from_wire(message).map_err(DriverError::from);
        let (target, request) = match checked.and_then(|request| Ok((target(&request)?, request))) {
            Ok(understood) => understood,
            Err(error) => return Err(self.calls.refuse(&plan, error)),
        };
        (plan.info.subject, plan.keys) = (target.subject, target.keys);
        self.calls.run(plan, |running| work(running, request)).await
    }

    fn bucket_name(&self, name: &BucketName, parameters: &Parameters) -> Result<Target, DriverError> {
        let id = self.calls.ask(|driver| driver.bucket_id_for(name, parameters))?;
        let keys = [Some(Key::BucketName(name.clone())), id.map(Key::BucketId)];
        Ok(Target { subject: name.clone().into(), keys: keys.into_iter().flatten().collect() })
    }

    fn account_name(&self, name: &AccountName, parameters: &Parameters) -> Result<Target, DriverError> {
        let id = self.calls.ask(|driver| driver.account_id_for(name, parameters))?;
        let keys = [Some(Key::AccountName(name.clone())), id.map(Key::AccountId)];
        Ok(Target { subject: name.clone().into(), keys: keys.into_iter().flatten().collect() })
    }
}

#[async_trait]
impl Provisioner for ProvisionerService {
    async fn driver_create_bucket(
        &self,
        request: Request<proto::DriverCreateBucketRequest>,
    ) -> Answer<proto::DriverCreateBucketResponse> {
        let target = |request: &CreateBucketRequest| {
            self.supports(&request.protocols)?;
            self.bucket_name(&request.name, &request.parameters)
        };
        self.call("DriverCreateBucket", request, target, |call, request: CreateBucketRequest| async move {
            let (name, wanted) = (request.name.clone(), request.protocols.clone());
            let made = call.driver.create_bucket(&call.context, request).await?;
            call.claim.made(Key::BucketName(name), Key::BucketId(made.id.clone()))?;
            let (bucket_id, protocols) = answer::bucket(made, &wanted)?;
            Ok(proto::DriverCreateBucketResponse { bucket_id, protocols: Some(protocols) })
        })
        .await
    }

    async fn driver_get_existing_bucket(
        &self,
        request: Request<proto::DriverGetExistingBucketRequest>,
    ) -> Answer<proto::DriverGetExistingBucketResponse> {
        let target = |request: &GetExistingBucketRequest| {
            self.supports(&request.protocols)?;
            let id = &request.bucket_id;
            Ok(Target::one(id.as_str(), Key::BucketId(id.clone())))
        };
        let work = |call: Running, request: GetExistingBucketRequest| async move {
            let wanted = request.protocols.clone();
            let found = call.driver.get_existing_bucket(&call.context, request).await?;
            let (bucket_id, protocols) = answer::bucket(found, &wanted)?;
            Ok(proto::DriverGetExistingBucketResponse { bucket_id, protocols: Some(protocols) })
        };
        self.call("DriverGetExistingBucket", request, target, work).await
    }

    async fn driver_delete_bucket(
        &self,
        request: Request<proto::DriverDeleteBucketRequest>,
    ) -> Answer<proto::DriverDeleteBucketResponse> {
        let target = |request: &DeleteBucketRequest| {
            let id = &request.bucket_id;
            Ok(Target::one(id.as_str(), Key::BucketId(id.clone())))
        };
        self.call("DriverDeleteBucket", request, target, |call, request| async move {
            call.driver.delete_bucket(&call.context, request).await?;
            call.claim.gone();
            Ok(proto::DriverDeleteBucketResponse {})
        })
        .await
    }

    async fn driver_grant_bucket_access(
        &self,
        request: Request<proto::DriverGrantBucketAccessRequest>,
    ) -> Answer<proto::DriverGrantBucketAccessResponse> {
        let target = |request: &GrantAccessRequest| {
            self.supports([&request.protocol])?;
            self.account_name(&request.account_name, &request.parameters)
        };
        self.call(
            "DriverGrantBucketAccess",
            request,
            target,
            |call, request: GrantAccessRequest| async move {
                let (name, wanted) = (request.account_name.clone(), Wanted::from(&request));
                let made = call.driver.grant_access(&call.context, request).await?;
                call.claim.made(Key::AccountName(name), Key::AccountId(made.account_id.clone()))?;
                Ok(answer::granted(made, &wanted)?)
            },
        )
        .await
    }

    async fn driver_revoke_bucket_access(
        &self,
        request: Request<proto::DriverRevokeBucketAccessRequest>,
    ) -> Answer<proto::DriverRevokeBucketAccessResponse> {
        let target = |request: &RevokeAccessRequest| {
            let id = &request.account_id;
            Ok(Target::one(id.as_str(), Key::AccountId(id.clone())))
        };
        self.call("DriverRevokeBucketAccess", request, target, |call, request| async move {
            call.driver.revoke_access(&call.context, request).await?;
            call.claim.gone();
            Ok(proto::DriverRevokeBucketAccessResponse {})
        })
        .await
    }

    async fn driver_delete_bucket_by_name(
        &self,
        request: Request<proto::DriverDeleteBucketByNameRequest>,
    ) -> Answer<proto::DriverDeleteBucketByNameResponse> {
        let target =
            |request: &DeleteBucketByNameRequest| self.bucket_name(&request.name, &request.parameters);
        self.call("DriverDeleteBucketByName", request, target, |call, request| async move {
            call.driver.delete_bucket_by_name(&call.context, request).await?;
            call.claim.gone();
            Ok(proto::DriverDeleteBucketByNameResponse {})
        })
        .await
    }

    async fn driver_revoke_bucket_access_by_name(
        &self,
        request: Request<proto::DriverRevokeBucketAccessByNameRequest>,
    ) -> Answer<proto::DriverRevokeBucketAccessByNameResponse> {
        let target = |request: &RevokeAccessByNameRequest| {
            self.account_name(&request.account_name, &request.parameters)
        };
        self.call("DriverRevokeBucketAccessByName", request, target, |call, request| async move {
            call.driver.revoke_access_by_name(&call.context, request).await?;
            call.claim.gone();
            Ok(proto::DriverRevokeBucketAccessByNameResponse {})
        })
        .await
    }
}
