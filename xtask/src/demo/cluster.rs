//! Kubernetes objects, written as users and COSI's controller write them.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use cosi_api::keys::s3;
use cosi_api::{Bucket, BucketAccess, BucketAccessMode, BucketClaim, names};
use cosi_tests::object_store::ObjectStore;
use k8s_openapi::api::core::v1::{Namespace, Secret};
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
    accesses: Api<BucketAccess>,
    secrets: Api<Secret>,
    namespaces: Api<Namespace>,
}

/// An access, and the Secret that it asks for.
#[derive(Clone)]
pub(super) struct Access {
    name: String,
    uid: String,
    pub(super) secret: String,
}

impl Access {
    /// The name of its account at the backend.
    pub(super) fn account(&self) -> String {
        format!("ba-{}", self.uid)
    }
}

/// What an application finds in a Secret. Without `Debug`: the secret key is in it.
pub(super) struct Credentials(BTreeMap<String, String>);

impl Credentials {
    fn value(&self, key: &str) -> &str {
        self.0.get(key).map(String::as_str).unwrap_or_default()
    }

    /// The bucket's name in S3 requests.
    pub(super) fn bucket(&self) -> &str {
        self.value(s3::BUCKET_ID)
    }

    /// The public half of the key pair.
    pub(super) fn key_id(&self) -> &str {
        self.value(s3::ACCESS_KEY_ID)
    }

    /// The S3 server, with nothing but what is in the Secret.
    pub(super) fn store(&self) -> ObjectStore {
        let (endpoint, region) = (self.value(s3::ENDPOINT), self.value(s3::REGION));
        ObjectStore::with_key(endpoint, region, self.key_id(), self.value(s3::ACCESS_SECRET_KEY))
    }
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
            accesses: Api::namespaced(client.clone(), NAMESPACE),
            secrets: Api::namespaced(client.clone(), NAMESPACE),
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

    /// What the user does who wants access.
    pub(super) async fn access(&self, name: &str, mode: BucketAccessMode, to: &Claimed) -> Result<Access> {
        let wish =
            json!({ "bucketClaimName": to.claim, "accessMode": mode.as_str(), "accessSecretName": name });
        let spec = json!({ "bucketAccessClassName": "demo", "protocol": "S3", "bucketClaims": [wish] });
        let access = create(&self.accesses, json!({ "metadata": { "name": name }, "spec": spec })).await?;
        let uid = access.uid().context("a BucketAccess without uid")?;
        Ok(Access { name: name.to_owned(), uid, secret: name.to_owned() })
    }

    /// What the controller does about a new access: its finalizer, then all that the sidecar needs to know.
    pub(super) async fn hand_over(
        &self,
        access: &Access,
        to: &Claimed,
        bucket_id: &str,
        driver: &str,
    ) -> Result<()> {
        let hold = json!({ "metadata": { "finalizers": [names::FINALIZER] } });
        merge(&self.accesses, &access.name, &hold).await.context("hold the BucketAccess")?;
        let bucket = json!({ "bucketName": to.bucket, "bucketID": bucket_id, "bucketClaimName": to.claim });
        let status = json!({ "status": {
            "readyToUse": false,
            "driverName": driver,
            "authenticationType": "Key",
            "accessedBuckets": [bucket],
        } });
        let (parameters, patch) = (PatchParams::default(), Patch::Merge(&status));
        let handed_over = self.accesses.patch_status(&access.name, &parameters, &patch).await;
        handed_over.map(drop).context("hand the BucketAccess over")
    }

    /// What the user does who needs it no more.
    pub(super) async fn delete_access(&self, access: &Access) -> Result<()> {
        let deleted = self.accesses.delete(&access.name, &DeleteParams::default()).await;
        deleted.map(drop).context("delete the BucketAccess")
    }

    /// Whether the sidecar has told the controller that its part of the deletion is done.
    pub(super) async fn is_cleaned_up(&self, access: &Access) -> Result<bool> {
        let found = self.read_access(access).await?.context("the BucketAccess went too early")?;
        Ok(found.annotations().contains_key(names::SIDECAR_CLEANUP_FINISHED))
    }

    /// What the controller does then.
    pub(super) async fn release_access(&self, access: &Access) -> Result<()> {
        let release = json!({ "metadata": { "finalizers": null } });
        merge(&self.accesses, &access.name, &release).await.context("release the BucketAccess")
    }

    /// The BucketAccess, or `None` if there is none.
    pub(super) async fn read_access(&self, access: &Access) -> Result<Option<BucketAccess>> {
        self.accesses.get_opt(&access.name).await.context("read the BucketAccess")
    }

    /// Whether the access has its Secret.
    pub(super) async fn has_secret(&self, access: &Access) -> Result<bool> {
        Ok(self.secrets.get_metadata_opt(&access.secret).await.context("look for the Secret")?.is_some())
    }

    /// What is in the access's Secret; `None` if it is not there, or empty.
    pub(super) async fn credentials(&self, access: &Access) -> Result<Option<Credentials>> {
        let secret = self.secrets.get_opt(&access.secret).await.context("read the Secret")?;
        let data = secret.and_then(|secret| secret.data).unwrap_or_default();
        let text = |value: Vec<u8>| String::from_utf8(value).context("a value that is no text");
        let values: BTreeMap<_, _> =
            data.into_iter().map(|(key, value)| Ok((key, text(value.0)?))).collect::<Result<_>>()?;
        Ok((!values.is_empty()).then_some(Credentials(values)))
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
