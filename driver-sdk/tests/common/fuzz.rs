//! Requests of which any field may hold anything.

use std::collections::BTreeMap;

use cosi_proto::NOT_AFTER_KEY;
use cosi_proto::v1alpha2 as proto;
use proptest::prelude::*;
use proto::provisioner_client::ProvisionerClient;
use tonic::transport::Channel;
use tonic::{Request, Status};

use super::s3;

/// A bucket that a test can make, so that an access has something to be for.
pub const BUCKET: &str = "there";

/// Each field is good more often than not: else the first bad one would hide the others from every case.
#[derive(Debug, Clone)]
pub struct Requests {
    name: String,
    id: String,
    protocols: Vec<i32>,
    parameters: BTreeMap<String, String>,
    protocol: Option<i32>,
    authentication: Option<i32>,
    service_account: String,
    buckets: Vec<(String, Option<i32>)>,
    not_after: Option<String>,
}

fn wild() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z0-9]([a-z0-9-]{0,8}[a-z0-9])?(\\.[a-z0-9]{1,4}){0,2}",
        "[a-zA-Z0-9/._-]{0,12}",
        any::<String>(),
        (0_usize..5000).prop_map(|length| "a".repeat(length)),
    ]
}

fn mostly<T: Clone + std::fmt::Debug + 'static>(
    good: T,
    wild: impl Strategy<Value = T>,
) -> impl Strategy<Value = T> {
    prop_oneof![4 => Just(good), 1 => wild]
}

fn number() -> impl Strategy<Value = Option<i32>> {
    mostly(Some(1), proptest::option::of(-1..5_i32))
}

pub fn requests() -> impl Strategy<Value = Requests> {
    let maps = proptest::collection::btree_map(any::<String>(), wild(), 0..4);
    let bucket = (mostly(BUCKET.to_owned(), wild()), number());
    let late = "[ -~]{0,24}|[0-9]{1,20}";
    (
        mostly("bc-1".to_owned(), wild()),
        mostly("bc-1".to_owned(), wild()),
        mostly(vec![1], proptest::collection::vec(-1..5_i32, 0..4)),
        mostly(BTreeMap::new(), maps),
        number(),
        number(),
        mostly(String::new(), wild()),
        mostly(vec![(BUCKET.to_owned(), Some(1))], proptest::collection::vec(bucket, 0..4)),
        mostly(None, late.prop_map(Some)),
    )
        .prop_map(|fields| {
            let (
                name,
                id,
                protocols,
                parameters,
                protocol,
                authentication,
                service_account,
                buckets,
                not_after,
            ) = fields;
            Requests {
                name,
                id,
                protocols,
                parameters,
                protocol,
                authentication,
                service_account,
                buckets,
                not_after,
            }
        })
}

impl Requests {
    /// With the metadata of this case.
    pub fn sent<T>(&self, message: T) -> Request<T> {
        let mut request = Request::new(message);
        if let Some(limit) = self.not_after.as_ref().and_then(|limit| limit.parse().ok()) {
            request.metadata_mut().insert(NOT_AFTER_KEY, limit);
        }
        request
    }

    fn protocols(&self) -> Vec<proto::ObjectProtocol> {
        self.protocols.iter().map(|number| proto::ObjectProtocol { r#type: *number }).collect()
    }

    pub fn create(&self) -> proto::DriverCreateBucketRequest {
        proto::DriverCreateBucketRequest {
            name: self.name.clone(),
            protocols: self.protocols(),
            parameters: self.parameters.clone(),
        }
    }

    pub fn existing(&self) -> proto::DriverGetExistingBucketRequest {
        proto::DriverGetExistingBucketRequest {
            existing_bucket_id: self.id.clone(),
            protocols: self.protocols(),
            parameters: self.parameters.clone(),
        }
    }

    pub fn delete(&self) -> proto::DriverDeleteBucketRequest {
        proto::DriverDeleteBucketRequest { bucket_id: self.id.clone(), parameters: self.parameters.clone() }
    }

    pub fn delete_by_name(&self) -> proto::DriverDeleteBucketByNameRequest {
        proto::DriverDeleteBucketByNameRequest {
            name: self.name.clone(),
            protocols: self.protocols(),
            parameters: self.parameters.clone(),
        }
    }

    pub fn grant(&self) -> proto::DriverGrantBucketAccessRequest {
        let bucket =
            |(id, mode): &(String, Option<i32>)| proto::driver_grant_bucket_access_request::AccessedBucket {
                bucket_id: id.clone(),
                access_mode: mode.map(|mode| proto::AccessMode { mode }),
            };
        proto::DriverGrantBucketAccessRequest {
            account_name: self.name.clone(),
            protocol: self.protocol.map(|kind| proto::ObjectProtocol { r#type: kind }),
            authentication_type: self.authentication.map(|kind| proto::AuthenticationType { r#type: kind }),
            service_account_name: self.service_account.clone(),
            parameters: self.parameters.clone(),
            buckets: self.buckets.iter().map(bucket).collect(),
        }
    }

    pub fn revoke(&self) -> proto::DriverRevokeBucketAccessRequest {
        let grant = self.grant();
        let bucket = |(id, _): &(String, Option<i32>)| {
            proto::driver_revoke_bucket_access_request::AccessedBucket { bucket_id: id.clone() }
        };
        proto::DriverRevokeBucketAccessRequest {
            account_id: self.id.clone(),
            protocol: grant.protocol,
            authentication_type: grant.authentication_type,
            service_account_name: grant.service_account_name,
            parameters: grant.parameters,
            buckets: self.buckets.iter().map(bucket).collect(),
        }
    }

    pub fn revoke_by_name(&self) -> proto::DriverRevokeBucketAccessByNameRequest {
        let grant = self.grant();
        let bucket = |(id, _): &(String, Option<i32>)| {
            proto::driver_revoke_bucket_access_by_name_request::AccessedBucket { bucket_id: id.clone() }
        };
        proto::DriverRevokeBucketAccessByNameRequest {
            account_name: grant.account_name,
            protocol: grant.protocol,
            authentication_type: grant.authentication_type,
            service_account_name: grant.service_account_name,
            parameters: grant.parameters,
            buckets: self.buckets.iter().map(bucket).collect(),
        }
    }
}

/// Calls every RPC; gives what failed.
pub async fn call_all(case: &Requests, client: &mut ProvisionerClient<Channel>) -> Vec<Status> {
    let answers = [
        client.driver_create_bucket(case.sent(case.create())).await.err(),
        client.driver_get_existing_bucket(case.sent(case.existing())).await.err(),
        client.driver_delete_bucket(case.sent(case.delete())).await.err(),
        client.driver_delete_bucket_by_name(case.sent(case.delete_by_name())).await.err(),
        client.driver_grant_bucket_access(case.sent(case.grant())).await.err(),
        client.driver_revoke_bucket_access(case.sent(case.revoke())).await.err(),
        client.driver_revoke_bucket_access_by_name(case.sent(case.revoke_by_name())).await.err(),
    ];
    answers.into_iter().flatten().collect()
}

/// The request that makes [`BUCKET`].
pub fn bucket_that_is_there() -> proto::DriverCreateBucketRequest {
    proto::DriverCreateBucketRequest { name: BUCKET.to_owned(), protocols: vec![s3()], ..Default::default() }
}
