//! A plain gRPC client before the scripted driver.

use std::time::Duration;

use cosi_proto::v1alpha2 as wire;
use cosi_proto::v1alpha2::identity_client::IdentityClient;
use cosi_proto::v1alpha2::provisioner_client::ProvisionerClient;
use cosi_sim::driver::{Abilities, ScriptedDriver};
use tonic::transport::{Channel, Endpoint};
use tonic::{Request, Status};

#[derive(Clone)]
pub struct Client {
    pub provisioner: ProvisionerClient<Channel>,
    pub identity: IdentityClient<Channel>,
}

pub fn start(abilities: Abilities) -> (ScriptedDriver, Client) {
    let driver = ScriptedDriver::start(abilities).unwrap();
    let client = Client::new(&driver);
    (driver, client)
}

pub fn create_request(name: &str) -> wire::DriverCreateBucketRequest {
    let s3 = wire::ObjectProtocol { r#type: wire::object_protocol::Type::S3.into() };
    wire::DriverCreateBucketRequest {
        name: name.to_owned(),
        protocols: vec![s3],
        parameters: [("tier".to_owned(), "cold".to_owned())].into(),
    }
}

pub fn by_name(request: wire::DriverCreateBucketRequest) -> wire::DriverDeleteBucketByNameRequest {
    let wire::DriverCreateBucketRequest { name, protocols, parameters } = request;
    wire::DriverDeleteBucketByNameRequest { name, protocols, parameters }
}

fn within<T>(message: T, timeout: Duration) -> Request<T> {
    let mut request = Request::new(message);
    request.set_timeout(timeout);
    request
}

const LONG: Duration = Duration::from_secs(20);

impl Client {
    pub fn new(driver: &ScriptedDriver) -> Self {
        let endpoint = Endpoint::try_from(driver.endpoint()).unwrap().http2_max_header_list_size(1 << 20);
        let channel = endpoint.connect_lazy();
        Self { provisioner: ProvisionerClient::new(channel.clone()), identity: IdentityClient::new(channel) }
    }

    pub async fn create(&self, name: &str) -> Result<String, Status> {
        self.create_within(name, LONG).await
    }

    pub async fn create_within(&self, name: &str, timeout: Duration) -> Result<String, Status> {
        self.create_as(within(create_request(name), timeout)).await
    }

    pub async fn create_as(
        &self,
        request: Request<wire::DriverCreateBucketRequest>,
    ) -> Result<String, Status> {
        Ok(self.provisioner.clone().driver_create_bucket(request).await?.into_inner().bucket_id)
    }

    pub async fn delete(&self, id: &str) -> Result<(), Status> {
        let request = wire::DriverDeleteBucketRequest { bucket_id: id.to_owned(), parameters: [].into() };
        self.provisioner.clone().driver_delete_bucket(within(request, LONG)).await.map(drop)
    }

    pub async fn delete_by_name(&self, name: &str) -> Result<(), Status> {
        let request = within(by_name(create_request(name)), LONG);
        self.provisioner.clone().driver_delete_bucket_by_name(request).await.map(drop)
    }

    pub async fn get_existing(&self, id: &str) -> Result<wire::DriverGetExistingBucketResponse, Status> {
        let request = wire::DriverGetExistingBucketRequest {
            existing_bucket_id: id.to_owned(),
            protocols: vec![],
            parameters: [].into(),
        };
        Ok(self.provisioner.clone().driver_get_existing_bucket(within(request, LONG)).await?.into_inner())
    }

    pub async fn get_info(&self) -> Result<wire::DriverGetInfoResponse, Status> {
        let request = within(wire::DriverGetInfoRequest {}, LONG);
        Ok(self.identity.clone().driver_get_info(request).await?.into_inner())
    }
}
