//! BucketAccesses by the hundred, as a controller hands them over.

use anyhow::{Context, Result};
use cosi_api::{Bucket, BucketAccess, names};
use futures::{TryStreamExt as _, stream};
use k8s_openapi::api::core::v1::Namespace;
use kube::api::{Patch, PatchParams, PostParams};
use kube::{Api, Client, ResourceExt as _};
use serde_json::json;

use super::load::PARALLEL;
use super::ready::Ready;

const NAMESPACE: &str = "bench";

/// Makes accesses.
#[derive(Clone)]
pub(super) struct Accesses {
    accesses: Api<BucketAccess>,
    namespaces: Api<Namespace>,
}

impl Accesses {
    pub(super) fn new(client: Client) -> Self {
        Self { accesses: Api::namespaced(client.clone(), NAMESPACE), namespaces: Api::all(client) }
    }

    /// Creates an access to each of the Buckets.
    pub(super) async fn create(&self, driver: &str, phase: &str, buckets: &[Bucket]) -> Result<()> {
        let namespace = serde_json::from_value(json!({ "metadata": { "name": NAMESPACE } }))?;
        self.namespaces.create(&PostParams::default(), &namespace).await.context("make a namespace")?;
        stream::iter(buckets.iter().map(Ok))
            .try_for_each_concurrent(PARALLEL, |bucket| self.hand_over(driver, phase, bucket))
            .await
    }

    async fn hand_over(&self, driver: &str, phase: &str, bucket: &Bucket) -> Result<()> {
        let claim = &bucket.spec.bucket_claim_ref.name;
        let name = format!("{phase}-{claim}");
        let id = bucket.status.as_ref().and_then(|status| status.bucket_id.clone()).context("no id")?;
        let wish = json!({ "bucketClaimName": claim, "accessMode": "ReadWrite", "accessSecretName": name });
        let access = json!({
            "metadata": { "name": name, "finalizers": [names::FINALIZER] },
            "spec": { "bucketAccessClassName": "bench", "protocol": "S3", "bucketClaims": [wish] },
        });
        let access = serde_json::from_value(access).context("write a BucketAccess")?;
        self.accesses.create(&PostParams::default(), &access).await.context("create a BucketAccess")?;
        let accessed = json!({ "bucketName": bucket.name_any(), "bucketID": id, "bucketClaimName": claim });
        let status = json!({ "status": {
            "readyToUse": false,
            "driverName": driver,
            "authenticationType": "Key",
            "accessedBuckets": [accessed],
        } });
        let (parameters, patch) = (PatchParams::default(), Patch::Merge(status));
        self.accesses.patch_status(&name, &parameters, &patch).await.context("hand it over").map(drop)
    }

    /// Begins to watch for `count` Ready accesses of a phase.
    pub(super) fn watch(&self, phase: &'static str, count: u32) -> Ready {
        Ready::watch(self.accesses.clone(), phase, count)
    }
}
