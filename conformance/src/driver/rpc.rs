//! The calls of the protocol, as one trait over their requests.

use cosi_proto::v1alpha2 as wire;
use prost::Message;

pub(crate) type Info = wire::DriverGetInfoRequest;
pub(crate) type Create = wire::DriverCreateBucketRequest;
pub(crate) type Existing = wire::DriverGetExistingBucketRequest;
pub(crate) type Delete = wire::DriverDeleteBucketRequest;
pub(crate) type DeleteByName = wire::DriverDeleteBucketByNameRequest;
pub(crate) type Grant = wire::DriverGrantBucketAccessRequest;
pub(crate) type Granted = wire::DriverGrantBucketAccessResponse;
pub(crate) type Revoke = wire::DriverRevokeBucketAccessRequest;
pub(crate) type RevokeByName = wire::DriverRevokeBucketAccessByNameRequest;

/// A request that can be sent.
pub(crate) trait Rpc: Message + Clone + 'static {
    type Answer: Message + Default + 'static;
    /// As people call it.
    const NAME: &'static str;
    /// As gRPC calls it.
    const PATH: &'static str;

    /// The credentials in an answer.
    fn secrets(_: &Self::Answer) -> Vec<String> {
        Vec::new()
    }
}

macro_rules! rpc {
    ($request:ty, $answer:ident, $service:literal, $name:literal $(, $secrets:item)?) => {
        impl Rpc for $request {
            type Answer = wire::$answer;
            const NAME: &'static str = $name;
            const PATH: &'static str = concat!("/sigs.k8s.io.cosi.v1alpha2.", $service, "/", $name);
            $($secrets)?
        }
    };
}

rpc!(Info, DriverGetInfoResponse, "Identity", "DriverGetInfo");
rpc!(Create, DriverCreateBucketResponse, "Provisioner", "DriverCreateBucket");
rpc!(Existing, DriverGetExistingBucketResponse, "Provisioner", "DriverGetExistingBucket");
rpc!(Delete, DriverDeleteBucketResponse, "Provisioner", "DriverDeleteBucket");
rpc!(DeleteByName, DriverDeleteBucketByNameResponse, "Provisioner", "DriverDeleteBucketByName");
rpc!(
    Grant,
    DriverGrantBucketAccessResponse,
    "Provisioner",
    "DriverGrantBucketAccess",
    fn secrets(answer: &Granted) -> Vec<String> {
        answer.credentials.iter().flat_map(credentials).collect()
    }
);
rpc!(Revoke, DriverRevokeBucketAccessResponse, "Provisioner", "DriverRevokeBucketAccess");
rpc!(RevokeByName, DriverRevokeBucketAccessByNameResponse, "Provisioner", "DriverRevokeBucketAccessByName");

/// Every value that a person could do something with.
fn credentials(info: &wire::CredentialInfo) -> Vec<String> {
    let s3 = info.s3.iter().flat_map(|s3| [&s3.access_key_id, &s3.access_secret_key]);
    let azure = info.azure.iter().map(|azure| &azure.access_token);
    let gcs = info.gcs.iter().flat_map(|gcs| [&gcs.access_id, &gcs.access_secret, &gcs.private_key_name]);
    s3.chain(azure).chain(gcs).cloned().collect()
}
