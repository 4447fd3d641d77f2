//! Buckets by the thousand, and the bare generator.

use std::time::Instant;

use anyhow::{Context, Result};
use cosi_api::{Bucket, names};
use futures::{StreamExt as _, TryStreamExt as _, stream};
use kube::api::{ListParams, Patch, PatchParams, PostParams};
use kube::{Api, Client, ResourceExt as _};
use serde_json::{Value, json};

use super::ready::Ready;

/// Requests at a time.
pub(super) const PARALLEL: usize = 32;

/// Makes Buckets.
#[derive(Clone)]
pub(super) struct Load {
    buckets: Api<Bucket>,
}

impl Load {
    pub(super) fn new(client: Client) -> Self {
        Self { buckets: Api::all(client) }
    }

    /// Creates Buckets of a phase, as a controller does.
    pub(super) async fn create(&self, driver: &str, phase: &str, count: u32) -> Result<Vec<Bucket>> {
        let create = |number| async move {
            let bucket = serde_json::from_value(bucket(driver, phase, number)).context("write a Bucket")?;
            self.buckets.create(&PostParams::default(), &bucket).await.context("create a Bucket")
        };
        stream::iter(0..count).map(create).buffer_unordered(PARALLEL).try_collect().await
    }

    /// Buckets per second with the two writes that each costs, and nothing else.
    pub(super) async fn ceiling(&self, phase: &str, count: u32) -> Result<f64> {
        let buckets = self.create("nobody.bench", phase, count).await?;
        let start = Instant::now();
        stream::iter(buckets.into_iter().map(Ok))
            .try_for_each_concurrent(PARALLEL, |bucket| self.two_writes(bucket))
            .await?;
        Ok(f64::from(count) / start.elapsed().as_secs_f64())
    }

    async fn two_writes(&self, bucket: Bucket) -> Result<()> {
        let parameters = PatchParams::default();
        let name = bucket.name_any();
        let metadata =
            json!({ "resourceVersion": bucket.resource_version(), "finalizers": [names::FINALIZER] });
        let patch = Patch::Merge(json!({ "metadata": metadata }));
        let bucket = self.buckets.patch(&name, &parameters, &patch).await.context("write the finalizer")?;
        let metadata = json!({ "resourceVersion": bucket.resource_version() });
        let patch = Patch::Merge(json!({ "metadata": metadata, "status": status(&name) }));
        self.buckets.patch_status(&name, &parameters, &patch).await.context("write the status").map(drop)
    }

    /// Begins to watch for `count` Ready Buckets of a phase.
    pub(super) fn watch(&self, phase: &'static str, count: u32) -> Ready {
        Ready::watch(self.buckets.clone(), phase, count)
    }

    /// The Buckets of a phase.
    pub(super) async fn of(&self, phase: &str) -> Result<Vec<Bucket>> {
        let all = self.buckets.list(&ListParams::default()).await.context("list Buckets")?;
        let prefix = format!("{phase}-");
        Ok(all.items.into_iter().filter(|bucket| bucket.name_any().starts_with(&prefix)).collect())
    }
}

fn bucket(driver: &str, phase: &str, number: u32) -> Value {
    let claim = json!({
        "name": format!("claim-{number}"),
        "namespace": "bench",
        "uid": format!("00000000-0000-4000-8000-{number:012x}"),
    });
    json!({
        "metadata": { "name": format!("{phase}-{number:06}") },
        "spec": {
            "driverName": driver,
            "deletionPolicy": "Delete",
            "protocols": ["S3"],
            "parameters": { "tier": "standard" },
            "bucketClaimRef": claim,
        },
    })
}

/// As the sidecar writes it.
fn status(name: &str) -> Value {
    json!({
        "readyToUse": true,
        "bucketID": name,
        "protocols": ["S3"],
        "bucketInfo": {
            "COSI_S3_BUCKET_ID": name,
            "COSI_S3_ENDPOINT": "https://s3.example.org",
            "COSI_S3_REGION": "us-east-1",
            "COSI_S3_ADDRESSING_STYLE": "path",
        },
    })
}
