//! What a server tells about itself besides COSI: whether it is well, and which services it has.

use cosi_proto::v1alpha2::identity_server::SERVICE_NAME as IDENTITY;
use cosi_proto::v1alpha2::provisioner_server::SERVICE_NAME as PROVISIONER;
use tonic_health::ServingStatus;
use tonic_health::pb::health_server::{Health, HealthServer};
use tonic_health::server::{HealthReporter, health_reporter};
use tonic_reflection::server::{Builder, Error, v1, v1alpha};

/// The server as a whole, and each of its services, as the health protocol names them.
const SERVICES: [&str; 3] = ["", IDENTITY, PROVISIONER];

/// Where the server's health is kept: one status, since a driver takes either all calls or none (COSI-SOCK-2).
#[derive(Clone)]
pub(crate) struct Condition(HealthReporter);

impl Condition {
    /// Well, and the service that says so.
    pub(crate) async fn serving() -> (Self, HealthServer<impl Health>) {
        let (reporter, service) = health_reporter();
        let condition = Self(reporter);
        condition.set(ServingStatus::Serving).await;
        (condition, service)
    }

    /// From now on, no call begins.
    pub(crate) async fn stopping(&self) {
        self.set(ServingStatus::NotServing).await;
    }

    async fn set(&self, status: ServingStatus) {
        for service in SERVICES {
            self.0.set_service_status(service, status).await;
        }
    }
}

/// Server reflection in its newer form (COSI-SOCK-3).
pub(crate) fn reflection_v1() -> Result<v1::ServerReflectionServer<impl v1::ServerReflection>, Error> {
    descriptions().build_v1()
}

/// Server reflection in the form that older tools ask for.
pub(crate) fn reflection_v1alpha()
-> Result<v1alpha::ServerReflectionServer<impl v1alpha::ServerReflection>, Error> {
    descriptions().build_v1alpha()
}

/// All services, in both forms: each lists what is registered with it, and nothing else.
fn descriptions() -> Builder<'static> {
    [
        cosi_proto::FILE_DESCRIPTOR_SET,
        tonic_health::pb::FILE_DESCRIPTOR_SET,
        tonic_reflection::pb::v1::FILE_DESCRIPTOR_SET,
        tonic_reflection::pb::v1alpha::FILE_DESCRIPTOR_SET,
    ]
    .into_iter()
    .fold(
        Builder::configure().include_reflection_service(false),
        Builder::register_encoded_file_descriptor_set,
    )
}
