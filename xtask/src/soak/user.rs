//! A user who asks for a bucket and access to it, looks at the credentials, and gives everything back, again and again.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use cosi_api::{Bucket, BucketAccess, BucketAccessClass, BucketClaim, BucketClass};
use k8s_openapi::api::core::v1::Secret;
use kube::api::{DeleteParams, ListParams, PostParams};
use kube::{Api, Client};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

const NAMESPACE: &str = "default";
const CLASS: &str = "soak";
const DRIVER: &str = "sample.objectstorage.local";
/// Longer than the sidecar waits for a call that may still land.
const PATIENCE: Duration = Duration::from_mins(1);
const POLL: Duration = Duration::from_millis(50);

/// The classes that all users use.
pub(super) async fn set_up(client: &Client) -> Result<()> {
    let parameters = PostParams::default();
    let class = object(&json!({ "driverName": DRIVER, "deletionPolicy": "Delete" }), CLASS)?;
    Api::<BucketClass>::all(client.clone()).create(&parameters, &class).await?;
    let class = object(&json!({ "driverName": DRIVER, "authenticationType": "Key" }), CLASS)?;
    Api::<BucketAccessClass>::all(client.clone()).create(&parameters, &class).await?;
    Ok(())
}

fn object<K: serde::de::DeserializeOwned>(spec: &Value, name: &str) -> Result<K> {
    serde_json::from_value(json!({ "metadata": { "name": name }, "spec": spec })).context("write an object")
}

/// One user.
pub(super) struct User {
    name: String,
    claims: Api<BucketClaim>,
    accesses: Api<BucketAccess>,
    secrets: Api<Secret>,
}

impl User {
    pub(super) fn new(client: &Client, number: u32) -> Self {
        Self {
            name: format!("user-{number}"),
            claims: Api::namespaced(client.clone(), NAMESPACE),
            accesses: Api::namespaced(client.clone(), NAMESPACE),
            secrets: Api::namespaced(client.clone(), NAMESPACE),
        }
    }

    /// Comes and goes until told to stop.
    pub(super) async fn live(self, stop: &AtomicBool, rounds: &AtomicU64) -> Result<()> {
        while !stop.load(Ordering::Relaxed) {
            self.come().await.with_context(|| format!("{} comes", self.name))?;
            self.go().await.with_context(|| format!("{} goes", self.name))?;
            rounds.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }

    async fn come(&self) -> Result<()> {
        let name = &self.name;
        let claim = object(&json!({ "bucketClassName": CLASS, "protocols": ["S3"] }), name)?;
        self.claims.create(&PostParams::default(), &claim).await?;
        let wish = json!({ "bucketClaimName": name, "accessMode": "ReadWrite", "accessSecretName": name });
        let spec = json!({ "bucketAccessClassName": CLASS, "protocol": "S3", "bucketClaims": [wish] });
        self.accesses.create(&PostParams::default(), &object(&spec, name)?).await?;
        let ready = async || {
            let status = self.accesses.get(name).await?.status;
            Ok(status.is_some_and(|status| status.ready_to_use))
        };
        until("the access is ready", ready).await?;
        let data = self.secrets.get(name).await?.data.unwrap_or_default();
        ensure!(!data.is_empty(), "the Secret is empty");
        Ok(())
    }

    async fn go(&self) -> Result<()> {
        let name = &self.name;
        self.accesses.delete(name, &DeleteParams::default()).await?;
        self.claims.delete(name, &DeleteParams::default()).await?;
        until("the access has gone", async || Ok(self.accesses.get_opt(name).await?.is_none())).await?;
        until("the claim has gone", async || Ok(self.claims.get_opt(name).await?.is_none())).await?;
        ensure!(self.secrets.get_opt(name).await?.is_none(), "the Secret is left");
        Ok(())
    }
}

async fn until(what: &str, seen: impl AsyncFn() -> Result<bool>) -> Result<()> {
    let deadline = Instant::now() + PATIENCE;
    while !seen().await? {
        ensure!(Instant::now() < deadline, "not within {PATIENCE:?}: {what}");
        sleep(POLL).await;
    }
    Ok(())
}

/// No Bucket object, and no bucket at the backend.
pub(super) async fn expect_nothing_left(client: &Client, data: &Path) -> Result<()> {
    let buckets = Api::<Bucket>::all(client.clone()).list(&ListParams::default()).await?;
    ensure!(buckets.items.is_empty(), "{} Bucket objects are left", buckets.items.len());
    let kept = data.join("buckets");
    let left = std::fs::read_dir(&kept).with_context(|| format!("look into {}", kept.display()))?.count();
    ensure!(left == 0, "{left} buckets are left at the backend");
    Ok(())
}
