//! Calls about accounts. Nothing of a Grant's answer is ever printed (I7).

use cosi_api::BucketAccessAuthenticationType;
use cosi_lifecycle::Rpc;
use cosi_lifecycle::access::{Call, CallOk, Request};
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
            Self::Grant(request) => {
                let request = limits.put_on(grant(request));
                let answer = client.driver_grant_bucket_access(request).await.map(Response::into_inner)?;
                Ok(translate::granted(answer))
            }
            Self::Revoke { id, request } => {
                let request = limits.put_on(revoke(id.into(), request));
                client.driver_revoke_bucket_access(request).await.map(|_| CallOk::Revoked)
            }
            Self::RevokeByName(request) => {
                let request = limits.put_on(revoke_by_name(request));
                client.driver_revoke_bucket_access_by_name(request).await.map(|_| CallOk::Revoked)
            }
        }
    }
}

fn grant(request: Request) -> wire::DriverGrantBucketAccessRequest {
    use wire::driver_grant_bucket_access_request::AccessedBucket;
    wire::DriverGrantBucketAccessRequest {
        account_name: request.account.to_string(),
        protocol: Some(translate::protocol(request.protocol)),
        authentication_type: Some(translate::authentication(request.authentication)),
        service_account_name: service_account(&request),
        buckets: request
            .buckets
            .into_iter()
            .map(|reach| AccessedBucket {
                bucket_id: reach.id.into(),
                access_mode: Some(translate::mode(reach.mode)),
            })
            .collect(),
        parameters: owned(request.parameters),
    }
}

fn revoke(account_id: String, request: Request) -> wire::DriverRevokeBucketAccessRequest {
    use wire::driver_revoke_bucket_access_request::AccessedBucket;
    wire::DriverRevokeBucketAccessRequest {
        account_id,
        protocol: Some(translate::protocol(request.protocol)),
        authentication_type: Some(translate::authentication(request.authentication)),
        service_account_name: service_account(&request),
        buckets: request
            .buckets
            .into_iter()
            .map(|reach| AccessedBucket { bucket_id: reach.id.into() })
            .collect(),
        parameters: owned(request.parameters),
    }
}

fn revoke_by_name(request: Request) -> wire::DriverRevokeBucketAccessByNameRequest {
    use wire::driver_revoke_bucket_access_by_name_request::AccessedBucket;
    wire::DriverRevokeBucketAccessByNameRequest {
        account_name: request.account.to_string(),
        protocol: Some(translate::protocol(request.protocol)),
        authentication_type: Some(translate::authentication(request.authentication)),
        service_account_name: service_account(&request),
        buckets: request
            .buckets
            .into_iter()
            .map(|reach| AccessedBucket { bucket_id: reach.id.into() })
            .collect(),
        parameters: owned(request.parameters),
    }
}

/// It goes on the wire only where it is how the application proves who it is (C33).
fn service_account(request: &Request) -> String {
    let wanted = request.authentication == BucketAccessAuthenticationType::ServiceAccount;
    request.service_account.as_deref().filter(|_| wanted).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use cosi_api::{BucketAccessMode, ObjectProtocol};
    use cosi_lifecycle::access::Reach;

    fn request(authentication: BucketAccessAuthenticationType) -> Request {
        let reach = |id: &str, mode| Reach { id: id.into(), mode };
        Request {
            account: "ba-1".into(),
            protocol: ObjectProtocol::Gcs,
            authentication,
            service_account: Some("app".into()),
            parameters: Some(std::sync::Arc::new([("k".to_owned(), "v".to_owned())].into())),
            buckets: vec![
                reach("b1", BucketAccessMode::ReadWrite),
                reach("b2", BucketAccessMode::ReadOnly),
                reach("b3", BucketAccessMode::WriteOnly),
            ],
        }
    }

    /// C34.
    #[test]
    fn a_grant_says_of_each_bucket_what_may_be_done_in_it() {
        let wire = grant(request(BucketAccessAuthenticationType::Key));
        let buckets: Vec<_> =
            wire.buckets.iter().map(|b| (b.bucket_id.as_str(), b.access_mode.unwrap().mode)).collect();
        assert_eq!(buckets, [("b1", 1), ("b2", 2), ("b3", 3)]);
        assert_eq!((wire.account_name.as_str(), wire.protocol.unwrap().r#type), ("ba-1", 3));
        assert_eq!(wire.authentication_type.unwrap().r#type, 1);
        assert_eq!(wire.parameters["k"], "v");
    }

    /// C33.
    #[test]
    fn the_service_account_is_named_only_where_it_is_the_proof() {
        for (authentication, expected) in [
            (BucketAccessAuthenticationType::Key, ""),
            (BucketAccessAuthenticationType::ServiceAccount, "app"),
        ] {
            let request = request(authentication);
            assert_eq!(grant(request.clone()).service_account_name, expected);
            assert_eq!(revoke("id".to_owned(), request.clone()).service_account_name, expected);
            assert_eq!(revoke_by_name(request).service_account_name, expected);
        }
    }

    #[test]
    fn both_revokes_repeat_what_was_granted() {
        let request = request(BucketAccessAuthenticationType::Key);
        let by_id = revoke("account".to_owned(), request.clone());
        let by_name = revoke_by_name(request.clone());
        let granted = grant(request);
        assert_eq!((by_id.account_id.as_str(), by_name.account_name.as_str()), ("account", "ba-1"));
        assert_eq!((by_id.protocol, by_name.protocol), (granted.protocol, granted.protocol));
        assert_eq!((&by_id.parameters, &by_name.parameters), (&granted.parameters, &granted.parameters));
        let ids: Vec<_> = granted.buckets.iter().map(|b| b.bucket_id.as_str()).collect();
        assert!(by_id.buckets.iter().map(|b| b.bucket_id.as_str()).eq(ids.iter().copied()));
        assert!(by_name.buckets.iter().map(|b| b.bucket_id.as_str()).eq(ids.iter().copied()));
    }
}
