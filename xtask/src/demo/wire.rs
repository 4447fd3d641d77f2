//! The driver, asked directly.

use anyhow::{Context, Result};
use cosi_proto::v1alpha2::provisioner_client::ProvisionerClient;
use cosi_proto::v1alpha2::{
    AccessMode, AuthenticationType, DriverGrantBucketAccessRequest, DriverGrantBucketAccessResponse,
    ObjectProtocol, access_mode, authentication_type, driver_grant_bucket_access_request, object_protocol,
};
use tonic::Code;
use tonic::transport::Endpoint;

use super::cluster::Access;

/// DriverGrantBucketAccess, as the sidecar sends it for a ReadWrite access. `None`: an earlier call is still at work.
pub(super) async fn grant(
    socket: &str,
    access: &Access,
    bucket: &str,
) -> Result<Option<DriverGrantBucketAccessResponse>> {
    let channel = Endpoint::from_shared(socket.to_owned())?.connect().await.context("connect")?;
    let bucket = driver_grant_bucket_access_request::AccessedBucket {
        bucket_id: bucket.to_owned(),
        access_mode: Some(AccessMode { mode: access_mode::Mode::ReadWrite.into() }),
    };
    let request = DriverGrantBucketAccessRequest {
        account_name: access.account(),
        protocol: Some(ObjectProtocol { r#type: object_protocol::Type::S3.into() }),
        authentication_type: Some(AuthenticationType { r#type: authentication_type::Type::Key.into() }),
        buckets: vec![bucket],
        ..DriverGrantBucketAccessRequest::default()
    };
    match ProvisionerClient::new(channel).driver_grant_bucket_access(request).await {
        Ok(answer) => Ok(Some(answer.into_inner())),
        Err(status) if status.code() == Code::Aborted => Ok(None),
        Err(status) => Err(status).context("ask the driver"),
    }
}
