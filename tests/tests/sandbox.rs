//! The sandbox as a newcomer uses it: started as a process, told by objects, ended by Ctrl-C.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use cosi_api::{Bucket, BucketAccess, BucketAccessClass, BucketClaim, BucketClass};
use cosi_tests::devcluster::client_of;
use cosi_tests::object_store::ObjectStore;
use cosi_tests::sidecar::beside_us;
use k8s_openapi::api::core::v1::Secret;
use kube::api::{DeleteParams, PostParams};
use kube::{Api, Client, ResourceExt};
use rustix::process::{Pid, Signal, kill_process};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// How long anything may take; machines may be slow.
const PATIENCE: Duration = Duration::from_mins(1);

struct Sandbox {
    child: std::process::Child,
    folder: tempfile::TempDir,
}

impl Sandbox {
    fn start(arguments: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new(beside_us("cosi-sandbox"));
        command.arg("--dir").arg(folder.path()).args(arguments).stdout(Stdio::piped());
        Self { child: command.spawn().unwrap(), folder }
    }

    /// The first line is there at once, and so is the API server.
    async fn client(&mut self) -> Client {
        let kubeconfig = self.folder.path().join("kubeconfig");
        until("a kubeconfig", async || kubeconfig.exists()).await;
        client_of(&kubeconfig).await.unwrap()
    }

    /// As Ctrl-C does; what was printed is returned.
    fn interrupt(self) -> String {
        let pid = Pid::from_raw(self.child.id().try_into().unwrap()).unwrap();
        kill_process(pid, Signal::INT).unwrap();
        let output = self.child.wait_with_output().unwrap();
        let log = std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
        assert!(output.status.success(), "{output:?}\n{log}");
        String::from_utf8(output.stdout).unwrap()
    }
}

async fn until(what: &str, seen: impl AsyncFn() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !seen().await {
        assert!(Instant::now() < deadline, "not in time: {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// The objects of an example file.
fn examples(file: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy/examples").join(file);
    let text = std::fs::read_to_string(path).unwrap();
    serde_saphyr::from_multiple(&text).unwrap()
}

async fn create<K>(api: Api<K>, object: &Value)
where
    K: DeserializeOwned + serde::Serialize + Clone + std::fmt::Debug,
{
    api.create(&PostParams::default(), &serde_json::from_value(object.clone()).unwrap()).await.unwrap();
}

#[tokio::test]
async fn a_claim_and_an_access_are_all_that_a_user_writes_and_nothing_is_left_when_they_go() {
    let mut sandbox = Sandbox::start(&[]);
    let client = sandbox.client().await;
    let (claims, accesses) =
        (Api::default_namespaced(client.clone()), Api::default_namespaced(client.clone()));
    let [class, claim] = examples("claim.yaml").try_into().unwrap();
    create(Api::<BucketClass>::all(client.clone()), &class).await;
    create::<BucketClaim>(claims.clone(), &claim).await;
    let [class, access] = examples("access.yaml").try_into().unwrap();
    create(Api::<BucketAccessClass>::all(client.clone()), &class).await;
    create::<BucketAccess>(accesses.clone(), &access).await;

    until("the access is ready", async || {
        accesses.get("example").await.unwrap().status.is_some_and(|status| status.ready_to_use)
    })
    .await;
    let secrets = Api::<Secret>::default_namespaced(client.clone());
    let data = secrets.get("example-credentials").await.unwrap().data.unwrap();
    let value = |key: &str| String::from_utf8(data[key].0.clone()).unwrap();
    let store = ObjectStore::with_key(
        &value("COSI_S3_ENDPOINT"),
        &value("COSI_S3_REGION"),
        &value("COSI_S3_ACCESS_KEY_ID"),
        &value("COSI_S3_ACCESS_SECRET_KEY"),
    );
    let bucket = value("COSI_S3_BUCKET_ID");
    store.put(&bucket, "greeting", "hello").await.unwrap();
    store.delete(&bucket, "greeting").await.unwrap();

    // The claim first: it waits for its access.
    claims.delete("example", &DeleteParams::default()).await.unwrap();
    accesses.delete("example", &DeleteParams::default()).await.unwrap();
    until("the claim has gone", async || claims.get_opt("example").await.unwrap().is_none()).await;
    assert!(accesses.get_opt("example").await.unwrap().is_none());
    assert!(secrets.get_opt("example-credentials").await.unwrap().is_none());
    let left = Api::<Bucket>::all(client).list(&kube::api::ListParams::default()).await.unwrap();
    assert_eq!(left.items.iter().map(ResourceExt::name_any).collect::<Vec<_>>(), <[String; 0]>::default());
    let backend = sandbox.folder.path().join("data/buckets");
    assert_eq!(std::fs::read_dir(backend).unwrap().count(), 0);
    let printed = sandbox.interrupt();
    assert!(printed.contains("export KUBECONFIG=") && printed.contains("kubectl apply"), "{printed}");
}

/// A claim that cannot be fulfilled says why, where its user looks.
#[tokio::test]
async fn a_claim_of_a_class_that_does_not_exist_says_so() {
    let mut sandbox = Sandbox::start(&[]);
    let client = sandbox.client().await;
    let claims = Api::<BucketClaim>::default_namespaced(client);
    let claim = json!({ "metadata": { "name": "lost" }, "spec": { "bucketClassName": "nowhere" } });
    create(claims.clone(), &claim).await;
    until("an error in the status", async || {
        let error = claims.get("lost").await.unwrap().status.and_then(|status| status.error);
        error.and_then(|error| error.message).is_some_and(|m| m == "there is no BucketClass nowhere")
    })
    .await;
    sandbox.interrupt();
}

#[tokio::test]
async fn without_the_controller_a_claim_is_left_alone_and_a_bucket_is_made_ready() {
    let mut sandbox = Sandbox::start(&["--no-controller"]);
    let client = sandbox.client().await;
    let claims = Api::<BucketClaim>::default_namespaced(client.clone());
    let [_, claim] = examples("claim.yaml").try_into().unwrap();
    create(claims.clone(), &claim).await;
    let buckets = Api::<Bucket>::all(client);
    let [bucket] = examples("bucket.yaml").try_into().unwrap();
    create(buckets.clone(), &bucket).await;
    let name = bucket["metadata"]["name"].as_str().unwrap();
    until("the Bucket is ready", async || {
        buckets.get(name).await.unwrap().status.is_some_and(|status| status.ready_to_use)
    })
    .await;
    assert!(claims.get("example").await.unwrap().metadata.finalizers.is_none());
    sandbox.interrupt();
}

/// Nobody but this machine's users may reach it.
#[test]
fn an_address_that_others_can_reach_is_refused() {
    for flag in ["--listen", "--s3-listen"] {
        let output = Command::new(beside_us("cosi-sandbox")).args([flag, "0.0.0.0:0"]).output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && message.contains("loopback"), "{flag}: {message}");
    }
}
