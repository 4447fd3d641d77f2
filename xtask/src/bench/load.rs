//! Buckets by the thousand, and the bare generator.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use cosi_api::{Bucket, names};
use futures::{StreamExt as _, TryStreamExt as _, pin_mut, stream};
use kube::api::{Patch, PatchParams, PostParams};
use kube::runtime::{WatchStreamExt as _, watcher};
use kube::{Api, Client, ResourceExt as _};
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// Requests at a time.
const PARALLEL: usize = 32;
/// Longest time for one phase.
const PATIENCE: Duration = Duration::from_mins(15);

/// Makes Buckets.
#[derive(Clone)]
pub(super) struct Load {
    buckets: Api<Bucket>,
}

/// A watch that counts the Ready Buckets of a phase.
pub(super) struct Ready(JoinHandle<Result<Span>>);

/// When the first and the last Bucket of a phase became Ready, and how many did.
#[derive(Clone, Copy)]
pub(super) struct Span {
    first: Instant,
    last: Instant,
    count: u32,
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
        Ready(tokio::spawn(watch(self.buckets.clone(), phase, count)))
    }
}

impl Ready {
    /// Waits until all are Ready.
    pub(super) async fn all(self) -> Result<Span> {
        let waited = timeout(PATIENCE, self.0).await;
        waited
            .with_context(|| format!("not all Buckets became Ready in {PATIENCE:?}"))?
            .context("watch Buckets")?
    }
}

impl Span {
    /// Buckets per second.
    pub(super) fn rate(&self) -> f64 {
        f64::from(self.count - 1) / self.last.duration_since(self.first).as_secs_f64()
    }
}

async fn watch(buckets: Api<Bucket>, phase: &str, count: u32) -> Result<Span> {
    let prefix = format!("{phase}-");
    let events = watcher(buckets, watcher::Config::default()).default_backoff().applied_objects();
    pin_mut!(events);
    let mut seen = HashSet::new();
    let mut first = None;
    while let Some(bucket) = events.try_next().await.context("watch Buckets")? {
        let name = bucket.name_any();
        let ready = bucket.status.is_some_and(|status| status.ready_to_use);
        if !ready || !name.starts_with(&prefix) || !seen.insert(name) {
            continue;
        }
        let last = Instant::now();
        let first = *first.get_or_insert(last);
        if seen.len() == count as usize {
            return Ok(Span { first, last, count });
        }
    }
    anyhow::bail!("the watch ended")
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
