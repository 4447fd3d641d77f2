//! Accounts of the real sample driver: keys that open just what they should, until they are revoked; and both processes
//! killed in the window between Grant and Secret.

use cosi_proto::v1alpha2::driver_grant_bucket_access_request::AccessedBucket;
use cosi_proto::v1alpha2::provisioner_client::ProvisionerClient;
use cosi_proto::v1alpha2::{self as wire, DriverGrantBucketAccessRequest};
use cosi_sim::proxy::{Action, Match};
use cosi_tests::canary::Canary;
use cosi_tests::object_store::{ObjectStore, StoreError};
use futures::future::join_all;
use rstest::rstest;
use tonic::transport::Endpoint;

use super::Sample;
use crate::world::{AccessWish, TestAccess, eventually, is_ready};

/// The store, as an application sees it that has the n-th Secret and nothing else.
pub(super) async fn application(access: &TestAccess, n: usize) -> (ObjectStore, String) {
    let found = access.credentials(n).await;
    let [endpoint, region, id, secret] = ["ENDPOINT", "REGION", "ACCESS_KEY_ID", "ACCESS_SECRET_KEY"]
        .map(|key| &found[&format!("COSI_S3_{key}")]);
    (ObjectStore::with_key(endpoint, region, id, secret), found["COSI_S3_BUCKET_ID"].clone())
}

pub(super) fn denied<T: std::fmt::Debug>(result: &Result<T, StoreError>) {
    assert!(matches!(result, Err(StoreError::Denied { .. })), "not denied: {result:?}");
}

impl Sample {
    /// What the driver answers to the Grant that the sidecar sent: the same credentials again.
    async fn granted(&self, access: &TestAccess) -> ObjectStore {
        let endpoint = format!("unix:{}/socket/cosi.sock", self.folder.path().display());
        let channel = Endpoint::try_from(endpoint).unwrap().connect_lazy();
        let key = wire::authentication_type::Type::Key.into();
        let mode = wire::access_mode::Mode::ReadWrite.into();
        let request = DriverGrantBucketAccessRequest {
            account_name: access.account_name(),
            protocol: Some(wire::ObjectProtocol { r#type: wire::object_protocol::Type::S3.into() }),
            authentication_type: Some(wire::AuthenticationType { r#type: key }),
            buckets: vec![AccessedBucket {
                bucket_id: access.wish_id(0).to_owned(),
                access_mode: Some(wire::AccessMode { mode }),
            }],
            ..DriverGrantBucketAccessRequest::default()
        };
        let client = ProvisionerClient::new(channel);
        let answer = eventually("an answer of the restarted driver", async || {
            let answer = client.clone().driver_grant_bucket_access(request.clone()).await;
            answer.map_err(|status| status.code().to_string())
        })
        .await;
        let key = answer.into_inner().credentials.unwrap().s3.unwrap();
        let s3 = format!("http://{}", self.s3);
        ObjectStore::with_key(&s3, "us-east-1", &key.access_key_id, &key.access_secret_key)
    }

    /// Neither process printed a key.
    fn check_secrecy(&self, keys: &[String]) {
        for key in keys {
            let canary = Canary::new(key);
            canary.search("the sidecar's log", &self.world.sidecar.log()).unwrap();
            canary.search("the driver's log", &self.driver.log()).unwrap();
        }
    }
}

/// C34 with a real store: each mode opens what it says and no more; a revoked key opens nothing.
#[tokio::test]
async fn keys_open_what_their_mode_says_until_they_are_revoked() {
    let Some(sample) = Sample::start().await else { return };
    let (first, second) = (sample.world.bucket().await, sample.world.bucket().await);
    let (ours, other) = (first.wait_ready().await, second.wait_ready().await);
    let mut accesses = vec![];
    for mode in ["ReadWrite", "ReadOnly", "WriteOnly"] {
        let wish = AccessWish::to(&first).await.entry(|entry| entry.mode = mode);
        let access = sample.world.access(wish).await;
        access.wait_ready().await;
        accesses.push(access);
    }
    let mut stores = vec![];
    let mut keys = vec![];
    for access in &accesses {
        stores.push(application(access, 0).await.0);
        keys.push(access.credentials(0).await["COSI_S3_ACCESS_SECRET_KEY"].clone());
    }
    let [read_write, read_only, write_only] = [&stores[0], &stores[1], &stores[2]];
    read_write.put(&ours, "greeting", "hello").await.unwrap();
    assert_eq!(read_only.get(&ours, "greeting").await.unwrap(), "hello");
    denied(&read_only.put(&ours, "greeting", "no").await);
    write_only.put(&ours, "note", "written").await.unwrap();
    denied(&write_only.get(&ours, "note").await);
    assert_eq!(read_write.get(&ours, "note").await.unwrap(), "written");
    for store in &stores {
        denied(&store.put(&other, "greeting", "no").await);
        denied(&store.get(&other, "greeting").await);
    }
    join_all(accesses.iter().map(TestAccess::go)).await;
    for store in &stores {
        denied(&store.get(&ours, "greeting").await);
        denied(&store.put(&ours, "greeting", "no").await);
    }
    sample.check_secrecy(&keys);
    sample.world.end().await;
}

/// The window, with both processes killed in it: granted, and no Secret written. Deleted meanwhile, the key is dead in the
/// end; else it is the one that the Secret gets.
#[rstest]
#[tokio::test]
async fn both_killed_between_grant_and_secret_leave_no_key_that_nobody_owns(
    #[values(true, false)] deleted_meanwhile: bool,
) {
    let Some(mut sample) = Sample::start().await else { return };
    let bucket = sample.world.bucket().await;
    let access = sample.world.plan_access(AccessWish::to(&bucket).await).await;
    let fill = Match::change("secrets").named(access.secret_name(0)).nth(1);
    let window = sample.world.proxy.rule(fill, Action::hang());
    access.hand_over().await;
    window.wait_hit().await.unwrap();
    sample.world.sidecar.kill();
    sample.driver.kill();
    window.off();
    assert!(!is_ready(&access.get().await.unwrap()));
    sample.driver.start().unwrap();
    let key = sample.granted(&access).await;
    let id = access.wish_id(0);
    key.put(id, "greeting", "a key that works and nobody has").await.unwrap();
    if deleted_meanwhile {
        access.delete().await;
    }
    sample.world.sidecar.start().unwrap();
    if !deleted_meanwhile {
        access.wait_ready().await;
        let (store, id) = application(&access, 0).await;
        assert_eq!(store.get(&id, "greeting").await.unwrap(), "a key that works and nobody has");
        access.delete().await;
    }
    access.wait_clean().await;
    denied(&key.get(id, "greeting").await);
    access.finish().await;
    sample.world.end().await;
}

/// I1 with SIGKILLs of the driver during churn: what is Ready has a key that works, what is deleted has none.
#[tokio::test]
async fn a_driver_killed_again_and_again_keeps_no_key_and_loses_none() {
    let Some(mut sample) = Sample::start().await else { return };
    let bucket = sample.world.bucket().await;
    let id = bucket.wait_ready().await;
    let mut accesses = vec![];
    for round in 0..4 {
        let wish = AccessWish::to(&bucket).await;
        let more = join_all((0..10).map(|n| {
            let wish = wish.clone().entry(|entry| entry.secret = format!("secret-{round}-{n}"));
            sample.world.access(wish)
        }))
        .await;
        // A few are there, most are under way.
        more[round].wait_ready().await;
        sample.driver.kill();
        sample.driver.start().unwrap();
        accesses.extend(more);
    }
    join_all(accesses.iter().map(TestAccess::wait_ready)).await;
    let stores: Vec<_> = join_all(accesses.iter().map(async |access| application(access, 0).await.0)).await;
    for store in &stores {
        store.put(&id, "greeting", "hello").await.unwrap();
    }
    let (first, second) = accesses.split_at(20);
    join_all(first.iter().map(TestAccess::delete)).await;
    first[0].wait_clean().await;
    sample.driver.kill();
    sample.driver.start().unwrap();
    join_all(first.iter().map(TestAccess::wait_clean)).await;
    for (n, store) in stores.iter().enumerate() {
        if n < 20 {
            denied(&store.get(&id, "greeting").await);
        } else {
            assert_eq!(store.get(&id, "greeting").await.unwrap(), "hello");
        }
    }
    join_all(first.iter().map(TestAccess::finish)).await;
    join_all(second.iter().map(TestAccess::go)).await;
    sample.world.end().await;
}
