//! The Identity service.

use cosi_proto::v1alpha2 as proto;
use proto::identity_server::Identity;
use tonic::{Request, Response, Status, async_trait};

/// Answers with what the driver said when the server was made.
pub(crate) struct IdentityService(pub(crate) proto::DriverGetInfoResponse);

#[async_trait]
impl Identity for IdentityService {
    async fn driver_get_info(
        &self,
        _: Request<proto::DriverGetInfoRequest>,
    ) -> Result<Response<proto::DriverGetInfoResponse>, Status> {
        Ok(Response::new(self.0.clone()))
    }
}
