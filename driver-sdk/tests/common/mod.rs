//! A driver that does what a test says, served on a real socket in a folder of its own.
#![allow(dead_code, unreachable_pub, reason = "no test file uses all of it")]

pub mod fuzz;
pub mod shop;

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use cosi_driver_sdk::{
    AccountId, AccountName, AddressingStyle, BoundServer, Bucket, BucketId, BucketInfo, BucketName,
    CallContext, CreateBucketRequest, Credentials, DeleteBucketByNameRequest, DeleteBucketRequest, Driver,
    DriverError, DriverInfo, Endpoint, GetExistingBucketRequest, GrantAccessRequest, GrantedAccess,
    Parameters, Protocol, RevokeAccessByNameRequest, RevokeAccessRequest, S3BucketInfo, S3Credentials,
    Secret, ServeError, Server, async_trait,
};
use cosi_proto::v1alpha2 as proto;
use cosi_proto::v1alpha2::identity_client::IdentityClient;
use cosi_proto::v1alpha2::provisioner_client::ProvisionerClient;
use futures::future::BoxFuture;
use proto::{access_mode::Mode, authentication_type, object_protocol};
use tempfile::TempDir;
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinHandle;
use tonic::transport::Channel;

/// Longer than anything here takes; a test that waits so long has failed.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// What comes of the future, which must come soon.
pub async fn soon<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, future).await.expect("it did not happen in time")
}

pub type Hook<R, A> = Box<dyn Fn(CallContext, R) -> BoxFuture<'static, Result<A, DriverError>> + Send + Sync>;

/// A method's script: an async closure in a box.
pub fn hook<R, A, F>(script: impl Fn(CallContext, R) -> F + Send + Sync + 'static) -> Hook<R, A>
where
    F: Future<Output = Result<A, DriverError>> + Send + 'static,
{
    Box::new(move |context, request| Box::pin(script(context, request)))
}

/// Every method answers well at once unless a test says otherwise; ids are names.
pub struct Scripted {
    pub create: Hook<CreateBucketRequest, Bucket>,
    pub existing: Hook<GetExistingBucketRequest, Bucket>,
    pub delete: Hook<DeleteBucketRequest, ()>,
    pub delete_by_name: Hook<DeleteBucketByNameRequest, ()>,
    pub grant: Hook<GrantAccessRequest, GrantedAccess>,
    pub revoke: Hook<RevokeAccessRequest, ()>,
    pub revoke_by_name: Hook<RevokeAccessByNameRequest, ()>,
    pub id_for: fn(&BucketName) -> Option<BucketId>,
    pub account_id_for: fn(&AccountName) -> Option<AccountId>,
}

impl Default for Scripted {
    fn default() -> Self {
        Self {
            create: hook(|_, request: CreateBucketRequest| async move { Ok(bucket(request.name.as_str())) }),
            existing: hook(|_, request: GetExistingBucketRequest| async move {
                Ok(bucket(request.bucket_id.as_str()))
            }),
            delete: hook(|_, _| async { Ok(()) }),
            delete_by_name: hook(|_, _| async { Ok(()) }),
            grant: hook(|_, request| async move { Ok(granted(&request)) }),
            revoke: hook(|_, _| async { Ok(()) }),
            revoke_by_name: hook(|_, _| async { Ok(()) }),
            id_for: |_| None,
            account_id_for: |_| None,
        }
    }
}

#[async_trait]
impl Driver for Scripted {
    fn info(&self) -> DriverInfo {
        DriverInfo::new("scripted.example.com", [Protocol::S3, Protocol::Gcs]).unwrap()
    }

    fn bucket_id_for(&self, name: &BucketName, _: &Parameters) -> Option<BucketId> {
        (self.id_for)(name)
    }

    fn account_id_for(&self, name: &AccountName, _: &Parameters) -> Option<AccountId> {
        (self.account_id_for)(name)
    }

    async fn create_bucket(
        &self,
        context: &CallContext,
        request: CreateBucketRequest,
    ) -> Result<Bucket, DriverError> {
        (self.create)(context.clone(), request).await
    }

    async fn get_existing_bucket(
        &self,
        context: &CallContext,
        request: GetExistingBucketRequest,
    ) -> Result<Bucket, DriverError> {
        (self.existing)(context.clone(), request).await
    }

    async fn delete_bucket(
        &self,
        context: &CallContext,
        request: DeleteBucketRequest,
    ) -> Result<(), DriverError> {
        (self.delete)(context.clone(), request).await
    }

    async fn delete_bucket_by_name(
        &self,
        context: &CallContext,
        request: DeleteBucketByNameRequest,
    ) -> Result<(), DriverError> {
        (self.delete_by_name)(context.clone(), request).await
    }

    async fn grant_access(
        &self,
        context: &CallContext,
        request: GrantAccessRequest,
    ) -> Result<GrantedAccess, DriverError> {
        (self.grant)(context.clone(), request).await
    }

    async fn revoke_access(
        &self,
        context: &CallContext,
        request: RevokeAccessRequest,
    ) -> Result<(), DriverError> {
        (self.revoke)(context.clone(), request).await
    }

    async fn revoke_access_by_name(
        &self,
        context: &CallContext,
        request: RevokeAccessByNameRequest,
    ) -> Result<(), DriverError> {
        (self.revoke_by_name)(context.clone(), request).await
    }
}

pub fn bucket(id: &str) -> Bucket {
    Bucket { id: BucketId::new(id).unwrap(), info: s3_info(id).into() }
}

pub fn s3_info(id: &str) -> S3BucketInfo {
    S3BucketInfo {
        bucket_id: id.to_owned(),
        endpoint: "https://s3.example.com".to_owned(),
        region: "here".to_owned(),
        addressing_style: AddressingStyle::Path,
    }
}

pub fn granted(request: &GrantAccessRequest) -> GrantedAccess {
    let info = |id: &BucketId| (id.clone(), BucketInfo::from(s3_info(id.as_str())));
    GrantedAccess {
        account_id: request.account_name.as_str().parse().unwrap(),
        buckets: request.buckets.iter().map(|bucket| info(&bucket.bucket_id)).collect::<BTreeMap<_, _>>(),
        credentials: Credentials::S3(S3Credentials {
            access_key_id: Secret::new("canary-id"),
            access_secret_key: Secret::new("canary-key"),
        }),
    }
}

/// Stops a script until the test lets it go on, and tells the test that it got there.
#[derive(Clone, Default)]
pub struct Gate {
    reached: Arc<Notify>,
    open: Arc<Notify>,
}

impl Gate {
    /// In the script.
    pub async fn pass(&self) {
        self.reached.notify_one();
        self.open.notified().await;
    }

    /// In the test: a script waits at the gate.
    pub async fn reached(&self) {
        soon(self.reached.notified()).await;
    }

    /// In the test: one script goes on.
    pub fn open(&self) {
        self.open.notify_one();
    }
}

impl Scripted {
    /// Its creates wait at the gate.
    pub fn held(gate: &Gate) -> Self {
        let gate = gate.clone();
        let create = hook(move |_, request: CreateBucketRequest| {
            let gate = gate.clone();
            async move {
                gate.pass().await;
                Ok(bucket(request.name.as_str()))
            }
        });
        Self { create, ..Self::default() }
    }
}

/// A running server.
pub struct Served {
    pub endpoint: Endpoint,
    pub folder: TempDir,
    stop: Option<oneshot::Sender<()>>,
    server: JoinHandle<Result<(), ServeError>>,
}

pub fn endpoint_in(folder: &TempDir) -> Endpoint {
    format!("unix://{}/cosi.sock", folder.path().display()).parse().unwrap()
}

impl Served {
    pub async fn start(driver: impl Driver) -> Self {
        Self::start_with(Server::new(driver)).await
    }

    pub async fn start_with(server: Server) -> Self {
        let folder = TempDir::new().unwrap();
        let endpoint = endpoint_in(&folder);
        let bound: BoundServer = server.bind(&endpoint).await.unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        let server = tokio::spawn(bound.run_until(async {
            let _ = stopped.await;
        }));
        Self { endpoint, folder, stop: Some(stop), server }
    }

    pub async fn channel(&self) -> Channel {
        channel(&self.endpoint).await.unwrap()
    }

    pub async fn client(&self) -> ProvisionerClient<Channel> {
        ProvisionerClient::new(self.channel().await)
    }

    pub async fn identity(&self) -> IdentityClient<Channel> {
        IdentityClient::new(self.channel().await)
    }

    /// Tells the server to stop, without waiting for it.
    pub fn tell_to_stop(&mut self) {
        self.stop.take().expect("told already").send(()).unwrap();
    }

    /// How the server ended, once told to.
    pub async fn ended(&mut self) -> Result<(), ServeError> {
        soon(&mut self.server).await.unwrap()
    }
}

pub async fn channel(endpoint: &Endpoint) -> Result<Channel, tonic::transport::Error> {
    tonic::transport::Endpoint::from_shared(endpoint.to_string()).unwrap().connect().await
}

pub fn create_request(name: &str) -> proto::DriverCreateBucketRequest {
    proto::DriverCreateBucketRequest {
        name: name.to_owned(),
        protocols: vec![s3()],
        parameters: BTreeMap::new(),
    }
}

pub fn delete_request(id: &str) -> proto::DriverDeleteBucketRequest {
    proto::DriverDeleteBucketRequest { bucket_id: id.to_owned(), ..Default::default() }
}

pub fn delete_by_name_request(name: &str) -> proto::DriverDeleteBucketByNameRequest {
    proto::DriverDeleteBucketByNameRequest { name: name.to_owned(), ..Default::default() }
}

pub fn grant_request(account: &str, buckets: &[&str]) -> proto::DriverGrantBucketAccessRequest {
    let bucket = |id: &&str| proto::driver_grant_bucket_access_request::AccessedBucket {
        bucket_id: (*id).to_owned(),
        access_mode: Some(proto::AccessMode { mode: Mode::ReadWrite.into() }),
    };
    proto::DriverGrantBucketAccessRequest {
        account_name: account.to_owned(),
        protocol: Some(s3()),
        authentication_type: Some(by_key()),
        buckets: buckets.iter().map(bucket).collect(),
        ..Default::default()
    }
}

pub fn revoke_request(account: &str) -> proto::DriverRevokeBucketAccessRequest {
    proto::DriverRevokeBucketAccessRequest {
        account_id: account.to_owned(),
        protocol: Some(s3()),
        authentication_type: Some(by_key()),
        ..Default::default()
    }
}

pub fn revoke_by_name_request(account: &str) -> proto::DriverRevokeBucketAccessByNameRequest {
    proto::DriverRevokeBucketAccessByNameRequest {
        account_name: account.to_owned(),
        protocol: Some(s3()),
        authentication_type: Some(by_key()),
        ..Default::default()
    }
}

pub fn s3() -> proto::ObjectProtocol {
    proto::ObjectProtocol { r#type: object_protocol::Type::S3.into() }
}

pub fn by_key() -> proto::AuthenticationType {
    proto::AuthenticationType { r#type: authentication_type::Type::Key.into() }
}
