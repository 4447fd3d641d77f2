//! The Identity service.

use cosi_proto::v1alpha2 as proto;
use proto::identity_server::Identity;
use tonic::{Request, Response, Status, async_trait};

use super::calls::{Calls, Plan};

/// Answers with what the driver said when the server was made.
pub(crate) struct IdentityService {
    pub(crate) calls: Calls,
    pub(crate) info: proto::DriverGetInfoResponse,
}

#[async_trait]
impl Identity for IdentityService {
    async fn driver_get_info(
        &self,
        request: Request<proto::DriverGetInfoRequest>,
    ) -> Result<Response<proto::DriverGetInfoResponse>, Status> {
        let (plan, _) = Plan::of("DriverGetInfo", request);
        self.calls.ended_with(&plan, None, false);
        Ok(Response::new(self.info.clone()))
    }
}
