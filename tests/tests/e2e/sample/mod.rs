//! The real sample driver under the real sidecar: real S3 buckets, and a driver that is killed.

mod access;
mod service;

use std::fs;
use std::net::TcpListener;
use std::path::PathBuf;

use cosi_tests::object_store::ObjectStore;
use cosi_tests::sidecar::Sidecar;
use futures::future::join_all;
use tempfile::TempDir;

use crate::world::{Setup, TestBucket, Wish, World, error, eventually};

/// A world whose driver is the sample driver; the scripted one is not started.
struct Sample {
    world: World,
    driver: Sidecar,
    s3: String,
    folder: TempDir,
}

impl Sample {
    async fn start() -> Option<Self> {
        let mut world = Setup::default().sidecar_not_started().driver_not_started().start().await?;
        let folder = tempfile::Builder::new().prefix("cosi-sample-").tempdir().unwrap();
        fs::create_dir(folder.path().join("socket")).unwrap();
        let s3 = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
        let endpoint = format!("unix://{}/socket/cosi.sock", folder.path().display());
        let args =
            ["--endpoint", &endpoint, "--driver-name", &world.driver_name, "--s3-listen", &s3, "--data-dir"];
        let data = folder.path().join("data").display().to_string();
        let driver = Sidecar::of("cosi-sample-driver", args.into_iter().chain([data.as_str()])).unwrap();
        world.sidecar.replace_arg("--driver-endpoint", endpoint);
        world.scripted = false;
        let mut sample = Self { world, driver, s3, folder };
        sample.driver.start().unwrap();
        sample.world.sidecar.start().unwrap();
        Some(sample)
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// What the store itself holds, by its folders.
    fn folders(&self) -> Vec<String> {
        let entries = fs::read_dir(self.data().join("buckets")).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort_unstable();
        names
    }

    fn store(&self) -> ObjectStore {
        ObjectStore::open(&format!("http://{}", self.s3), &self.data().join("operator-credentials")).unwrap()
    }

    async fn release_all(&self, buckets: &[TestBucket]) {
        join_all(buckets.iter().map(TestBucket::release)).await;
        join_all(buckets.iter().map(TestBucket::wait_gone)).await;
    }
}

/// The main job: a bucket that can be used, and C14 with a real object in it.
#[tokio::test]
async fn a_real_bucket_is_made_used_kept_while_it_has_an_object_and_deleted() {
    let Some(sample) = Sample::start().await else { return };
    let bucket = sample.world.create(Wish::delete()).await;
    let id = bucket.wait_ready().await;
    let info = bucket.get().await.unwrap().status.unwrap().bucket_info.unwrap();
    assert_eq!(info["COSI_S3_ENDPOINT"], format!("http://{}", sample.s3));
    assert_eq!(info["COSI_S3_BUCKET_ID"], id);

    let store = sample.store();
    store.put(&id, "greeting", "hello").await.unwrap();
    assert_eq!(store.get(&id, "greeting").await.unwrap(), "hello");
    bucket.release().await;
    let message = bucket.wait_error("FAILED_PRECONDITION").await;
    assert!(message.contains("empty"), "{message}");
    bucket.wait_event("DeletionBlocked").await;
    bucket.wait_claim_event("DeletionBlocked").await;
    assert_eq!(sample.folders(), [id.as_str()]);

    store.delete(&id, "greeting").await.unwrap();
    bucket.wait_gone().await;
    assert_eq!(sample.folders(), Vec::<String>::new());
    sample.world.end().await;
}

/// A bucket with objects goes at once if its class says so.
#[tokio::test]
async fn a_class_may_ask_for_deletion_with_all_objects() {
    let Some(sample) = Sample::start().await else { return };
    let wish = Wish::delete().spec("parameters", serde_json::json!({ "deleteNonEmpty": "true" }));
    let bucket = sample.world.create(wish).await;
    let id = bucket.wait_ready().await;
    sample.store().put(&id, "greeting", "hello").await.unwrap();
    bucket.release().await;
    bucket.wait_gone().await;
    assert_eq!(sample.folders(), Vec::<String>::new());
    sample.world.end().await;
}

/// A typo in a class: the refusal names it, and deletion is not held up (C7).
#[tokio::test]
async fn an_unknown_parameter_is_named_and_does_not_block_deletion() {
    let Some(sample) = Sample::start().await else { return };
    let wish = Wish::delete().spec("parameters", serde_json::json!({ "deleteNonEmtpy": "true" }));
    let bucket = sample.world.create(wish).await;
    let message = bucket.wait_error("INVALID_ARGUMENT").await;
    assert!(message.contains("deleteNonEmtpy"), "{message}");
    bucket.release().await;
    bucket.wait_gone().await;
    sample.world.end().await;
}

/// I1 with SIGKILLs of the driver during churn: what is Ready is there, what is deleted is gone. C40: each kill leaves a stale
/// socket, which the next start removes.
#[tokio::test]
async fn a_driver_killed_again_and_again_orphans_nothing() {
    let Some(mut sample) = Sample::start().await else { return };
    let mut buckets = Vec::new();
    for round in 0..5 {
        let more = sample.world.create_many(20, &Wish::delete()).await;
        // A few are there, most are under way.
        more[round].wait_ready().await;
        sample.driver.kill();
        sample.driver.start().unwrap();
        buckets.extend(more);
    }
    join_all(buckets.iter().map(TestBucket::wait_ready)).await;
    let mut names: Vec<_> = buckets.iter().map(|bucket| bucket.name.clone()).collect();
    names.sort_unstable();
    assert_eq!(sample.folders(), names);

    let (first, second) = buckets.split_at(50);
    join_all(first.iter().map(TestBucket::release)).await;
    first[0].wait_gone().await;
    sample.driver.kill();
    sample.driver.start().unwrap();
    join_all(first.iter().map(TestBucket::wait_gone)).await;
    assert_eq!(sample.folders().len(), 50);
    sample.release_all(second).await;
    assert_eq!(sample.folders(), Vec::<String>::new());
    sample.world.end().await;
}

/// C40: a second driver at a socket that is in use gives up, says why, and disturbs nobody.
#[tokio::test]
async fn a_second_driver_at_the_same_socket_gives_up() {
    let Some(sample) = Sample::start().await else { return };
    let bucket = sample.world.create(Wish::delete()).await;
    bucket.wait_ready().await;
    let endpoint = format!("unix://{}/socket/cosi.sock", sample.folder.path().display());
    let other_data = sample.folder.path().join("other").display().to_string();
    let args = ["--endpoint", &endpoint, "--s3-listen", "127.0.0.1:0", "--data-dir", &other_data];
    let mut second = Sidecar::of("cosi-sample-driver", args).unwrap();
    second.start().unwrap();
    let status = second.wait_exit().await.unwrap();
    assert!(!status.success());
    let last = second.log().lines().last().unwrap_or_default().to_owned();
    assert!(last.contains("in use"), "C28: {}", second.log());
    sample.release_all(&[bucket]).await;
    sample.world.end().await;
}

/// SIGTERM drains: the driver ends in time, with its calls answered, and its socket is gone.
#[tokio::test]
async fn a_driver_that_is_stopped_leaves_no_socket() {
    let Some(mut sample) = Sample::start().await else { return };
    let bucket = sample.world.create(Wish::delete()).await;
    bucket.wait_ready().await;
    sample.driver.terminate().unwrap();
    let status = sample.driver.wait_exit().await.unwrap();
    assert!(status.success(), "{}", sample.driver.log());
    assert!(!sample.folder.path().join("socket/cosi.sock").exists());
    bucket.release().await;
    eventually("the deletion to wait for the driver", async || {
        let bucket = bucket.get().await.unwrap();
        match error(&bucket) {
            Some(message) if message.contains("waits for the driver") => Ok(()),
            other => Err(format!("{other:?}")),
        }
    })
    .await;
    sample.driver.start().unwrap();
    bucket.wait_gone().await;
    assert_eq!(sample.folders(), Vec::<String>::new());
    sample.world.end().await;
}
