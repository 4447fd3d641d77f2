//! The objects of the story, and requests that people and the controller make. Theirs never fail.

use std::convert::Infallible;
use std::sync::Arc;

use bytes::Bytes;
use cosi_api::names::{BUCKETCLAIM_BEING_DELETED, FINALIZER};
use futures::FutureExt as _;
use http::{Method, Request, header};
use http_body_util::{BodyExt as _, Full};
use serde_json::{Value, json};
use tower::ServiceExt as _;

use super::{DRIVER, World};
use crate::oracle::{is_deleting, is_marked, text};

/// The namespace of claims and accesses.
const NAMESPACE: &str = "team";
/// The Bucket of the first story.
pub(crate) const BUCKET: &str = "bc-5a1f2b3c-7d4e-4f60-8a9b-0c1d2e3f4a5b";
/// The access of the second story.
pub(crate) const ACCESS: &str = "access";
/// Its Secret.
pub(crate) const SECRET: &str = "credentials";
/// A finalizer of somebody else's.
pub(crate) const HOLD: &str = "backup.example/hold";
/// The bucket to which it is access, which somebody else made.
pub(crate) const STATIC: &str = "static";
/// Its id.
pub(crate) const STATIC_ID: &str = "made-by-hand";

const GROUP: &str = "/apis/objectstorage.k8s.io/v1alpha2";

/// Where in the store.
const BUCKETS: &str = "buckets.objectstorage.k8s.io";
const ACCESSES: &str = "bucketaccesses.objectstorage.k8s.io";
const LEASES: &str = "leases.coordination.k8s.io";

/// Paths of the objects of a story.
pub(crate) struct Objects;

impl Objects {
    pub(crate) fn bucket() -> String {
        format!("{GROUP}/buckets/{BUCKET}")
    }

    pub(crate) fn claim() -> String {
        format!("{GROUP}/namespaces/{NAMESPACE}/bucketclaims/claim")
    }

    pub(crate) fn access() -> String {
        format!("{GROUP}/namespaces/{NAMESPACE}/bucketaccesses/{ACCESS}")
    }

    pub(crate) fn namespace() -> String {
        format!("/api/v1/namespaces/{NAMESPACE}")
    }

    pub(crate) fn secret() -> String {
        format!("/api/v1/namespaces/{NAMESPACE}/secrets/{SECRET}")
    }
}

impl World {
    /// A request that is answered at once. A refusal is none of the run's business: somebody came too late.
    pub(crate) fn ask(&self, method: Method, path: &str, body: &Value) -> Option<Value> {
        let kind = match method {
            Method::PATCH => "application/merge-patch+json",
            _ => "application/json",
        };
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let request = Request::builder().method(method).uri(path).header(header::CONTENT_TYPE, kind);
        let request = request.body(Full::new(Bytes::from(body))).ok()?;
        let answer: Result<_, Infallible> = self.api.clone().oneshot(request).now_or_never()?;
        let Ok(answer) = answer;
        let good = answer.status().is_success();
        let Ok(body) = answer.into_body().collect().now_or_never()?;
        let value = serde_json::from_slice(&body.to_bytes()).ok()?;
        self.api.settle();
        good.then_some(value)
    }

    pub(crate) fn patch(&self, path: &str, change: &Value) -> Option<Value> {
        self.ask(Method::PATCH, path, change)
    }

    /// Where claims, accesses and Secrets will be.
    pub(crate) fn make_namespace(&self) {
        let namespace = json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": NAMESPACE } });
        self.ask(Method::POST, "/api/v1/namespaces", &namespace);
    }

    /// A Bucket as the controller makes it, with the claim it is for.
    pub(crate) fn make_bucket(&self, finalizers: &[&str]) {
        self.make_claim("claim", "b");
        let claim = self.ask(Method::GET, &Objects::claim(), &Value::Null).unwrap_or_default();
        let reference =
            json!({ "name": "claim", "namespace": NAMESPACE, "uid": text(&claim, "/metadata/uid") });
        let bucket = json!({
            "apiVersion": "objectstorage.k8s.io/v1alpha2", "kind": "Bucket",
            "metadata": { "name": BUCKET, "finalizers": finalizers },
            "spec": {
                "driverName": DRIVER, "deletionPolicy": "Delete", "protocols": ["S3"],
                "parameters": { "tier": "gold" }, "bucketClaimRef": reference,
            },
        });
        self.ask(Method::POST, &format!("{GROUP}/buckets"), &bucket);
    }

    fn make_claim(&self, name: &str, class: &str) {
        let claim = json!({
            "apiVersion": "objectstorage.k8s.io/v1alpha2", "kind": "BucketClaim", "metadata": { "name": name },
            "spec": { "bucketClassName": class, "protocols": ["S3"] },
        });
        self.ask(Method::POST, &format!("{GROUP}/namespaces/{NAMESPACE}/bucketclaims"), &claim);
    }

    /// A Bucket that is Ready and needs nothing.
    pub(crate) fn make_static_bucket(&self) {
        self.driver.add_foreign(STATIC_ID);
        self.lock().facts.foreign_bucket = Some(STATIC_ID.to_owned());
        self.make_claim("static-claim", "s");
        let reference = json!({ "name": "static-claim", "namespace": NAMESPACE, "uid": "5a1f2b3c-7d4e-4f60-8a9b-000000000000" });
        let bucket = json!({
            "apiVersion": "objectstorage.k8s.io/v1alpha2", "kind": "Bucket",
            "metadata": { "name": STATIC, "finalizers": [FINALIZER] },
            "spec": {
                "driverName": DRIVER, "deletionPolicy": "Retain", "protocols": ["S3"],
                "existingBucketID": STATIC_ID, "bucketClaimRef": reference,
            },
        });
        self.ask(Method::POST, &format!("{GROUP}/buckets"), &bucket);
        let status = json!({ "status": { "readyToUse": true, "bucketID": STATIC_ID, "protocols": ["S3"],
            "bucketInfo": { "COSI_S3_BUCKET_ID": STATIC_ID, "COSI_S3_ENDPOINT": "http://s3.example",
                "COSI_S3_REGION": "r", "COSI_S3_ADDRESSING_STYLE": "path" } } });
        self.patch(&format!("{GROUP}/buckets/{STATIC}/status"), &status);
    }

    /// An access as a user writes it, handed over as the controller does.
    pub(crate) fn make_access(&self) {
        let access = json!({
            "apiVersion": "objectstorage.k8s.io/v1alpha2", "kind": "BucketAccess",
            "metadata": { "name": ACCESS, "finalizers": [FINALIZER] },
            "spec": {
                "bucketAccessClassName": "class", "protocol": "S3",
                "bucketClaims": [{ "bucketClaimName": "static-claim", "accessMode": "ReadWrite", "accessSecretName": SECRET }],
            },
        });
        let made = self.ask(Method::POST, &format!("{GROUP}/namespaces/{NAMESPACE}/bucketaccesses"), &access);
        if made.is_some() {
            let status = json!({ "status": {
                "readyToUse": false, "driverName": DRIVER, "authenticationType": "Key",
                "accessedBuckets": [{ "bucketName": STATIC, "bucketID": STATIC_ID, "bucketClaimName": "static-claim" }],
            } });
            self.patch(&format!("{}/status", Objects::access()), &status);
        }
    }

    /// A Secret of somebody else's under the name of the access's.
    pub(crate) fn make_foreign_secret(&self) -> Option<Arc<Value>> {
        let secret = json!({ "apiVersion": "v1", "kind": "Secret", "metadata": { "name": SECRET },
            "stringData": { "theirs": "value" } });
        self.ask(Method::POST, &format!("/api/v1/namespaces/{NAMESPACE}/secrets"), &secret)?;
        self.stored_secret()
    }

    /// The claim goes: the controller marks the Bucket.
    pub(crate) fn claim_goes(&self) {
        let mark = json!({ "metadata": { "annotations": { BUCKETCLAIM_BEING_DELETED: "" } } });
        self.patch(&Objects::bucket(), &mark);
        self.ask(Method::DELETE, &Objects::claim(), &Value::Null);
    }

    /// Whether the claim of that Bucket is there, and nobody has said that it goes (R10).
    pub(crate) fn claim_stays(&self, bucket: &Value) -> bool {
        if is_marked(bucket, BUCKETCLAIM_BEING_DELETED) {
            return false;
        }
        let claim = self.ask(Method::GET, &Objects::claim(), &Value::Null);
        claim.is_some_and(|claim| {
            text(&claim, "/metadata/uid") == text(bucket, "/spec/bucketClaimRef/uid") && !is_deleting(&claim)
        })
    }

    /// An object of the story as it is stored now.
    pub(crate) fn stored(&self, story: crate::schedule::Story) -> Option<Arc<Value>> {
        self.api.inspect(|store| match story {
            crate::schedule::Story::Bucket => store.get(BUCKETS, BUCKET).cloned(),
            crate::schedule::Story::Access => store.get(ACCESSES, &format!("{NAMESPACE}/{ACCESS}")).cloned(),
        })
    }

    /// Who holds the leader's Lease; empty if it was let go.
    pub(crate) fn leader(&self) -> Option<String> {
        self.api.inspect(|store| {
            let (_, lease) = store.all(LEASES).next()?;
            Some(text(lease, "/spec/holderIdentity").to_owned())
        })
    }

    /// The Secret of the access.
    pub(crate) fn stored_secret(&self) -> Option<Arc<Value>> {
        self.api.inspect(|store| store.get("secrets", &format!("{NAMESPACE}/{SECRET}")).cloned())
    }
}
