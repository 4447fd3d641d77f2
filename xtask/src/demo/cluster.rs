//! Kubernetes objects, written as users and COSI's controller write them.

use anyhow::{Context, Result};
use cosi_api::{Bucket, BucketClaim, names};
use k8s_openapi::api::core::v1::Namespace;
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use kube::{Api, Client, ResourceExt as _};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

const NAMESPACE: &str = "demo";

/// The cluster, with the rights of an administrator.
#[derive(Clone)]
pub(super) struct Cluster {
    buckets: Api<Bucket>,
    claims: Api<BucketClaim>,
    namespaces: Api<Namespace>,
}

/// A claim and the name of the Bucket that is made for it.
pub(super) struct Claimed {
    claim: String,
    pub(super) bucket: String,
}

impl Cluster {
    pub(super) fn new(client: &Client) -> Self {
        Self {
            buckets: Api::all(client.clone()),
            claims: Api::namespaced(client.clone(), NAMESPACE),
            namespaces: Api::all(client.clone()),
        }
    }

    pub(super) async fn make_namespace(&self) -> Result<()> {
        create(&self.namespaces, json!({ "metadata": { "name": NAMESPACE } })).await.map(drop)
    }

    /// What the user does.
    pub(super) async fn claim(&self, name: &str) -> Result<Claimed> {
        let metadata = json!({ "name": name, "finalizers": [names::FINALIZER] });
        let spec = json!({ "bucketClassName": "demo", "protocols": ["S3"] });
        let claim = create(&self.claims, json!({ "metadata": metadata, "spec": spec })).await?;
        let uid = claim.uid().context("a claim without uid")?;
        Ok(Claimed { claim: name.to_owned(), bucket: format!("bc-{uid}") })
    }

    /// What the controller does about a new claim.
    pub(super) async fn make_bucket(&self, of: &Claimed, driver: &str) -> Result<()> {
        let uid = of.bucket.trim_start_matches("bc-");
        let spec = json!({
            "driverName": driver,
            "deletionPolicy": "Delete",
            "protocols": ["S3"],
            "bucketClaimRef": { "name": of.claim, "namespace": NAMESPACE, "uid": uid },
        });
        create(&self.buckets, json!({ "metadata": { "name": of.bucket }, "spec": spec })).await.map(drop)
    }

    /// What the user and the controller do when the claim is no longer wanted.
    pub(super) async fn give_up(&self, claimed: &Claimed) -> Result<()> {
        let parameters = DeleteParams::default();
        self.claims.delete(&claimed.claim, &parameters).await.context("delete the BucketClaim")?;
        let mark = json!({ "metadata": { "annotations": { names::BUCKETCLAIM_BEING_DELETED: "" } } });
        merge(&self.buckets, &claimed.bucket, &mark).await.context("mark the Bucket")?;
        self.buckets.delete(&claimed.bucket, &parameters).await.context("delete the Bucket")?;
        let release = json!({ "metadata": { "finalizers": null } });
        merge(&self.claims, &claimed.claim, &release).await.context("release the BucketClaim")
    }

    /// The Bucket, or `None` if there is none.
    pub(super) async fn bucket(&self, of: &Claimed) -> Result<Option<Bucket>> {
        self.buckets.get_opt(&of.bucket).await.context("read the Bucket")
    }
}

async fn create<K>(api: &Api<K>, object: Value) -> Result<K>
where
    K: kube::Resource<DynamicType = ()> + Clone + DeserializeOwned + Serialize + std::fmt::Debug,
{
    let kind = K::kind(&());
    let object = serde_json::from_value(object).with_context(|| format!("write a {kind}"))?;
    api.create(&PostParams::default(), &object).await.with_context(|| format!("create a {kind}"))
}

async fn merge<K>(api: &Api<K>, name: &str, patch: &Value) -> Result<()>
where
    K: Clone + DeserializeOwned + std::fmt::Debug,
{
    Ok(api.patch(name, &PatchParams::default(), &Patch::Merge(patch)).await.map(drop)?)
}
