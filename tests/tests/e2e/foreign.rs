//! Drivers in other languages under the real sidecar: one with the RPCs by name, one without.

use std::ffi::OsString;
use std::path::Path;

use cosi_proto::v1alpha2::driver_grant_bucket_access_request::AccessedBucket;
use cosi_proto::v1alpha2::provisioner_client::ProvisionerClient;
use cosi_proto::v1alpha2::{self as wire, DriverGetExistingBucketRequest, DriverGrantBucketAccessRequest};
use cosi_tests::foreign::{self, Foreign};
use cosi_tests::sidecar::Sidecar;
use rstest::rstest;
use serde_json::json;
use tonic::Code;
use tonic::transport::{Channel, Endpoint};

use crate::world::{AccessWish, Setup, Wish, World};

type CommandLine = fn(&Foreign, &str, &Path) -> Vec<OsString>;

/// A world whose driver is that one; the scripted one is not started.
async fn world(name: &str, folder: &Path, command_line: CommandLine) -> Option<(World, Sidecar)> {
    let foreign = foreign::or_skip(name)?;
    let mut world = Setup::default().sidecar_not_started().driver_not_started().start().await?;
    std::fs::create_dir(folder.join("socket")).unwrap();
    let endpoint = format!("unix://{}/socket/cosi.sock", folder.display());
    let line = command_line(foreign, &endpoint, &folder.join("backend.db"));
    let mut driver = Sidecar::of("/usr/bin/env", line).unwrap();
    driver.start().unwrap();
    name.clone_into(&mut world.driver_name);
    world.scripted = false;
    world.sidecar.replace_arg("--driver-endpoint", endpoint);
    world.sidecar.start().unwrap();
    Some((world, driver))
}

/// What the driver has, asked by gRPC.
struct Backend(ProvisionerClient<Channel>);

impl Backend {
    fn behind(folder: &Path) -> Self {
        let endpoint = format!("unix:{}/socket/cosi.sock", folder.display());
        Self(ProvisionerClient::new(Endpoint::try_from(endpoint).unwrap().connect_lazy()))
    }

    async fn has_bucket(&self, id: &str) -> bool {
        let request = DriverGetExistingBucketRequest {
            existing_bucket_id: id.to_owned(),
            ..DriverGetExistingBucketRequest::default()
        };
        match self.0.clone().driver_get_existing_bucket(request).await {
            Ok(_) => true,
            Err(status) if status.code() == Code::NotFound => false,
            Err(status) => panic!("{status:?}"),
        }
    }

    /// Whether the name is taken by another request than this one, which is for a bucket that nobody has.
    async fn has_account(&self, name: &str) -> bool {
        let key = wire::authentication_type::Type::Key.into();
        let mode = wire::access_mode::Mode::ReadOnly.into();
        let request = DriverGrantBucketAccessRequest {
            account_name: name.to_owned(),
            protocol: Some(wire::ObjectProtocol { r#type: wire::object_protocol::Type::S3.into() }),
            authentication_type: Some(wire::AuthenticationType { r#type: key }),
            buckets: vec![AccessedBucket {
                bucket_id: "nobodys".to_owned(),
                access_mode: Some(wire::AccessMode { mode }),
            }],
            ..DriverGrantBucketAccessRequest::default()
        };
        match self.0.clone().driver_grant_bucket_access(request).await {
            Ok(_) => false,
            Err(status) if status.code() == Code::AlreadyExists => true,
            Err(status) => panic!("{status:?}"),
        }
    }
}

/// A whole life of a bucket and an access; then a bucket whose id is lost with the sidecar's memory, and which is deleted
/// all the same: by its name, or by the id that a repeated create answers.
#[rstest]
#[case::in_python("python.example.com", Foreign::python, "DriverDeleteBucketByName")]
#[case::in_go("go.example.com", |foreign: &Foreign, endpoint: &str, _: &Path| foreign.go(endpoint), "DriverDeleteBucket")]
#[tokio::test]
async fn a_driver_in_another_language_works(
    #[case] name: &str,
    #[case] command_line: CommandLine,
    #[case] undone_by: &str,
) {
    let folder = tempfile::Builder::new().prefix("cosi-foreign-").tempdir().unwrap();
    let Some((mut world, _driver)) = world(name, folder.path(), command_line).await else { return };
    let backend = Backend::behind(folder.path());
    let bucket = world.create(Wish::delete()).await;
    let id = bucket.wait_ready().await;
    let access = world.access(AccessWish::to(&bucket).await).await;
    access.wait_ready().await;
    assert!(backend.has_bucket(&id).await && backend.has_account(&access.account_name()).await);
    access.go().await;
    bucket.release().await;
    bucket.wait_gone().await;
    assert!(!backend.has_bucket(&id).await && !backend.has_account(&access.account_name()).await);

    let bucket = world.create(Wish::delete()).await;
    let id = bucket.wait_ready().await;
    world.sidecar.kill();
    bucket.patch_status(&json!({ "status": null })).await;
    bucket.release().await;
    world.sidecar.start().unwrap();
    bucket.wait_gone().await;
    assert!(!backend.has_bucket(&id).await);
    let last = world.sidecar.lines_with(&format!("rpc={undone_by}"));
    assert!(
        last.iter().any(|line| line.contains(&bucket.name) && line.contains(" OK")),
        "{}",
        world.sidecar.log()
    );
    world.end().await;
}
