//! The sample driver before a service elsewhere that has S3 and IAM APIs, under the real sidecar.

use std::fs;

use cosi_tests::object_store::ObjectStore;
use cosi_tests::seaweed::{self, ACCESS_KEY, SECRET_KEY, Seaweed};
use cosi_tests::sidecar::Sidecar;
use futures::future::join_all;
use tempfile::TempDir;

use super::access::{application, denied};
use crate::world::{AccessWish, Setup, TestAccess, TestBucket, Wish, World, eventually};

/// A world whose driver makes everything at that service.
struct Service {
    world: World,
    driver: Sidecar,
    seaweed: &'static Seaweed,
    _folder: TempDir,
}

impl Service {
    async fn start(test: &str) -> Option<Self> {
        let seaweed = seaweed::or_skip(test).await?;
        let mut world = Setup::default().sidecar_not_started().driver_not_started().start().await?;
        let folder = tempfile::Builder::new().prefix("cosi-service-").tempdir().unwrap();
        fs::create_dir(folder.path().join("socket")).unwrap();
        let endpoint = format!("unix://{}/socket/cosi.sock", folder.path().display());
        let mut line = seaweed.sample_driver(&endpoint, &folder.path().join("ledger.redb"));
        line.extend(["--driver-name", &world.driver_name].map(Into::into));
        let driver = Sidecar::of("/usr/bin/env", line).unwrap();
        world.sidecar.replace_arg("--driver-endpoint", endpoint);
        world.scripted = false;
        let mut service = Self { world, driver, seaweed, _folder: folder };
        service.driver.start().unwrap();
        service.world.sidecar.start().unwrap();
        Some(service)
    }

    /// Which of these Buckets have a bucket at the service.
    async fn buckets(&self, of: &[TestBucket]) -> usize {
        let answer = self.seaweed.s3().list_buckets().send().await.unwrap();
        let there = |name: &str| answer.buckets().iter().any(|bucket| bucket.name() == Some(name));
        of.iter().filter(|bucket| there(&bucket.name)).count()
    }

    /// Which of these accesses have a user at the service.
    async fn users(&self, of: &[TestAccess]) -> usize {
        let users = self.seaweed.iam().list_users().send().await.unwrap().users;
        let there = |name: &str| users.iter().any(|user| user.user_name == name);
        of.iter().filter(|access| there(&access.account_name())).count()
    }

    fn operator(&self) -> ObjectStore {
        ObjectStore::with_key(&self.seaweed.endpoint, "us-east-1", ACCESS_KEY, SECRET_KEY)
    }
}

/// Rights spread within the service: waits until the store answers so.
async fn until_put(store: &ObjectStore, bucket: &str) {
    eventually("the key to work", async || {
        store.put(bucket, "greeting", "hello").await.map_err(|e| e.to_string())
    })
    .await;
}

/// From claim to nothing left, with keys that open one bucket until they are revoked (C14, C34).
#[tokio::test]
async fn a_bucket_and_access_to_it_come_work_and_go() {
    let Some(service) = Service::start("a bucket and access to it at a service").await else { return };
    let buckets = service.world.create_many(2, &Wish::delete()).await;
    join_all(buckets.iter().map(TestBucket::wait_ready)).await;
    let access = service.world.access(AccessWish::to(&buckets[0]).await).await;
    access.wait_ready().await;
    let (store, id) = application(&access, 0).await;
    until_put(&store, &id).await;
    assert_eq!(store.get(&id, "greeting").await.unwrap(), "hello");
    denied(&store.put(&buckets[1].wait_ready().await, "greeting", "no").await);

    access.go().await;
    assert_eq!(service.users(&[access]).await, 0);
    eventually("the key to be dead", async || match store.get(&id, "greeting").await {
        Err(_) => Ok(()),
        Ok(_) => Err("it works".to_owned()),
    })
    .await;
    denied(&store.get(&id, "greeting").await);

    join_all(buckets.iter().map(TestBucket::release)).await;
    buckets[1].wait_gone().await;
    buckets[0].wait_error("FAILED_PRECONDITION").await;
    assert_eq!(service.buckets(&buckets).await, 1);
    service.operator().delete(&id, "greeting").await.unwrap();
    buckets[0].wait_gone().await;
    assert_eq!(service.buckets(&buckets).await, 0);
    assert!(!service.driver.log().contains(SECRET_KEY));
    service.world.end().await;
}

/// I1 with SIGKILLs of driver and sidecar during churn: what is Ready is there, what is deleted is gone.
#[tokio::test]
async fn both_killed_again_and_again_leave_nothing_at_the_service() {
    let Some(mut service) = Service::start("kills before a service").await else { return };
    let mut buckets = vec![];
    for round in 0..4 {
        let more = service.world.create_many(8, &Wish::delete()).await;
        // A few are there, most are under way.
        more[round].wait_ready().await;
        service.driver.kill();
        if round % 2 == 1 {
            service.world.restart_sidecar();
        }
        service.driver.start().unwrap();
        buckets.extend(more);
    }
    join_all(buckets.iter().map(TestBucket::wait_ready)).await;
    assert_eq!(service.buckets(&buckets).await, buckets.len());

    let mut accesses = vec![];
    for bucket in &buckets[..12] {
        accesses.push(service.world.access(AccessWish::to(bucket).await).await);
    }
    accesses[3].wait_ready().await;
    service.driver.kill();
    service.world.restart_sidecar();
    service.driver.start().unwrap();
    // Half of them are taken back before they are Ready.
    let (kept, given_up) = accesses.split_at(6);
    join_all(given_up.iter().map(TestAccess::delete)).await;
    service.driver.kill();
    service.driver.start().unwrap();
    join_all(given_up.iter().map(TestAccess::wait_clean)).await;
    join_all(kept.iter().map(TestAccess::wait_ready)).await;
    assert_eq!((service.users(kept).await, service.users(given_up).await), (6, 0));

    join_all(given_up.iter().map(TestAccess::finish)).await;
    join_all(kept.iter().map(TestAccess::go)).await;
    join_all(buckets.iter().map(TestBucket::release)).await;
    buckets[0].wait_gone().await;
    service.driver.kill();
    service.driver.start().unwrap();
    join_all(buckets.iter().map(TestBucket::wait_gone)).await;
    assert_eq!((service.buckets(&buckets).await, service.users(&accesses).await), (0, 0));
    service.world.end().await;
}
