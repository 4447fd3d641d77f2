//! Drivers in other languages under the real sidecar: one with the RPCs by name, one without.

use std::ffi::OsString;
use std::path::Path;

use cosi_tests::foreign::{self, Foreign};
use cosi_tests::sidecar::Sidecar;
use rstest::rstest;
use serde_json::json;

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
    world.driver_name = name.to_owned();
    world.scripted = false;
    world.sidecar.replace_arg("--driver-endpoint", endpoint);
    world.sidecar.start().unwrap();
    Some((world, driver))
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
    let bucket = world.create(Wish::delete()).await;
    let id = bucket.wait_ready().await;
    let access = world.access(AccessWish::to(&bucket).await).await;
    access.wait_ready().await;
    access.go().await;
    bucket.release().await;
    bucket.wait_gone().await;

    let bucket = world.create(Wish::delete()).await;
    assert_ne!(bucket.wait_ready().await, id);
    world.sidecar.kill();
    bucket.patch_status(&json!({ "status": null })).await;
    bucket.release().await;
    world.sidecar.start().unwrap();
    bucket.wait_gone().await;
    let last = world.sidecar.lines_with(&format!("rpc={undone_by}"));
    assert!(
        last.iter().any(|line| line.contains(&bucket.name) && line.contains(" OK")),
        "{}",
        world.sidecar.log()
    );
    world.end().await;
}
