//! Calls about buckets.

use cosi_lifecycle::Rpc;
use cosi_lifecycle::bucket::{Call, CallOk, Request};
use cosi_proto::v1alpha2 as wire;
use cosi_proto::v1alpha2::provisioner_client::ProvisionerClient;
use tonic::transport::Channel;
use tonic::{Response, Status};

use super::{Limits, owned};
use crate::driver::translate;

impl super::Call for Call {
    type Ok = CallOk;

    fn rpc(&self) -> Rpc {
        Self::rpc(self)
    }

    async fn send(self, client: &mut ProvisionerClient<Channel>, limits: Limits) -> Result<CallOk, Status> {
        match self {
            Self::Create(request) => {
                let request = limits.put_on(create(request));
                let answer = client.driver_create_bucket(request).await.map(Response::into_inner)?;
                Ok(translate::bucket(answer.bucket_id, answer.protocols))
            }
            Self::GetExisting { id, request } => {
                let request = limits.put_on(get_existing(&id, request));
                let answer = client.driver_get_existing_bucket(request).await.map(Response::into_inner)?;
                Ok(translate::bucket(answer.bucket_id, answer.protocols))
            }
            Self::Delete { id, parameters } => {
                let request =
                    wire::DriverDeleteBucketRequest { bucket_id: id.into(), parameters: owned(parameters) };
                client.driver_delete_bucket(limits.put_on(request)).await.map(|_| CallOk::Deleted)
            }
            Self::DeleteByName(request) => {
                let request = limits.put_on(delete_by_name(request));
                client.driver_delete_bucket_by_name(request).await.map(|_| CallOk::Deleted)
            }
        }
    }
}

fn create(request: Request) -> wire::DriverCreateBucketRequest {
    wire::DriverCreateBucketRequest {
        name: request.name.to_string(),
        protocols: translate::protocols(&request.protocols),
        parameters: owned(request.parameters),
    }
}

fn get_existing(id: &str, request: Request) -> wire::DriverGetExistingBucketRequest {
    wire::DriverGetExistingBucketRequest {
        existing_bucket_id: id.to_owned(),
        protocols: translate::protocols(&request.protocols),
        parameters: owned(request.parameters),
    }
}

fn delete_by_name(request: Request) -> wire::DriverDeleteBucketByNameRequest {
    wire::DriverDeleteBucketByNameRequest {
        name: request.name.to_string(),
        protocols: translate::protocols(&request.protocols),
        parameters: owned(request.parameters),
    }
}
