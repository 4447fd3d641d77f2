//! One Bucket under test, and what users and controllers do to it.

use cosi_api::names::{BUCKETCLAIM_BEING_DELETED, FINALIZER};
use cosi_api::{Bucket, BucketClaim, DeletionPolicy};
use k8s_openapi::api::core::v1::Event;
use kube::api::{Api, DeleteParams, ListParams, Patch, PatchParams};
use serde_json::{Value, json};

use super::eventually;

/// What a Bucket shall be.
#[derive(Clone)]
pub(crate) struct Wish {
    spec: Value,
    metadata: Value,
}

impl Wish {
    /// Dynamic, protocol S3, to be deleted with its claim.
    pub(crate) fn delete() -> Self {
        Self { spec: json!({ "deletionPolicy": "Delete", "protocols": ["S3"] }), metadata: json!({}) }
    }

    /// Dynamic, protocol S3, its backend bucket stays.
    pub(crate) fn retain() -> Self {
        Self::delete().spec("deletionPolicy", "Retain".into())
    }

    /// The backend bucket exists under this id.
    pub(crate) fn existing(self, id: &str) -> Self {
        self.spec("existingBucketID", id.into())
    }

    /// One field of the spec.
    pub(crate) fn spec(mut self, field: &str, value: Value) -> Self {
        self.spec[field] = value;
        self
    }

    /// One field of the metadata.
    pub(crate) fn metadata(mut self, field: &str, value: Value) -> Self {
        self.metadata[field] = value;
        self
    }

    pub(super) fn object(self, name: &str, driver: &str, claim_ref: Value) -> Bucket {
        let Self { mut spec, mut metadata } = self;
        spec["driverName"] = driver.into();
        spec["bucketClaimRef"] = claim_ref;
        metadata["name"] = name.into();
        let object = json!({
            "apiVersion": "objectstorage.k8s.io/v1alpha2", "kind": "Bucket", "metadata": metadata, "spec": spec,
        });
        serde_json::from_value(object).unwrap()
    }
}

/// A handle on a Bucket object, which may be gone.
#[derive(Clone)]
pub(crate) struct TestBucket {
    pub(crate) name: String,
    client: kube::Client,
    api: Api<Bucket>,
    namespace: String,
}

impl TestBucket {
    pub(super) fn new(client: kube::Client, name: &str, namespace: &str) -> Self {
        let api = Api::all(client.clone());
        Self { name: name.to_owned(), client, api, namespace: namespace.to_owned() }
    }

    /// The object, if there is one.
    pub(crate) async fn get(&self) -> Option<Bucket> {
        self.api.get_opt(&self.name).await.unwrap()
    }

    /// Waits until the object is so.
    pub(crate) async fn wait(&self, what: &str, is_so: impl Fn(&Bucket) -> bool) -> Bucket {
        eventually(what, async || match self.get().await {
            Some(bucket) if is_so(&bucket) => Ok(bucket),
            other => Err(serde_json::to_string(&other).unwrap()),
        })
        .await
    }

    /// Waits until the object is Ready, checks that id and finalizer are there and no error is, and returns the id.
    pub(crate) async fn wait_ready(&self) -> String {
        let what = format!("{} to be Ready", self.name);
        let bucket = self.wait(&what, |b| b.status.as_ref().is_some_and(|s| s.ready_to_use)).await;
        assert!(has_our_finalizer(&bucket), "Ready without finalizer (R1)");
        let status = bucket.status.unwrap();
        assert_eq!(status.error, None, "C25");
        status.bucket_id.expect("Ready without id (R7)")
    }

    /// Waits until there is no such object.
    pub(crate) async fn wait_gone(&self) {
        eventually(&format!("{} to be gone", self.name), async || match self.get().await {
            None => Ok(()),
            Some(bucket) => Err(serde_json::to_string(&bucket).unwrap()),
        })
        .await;
    }

    /// Waits for `status.error` with this in its message, and returns the whole message.
    pub(crate) async fn wait_error(&self, text: &str) -> String {
        let what = format!("an error of {} with {text:?}", self.name);
        let bucket = self.wait(&what, |b| error(b).is_some_and(|message| message.contains(text))).await;
        error(&bucket).unwrap_or_default().to_owned()
    }

    /// Waits for our finalizer.
    pub(crate) async fn wait_finalizer(&self) {
        self.wait(&format!("the finalizer of {}", self.name), has_our_finalizer).await;
    }

    /// The claim leaves, as the controller tells it: the annotation, then (policy Delete) deletion of the Bucket.
    pub(crate) async fn release(&self) {
        self.annotate(BUCKETCLAIM_BEING_DELETED).await;
        let policy = self.get().await.map(|bucket| bucket.spec.deletion_policy);
        if policy == Some(DeletionPolicy::Delete) {
            self.delete().await;
        }
    }

    /// Somebody deletes the Bucket object, and nothing else.
    pub(crate) async fn delete(&self) {
        ignore_404(self.api.delete(&self.name, &DeleteParams::default()).await.map(drop));
    }

    /// The annotation, with an empty value.
    pub(crate) async fn annotate(&self, annotation: &str) {
        self.patch(&json!({ "metadata": { "annotations": { annotation: "" } } })).await;
    }

    /// Takes every finalizer away.
    pub(crate) async fn strip_finalizers(&self) {
        self.patch(&json!({ "metadata": { "finalizers": null } })).await;
    }

    /// Any merge patch of the object; one that is gone stays gone.
    pub(crate) async fn patch(&self, patch: &Value) {
        let patched = self.api.patch(&self.name, &PatchParams::default(), &Patch::Merge(patch)).await;
        ignore_404(patched.map(drop));
    }

    /// Any merge patch of the status.
    pub(crate) async fn patch_status(&self, patch: &Value) {
        let patched = self.api.patch_status(&self.name, &PatchParams::default(), &Patch::Merge(patch)).await;
        ignore_404(patched.map(drop));
    }

    /// The claim object goes, and no controller says so on the Bucket.
    pub(crate) async fn delete_claim(&self) {
        let claim = self.get().await.unwrap().spec.bucket_claim_ref;
        let claims: Api<BucketClaim> = Api::namespaced(self.client.clone(), &claim.namespace);
        claims.delete(&claim.name, &DeleteParams::default()).await.unwrap();
    }

    /// The Events on the Bucket itself.
    pub(crate) async fn events(&self) -> Vec<Event> {
        self.events_in("default", "Bucket").await
    }

    /// Waits for an Event with this reason on the Bucket.
    pub(crate) async fn wait_event(&self, reason: &str) -> Event {
        self.wait_event_in("default", "Bucket", reason).await
    }

    /// Waits for an Event with this reason on the claim of the Bucket (which may be gone by now).
    pub(crate) async fn wait_claim_event(&self, reason: &str) -> Event {
        self.wait_event_in(&self.namespace, "BucketClaim", reason).await
    }

    async fn wait_event_in(&self, namespace: &str, kind: &str, reason: &str) -> Event {
        eventually(&format!("Event {reason} on {kind} for {}", self.name), async || {
            let events = self.events_in(namespace, kind).await;
            let found = events.iter().find(|event| event.reason.as_deref() == Some(reason)).cloned();
            found.ok_or_else(|| format!("{:?}", reasons(&events)))
        })
        .await
    }

    /// Buckets are told apart by name. Claims have one name here for the whole Bucket's life: `claim-…`, which is in the
    /// claim's UID and therefore in the Bucket's name.
    async fn events_in(&self, namespace: &str, kind: &str) -> Vec<Event> {
        let api: Api<Event> = Api::namespaced(self.client.clone(), namespace);
        let of = match kind {
            "Bucket" => format!("involvedObject.kind={kind},involvedObject.name={}", self.name),
            _ => format!(
                "involvedObject.kind={kind},involvedObject.uid={}",
                self.name.strip_prefix("bc-").unwrap_or_default()
            ),
        };
        api.list(&ListParams::default().fields(&of)).await.unwrap().items
    }

    pub(super) async fn remove_by_force(&self) {
        let options = PatchParams::default();
        let patch = json!({ "metadata": { "finalizers": null } });
        let _ = self.api.delete(&self.name, &DeleteParams::default()).await;
        let _ = self.api.patch(&self.name, &options, &Patch::Merge(&patch)).await;
    }
}

/// `status.error.message`.
pub(crate) fn error(bucket: &Bucket) -> Option<&str> {
    bucket.status.as_ref()?.error.as_ref()?.message.as_deref()
}

/// Whether our finalizer is on it.
pub(crate) fn has_our_finalizer(bucket: &Bucket) -> bool {
    bucket.metadata.finalizers.iter().flatten().any(|finalizer| finalizer == FINALIZER)
}

/// The reasons of Events, as Kubernetes' users see them.
pub(crate) fn reasons(events: &[Event]) -> Vec<&str> {
    events.iter().filter_map(|event| event.reason.as_deref()).collect()
}

/// What was to be done to an object that is gone needs not be done.
pub(super) fn ignore_404(result: kube::Result<()>) {
    match result {
        Err(kube::Error::Api(status)) if status.code == 404 => {}
        other => other.unwrap(),
    }
}
