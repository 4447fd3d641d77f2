//! A world of its own for each test: driver, API proxy, sidecar and namespace. Only the API server is shared.
//!
//! Every world has a driver name of its own, so its sidecar leaves the objects of the others alone (which is C9).

mod access;
mod bucket;
mod lease;
mod oracle;
mod rival;
mod setup;
mod wait;

use std::sync::Mutex;
use std::time::Duration;

use cosi_api::{Bucket, BucketClaim};
use cosi_sim::driver::ScriptedDriver;
use cosi_sim::proxy::{ApiProxy, Mark, Match};
use cosi_tests::devcluster::DevCluster;
use cosi_tests::sidecar::Sidecar;
use futures::stream::{self, StreamExt as _};
use kube::api::{Api, DeleteParams, PostParams};
use serde_json::json;

pub(crate) use access::{AccessWish, TestAccess, error_of, has_finalizer, is_clean, is_ready};
pub(crate) use bucket::{TestBucket, Wish, error, has_our_finalizer, reasons};
pub(crate) use lease::holder;
pub(crate) use setup::{Election, GRACE, Setup, TIMEOUT, fresh_name};
pub(crate) use wait::eventually;

/// Everything that a test needs. It is shown if the test fails.
pub(crate) struct World {
    pub(crate) cluster: std::sync::Arc<DevCluster>,
    /// The admin, past the proxy: what the test itself does is neither counted nor disturbed.
    pub(crate) client: kube::Client,
    pub(crate) proxy: ApiProxy,
    pub(crate) driver: ScriptedDriver,
    pub(crate) driver_name: String,
    pub(crate) sidecar: Sidecar,
    pub(crate) namespace: String,
    /// The test makes a second object under a first one's name, so what I2 says of names must be judged by the test.
    pub(crate) reuses_names: bool,
    /// What R3 is judged by.
    pub(crate) grace: Duration,
    /// The driver is the scripted one, so that its backend can be asked.
    pub(crate) scripted: bool,
    begin: Mark,
    made: Mutex<Vec<TestBucket>>,
    accesses: Mutex<Vec<TestAccess>>,
    /// Names of accounts that may be left.
    left: Mutex<Vec<String>>,
    _kubeconfig: tempfile::NamedTempFile,
}

/// A Bucket to be.
pub(crate) struct Plan {
    pub(crate) name: String,
    pub(crate) claim_ref: serde_json::Value,
}

impl World {
    /// A running world with a good driver; `None` after saying that there is no cluster.
    pub(crate) async fn start() -> Option<Self> {
        Setup::default().start().await
    }

    /// A new Bucket as a controller makes it for a claim: the claim exists, its UID is in the Bucket's name and claim ref.
    pub(crate) async fn create(&self, wish: Wish) -> TestBucket {
        self.create_planned(&self.plan().await, wish).await
    }

    /// Makes the claim and thereby settles the Bucket's name, so that rules can be made before the Bucket is there.
    pub(crate) async fn plan(&self) -> Plan {
        let claim = self.claim().await;
        let uid = claim.metadata.uid.unwrap();
        let claim_ref =
            json!({ "name": claim.metadata.name, "namespace": self.namespace, "uid": uid.as_str() });
        Plan { name: format!("bc-{uid}"), claim_ref }
    }

    /// The Bucket of a [`World::plan`].
    pub(crate) async fn create_planned(&self, plan: &Plan, wish: Wish) -> TestBucket {
        self.create_as(&plan.name, wish, plan.claim_ref.clone()).await
    }

    /// A new static Bucket for the backend's `id`, not bound yet.
    pub(crate) async fn create_static(&self, id: &str) -> TestBucket {
        let claim_ref = json!({ "name": "not-there-yet", "namespace": self.namespace });
        self.create_as(&fresh_name("static"), Wish::delete().existing(id), claim_ref).await
    }

    /// A new Bucket of any name, with any claim ref.
    pub(crate) async fn create_as(&self, name: &str, wish: Wish, claim_ref: serde_json::Value) -> TestBucket {
        let api: Api<Bucket> = Api::all(self.client.clone());
        let object = wish.object(name, &self.driver_name, claim_ref);
        api.create(&PostParams::default(), &object).await.unwrap();
        self.adopt(name)
    }

    /// A handle on the Bucket of that name, which is cleaned up when the test ends.
    pub(crate) fn adopt(&self, name: &str) -> TestBucket {
        let bucket = TestBucket::new(self.client.clone(), name, &self.namespace);
        self.made.lock().unwrap().push(bucket.clone());
        bucket
    }

    /// A Bucket that is Ready.
    pub(crate) async fn bucket(&self) -> TestBucket {
        let bucket = self.create(Wish::delete()).await;
        bucket.wait_ready().await;
        bucket
    }

    /// `n` Buckets at once.
    pub(crate) async fn create_many(&self, n: usize, wish: &Wish) -> Vec<TestBucket> {
        stream::iter(0..n).map(|_| self.create(wish.clone())).buffer_unordered(16).collect().await
    }

    /// A new claim in this world's namespace.
    pub(crate) async fn claim(&self) -> BucketClaim {
        let claim = json!({
            "apiVersion": "objectstorage.k8s.io/v1alpha2", "kind": "BucketClaim",
            "metadata": { "generateName": "claim-" },
            "spec": { "bucketClassName": "class", "protocols": ["S3"] },
        });
        let api: Api<BucketClaim> = Api::namespaced(self.client.clone(), &self.namespace);
        api.create(&PostParams::default(), &serde_json::from_value(claim).unwrap()).await.unwrap()
    }

    /// Waits until `n` such requests of the sidecar have come, since the world began.
    pub(crate) async fn wait_seen(&self, which: &Match, n: usize) {
        self.proxy.wait_count_since(self.begin, which, n).await.unwrap();
    }

    /// SIGKILL, then a new life. Calls on their way to driver or API server go on there.
    pub(crate) fn restart_sidecar(&mut self) {
        self.sidecar.kill();
        self.sidecar.start().unwrap();
    }

    /// The end of a test that went well: the backend's own checks (I2, I4, I8, R3), no ERROR in the log (C10), accounts
    /// (I1) and secrets (I7), the sidecar still alive. Then everything is cleaned up.
    pub(crate) async fn end(mut self) {
        assert!(self.sidecar.is_running(), "the sidecar has ended");
        assert_eq!(self.sidecar.lines_with(" ERROR "), Vec::<String>::new(), "C10: errors in the log");
        self.end_stopped().await;
    }

    /// As [`World::end`], for a sidecar that was stopped by the test, or gave up as it should.
    pub(crate) async fn end_stopped(mut self) {
        let ledger = self.driver.ledger();
        ledger.one_call_at_a_time().unwrap();
        ledger.grace_kept(self.grace).unwrap();
        if !self.reuses_names {
            self.driver.check(self.grace).unwrap();
        }
        self.check_accounts().await;
        self.check_secrecy().await.unwrap();
        self.sidecar.kill();
        self.clean_up().await;
    }

    /// As [`World::end`], and the backend holds exactly these Buckets (I1).
    pub(crate) async fn end_holding(self, buckets: &[&TestBucket]) {
        let names: Vec<&str> = buckets.iter().map(|bucket| bucket.name.as_str()).collect();
        self.driver.holds_exactly(&names).unwrap();
        self.end().await;
    }

    /// As [`World::end`], and the backend is empty (I1).
    pub(crate) async fn end_empty(self) {
        self.end_holding(&[]).await;
    }

    /// The end of a test that broke on purpose what [`World::end`] checks.
    pub(crate) async fn abandon(mut self) {
        self.sidecar.kill();
        self.clean_up().await;
    }

    async fn clean_up(&mut self) {
        let accesses = std::mem::take(&mut *self.accesses.lock().unwrap());
        let removals = accesses.into_iter().map(|access| async move {
            access.remove_by_force().await;
            access.remove_secrets_by_force().await;
        });
        stream::iter(removals).buffer_unordered(16).collect::<Vec<()>>().await;
        let made = std::mem::take(&mut *self.made.lock().unwrap());
        let removals = made.into_iter().map(|bucket| async move { bucket.remove_by_force().await });
        stream::iter(removals).buffer_unordered(16).collect::<Vec<()>>().await;
        let namespaces: Api<k8s_openapi::api::core::v1::Namespace> = Api::all(self.client.clone());
        let _ = namespaces.delete(&self.namespace, &DeleteParams::default()).await;
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("--- the sidecar's log\n{}", self.sidecar.log());
            eprintln!("--- the driver's ledger\n{}", self.driver.ledger());
            eprintln!("--- the API proxy's log\n{}", self.proxy.log());
        }
    }
}
