//! What a server tells about itself to tools that know nothing of COSI (C44).
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod common;

use common::*;
use futures::stream;
use tonic::{Code, Status};
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;
use tonic_health::pb::{HealthCheckRequest, HealthCheckResponse};
use tonic_reflection::pb::{v1, v1alpha};
use v1::server_reflection_response::MessageResponse as Newer;
use v1alpha::server_reflection_response::MessageResponse as Older;

const SERVICES: [&str; 5] = [
    "grpc.health.v1.Health",
    "grpc.reflection.v1.ServerReflection",
    "grpc.reflection.v1alpha.ServerReflection",
    "sigs.k8s.io.cosi.v1alpha2.Identity",
    "sigs.k8s.io.cosi.v1alpha2.Provisioner",
];

async fn health(served: &Served, service: &str) -> Result<ServingStatus, Status> {
    let request = HealthCheckRequest { service: service.to_owned() };
    Ok(HealthClient::new(served.channel().await).check(request).await?.into_inner().status())
}

/// COSI-SOCK-2. A watch hears of the change while the last call still runs.
#[tokio::test]
async fn health_says_serving_until_the_driver_is_told_to_stop() {
    let gate = Gate::default();
    let mut served = Served::start(Scripted::held(&gate)).await;
    for service in ["", SERVICES[3], SERVICES[4]] {
        assert_eq!(health(&served, service).await.unwrap(), ServingStatus::Serving, "{service}");
    }
    assert_eq!(health(&served, "nobody.Knows").await.unwrap_err().code(), Code::NotFound);
    let mut client = served.client().await;
    let call = tokio::spawn(async move { client.driver_create_bucket(create_request("bc-1")).await });
    gate.reached().await;
    let request = HealthCheckRequest { service: SERVICES[4].to_owned() };
    let mut news = HealthClient::new(served.channel().await).watch(request).await.unwrap().into_inner();
    let next = |message: Option<HealthCheckResponse>| message.unwrap().status();
    assert_eq!(next(soon(news.message()).await.unwrap()), ServingStatus::Serving);
    served.tell_to_stop();
    assert_eq!(next(soon(news.message()).await.unwrap()), ServingStatus::NotServing);
    gate.open();
    soon(call).await.unwrap().unwrap();
    served.ended().await.unwrap();
}

macro_rules! ask {
    ($version:ident, $served:expr, $question:ident, $text:expr) => {{
        use $version::server_reflection_client::ServerReflectionClient;
        use $version::server_reflection_request::MessageRequest;
        let question = $version::ServerReflectionRequest {
            host: String::new(),
            message_request: Some(MessageRequest::$question($text.to_owned())),
        };
        let mut client = ServerReflectionClient::new($served.channel().await);
        let mut answers = client.server_reflection_info(stream::iter([question])).await.unwrap().into_inner();
        soon(answers.message()).await.unwrap().unwrap().message_response.unwrap()
    }};
}

macro_rules! listed {
    ($version:ident, $served:expr) => {{
        use $version::server_reflection_response::MessageResponse;
        let MessageResponse::ListServicesResponse(list) = ask!($version, $served, ListServices, "") else {
            panic!("no list")
        };
        let mut names: Vec<_> = list.service.into_iter().map(|service| service.name).collect();
        names.sort_unstable();
        names
    }};
}

/// COSI-SOCK-3, trap 11: plain grpcurl lists Health, too.
#[tokio::test]
async fn reflection_lists_every_service_in_both_versions() {
    let served = Served::start(Scripted::default()).await;
    assert_eq!(listed!(v1, served), SERVICES);
    assert_eq!(listed!(v1alpha, served), SERVICES);
}

/// A tool that prints messages can only hide what it knows to be secret.
#[tokio::test]
async fn reflection_describes_every_service_with_the_options_of_the_proto_file() {
    let served = Served::start(Scripted::default()).await;
    for service in SERVICES {
        let answer = ask!(v1, served, FileContainingSymbol, service);
        assert!(matches!(answer, Newer::FileDescriptorResponse(_)), "{service}: {answer:?}");
        let answer = ask!(v1alpha, served, FileContainingSymbol, service);
        let Older::FileDescriptorResponse(files) = answer else { panic!("{service}: {answer:?}") };
        if service == SERVICES[4] {
            // Field option 1115, a varint, true.
            let secret = [0xd8, 0x45, 0x01];
            let file =
                files.file_descriptor_proto.iter().find(|file| file.windows(3).any(|part| part == secret));
            assert!(file.is_some(), "the option cosi_secret is lost");
        }
    }
}
