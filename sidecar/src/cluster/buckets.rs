//! Reads and writes of Buckets and their claims.

use std::future::Future;
use std::sync::Arc;

use cosi_api::{Bucket, BucketClaim, Parameters};
use cosi_lifecycle::WriteFailure;
use cosi_lifecycle::bucket::{BucketView, Claim, ClaimRef, StatusWrite};
use kube::api::{ApiResource, DynamicObject, Patch, PatchParams};
use kube::{Api, Client};
use serde_json::{Value, json};
use tokio::time::timeout;

use super::failure::{ANSWER_WITHIN, classify, too_late};
use super::shared::Shared;

/// A Bucket as it came from the API server.
#[derive(Debug)]
pub enum Sight {
    /// Our driver's.
    Ours(BucketView),
    /// Another driver's; not to be touched (C9).
    Foreign,
    /// It cannot be decoded, so nothing is done about it (R17).
    Unreadable {
        /// Why.
        reason: String,
    },
}

/// The Buckets of one driver.
#[derive(Clone)]
pub struct Buckets {
    client: Client,
    api: Api<DynamicObject>,
    driver: Arc<str>,
    parameters: Arc<Shared<Parameters>>,
}

impl Buckets {
    /// The Buckets that name `driver`.
    #[must_use]
    pub fn new(client: Client, driver: Arc<str>) -> Self {
        let resource = ApiResource::erase::<Bucket>(&());
        let api = Api::all_with(client.clone(), &resource);
        Self { client, api, driver, parameters: Arc::default() }
    }

    /// The untyped API: one object that cannot be decoded must not keep the others from being seen.
    #[must_use]
    pub fn api(&self) -> Api<DynamicObject> {
        self.api.clone()
    }

    /// Looks at an object. Its driver is looked at first, so that another driver's malformed Bucket is none of our business.
    #[must_use]
    pub fn look(&self, object: DynamicObject) -> Sight {
        let driver = object.data.pointer("/spec/driverName").and_then(Value::as_str).map(str::to_owned);
        if driver.is_some_and(|d| d != *self.driver) {
            return Sight::Foreign;
        }
        match object.try_parse::<Bucket>() {
            Ok(bucket) => match BucketView::of(&bucket) {
                Some(view) => Sight::Ours(self.compact(view)),
                None => Sight::Unreadable { reason: "it lacks name, uid or resourceVersion".to_owned() },
            },
            Err(error) => Sight::Unreadable { reason: error.to_string() },
        }
    }

    /// Thousands of Buckets have one driver and come from a few classes.
    fn compact(&self, view: BucketView) -> BucketView {
        let parameters = view.parameters.map(|parameters| self.parameters.share(parameters));
        BucketView { driver: Arc::clone(&self.driver), parameters, ..view }
    }

    /// A live read. `None`: there is no such Bucket of our driver.
    ///
    /// # Errors
    ///
    /// The API server's refusal, or that the object cannot be decoded.
    pub async fn read(&self, name: &str) -> Result<Option<BucketView>, WriteFailure> {
        let Some(object) = answered(self.api.get_opt(name)).await? else { return Ok(None) };
        self.view(object)
    }

    /// Replaces the finalizers of the object, if it is still the one that was read.
    ///
    /// # Errors
    ///
    /// The API server's refusal.
    pub async fn write_finalizers(
        &self,
        name: &str,
        uid: &str,
        resource_version: &str,
        finalizers: &[String],
    ) -> Result<Option<BucketView>, WriteFailure> {
        let metadata = json!({ "uid": uid, "resourceVersion": resource_version, "finalizers": finalizers });
        let patch = json!({ "metadata": metadata });
        let object = answered(self.api.patch(name, &parameters(), &Patch::Merge(&patch))).await?;
        self.view(object)
    }

    /// Merges into the status, if the object is still the version that was read.
    ///
    /// # Errors
    ///
    /// The API server's refusal.
    pub async fn write_status(
        &self,
        name: &str,
        resource_version: &str,
        status: &StatusWrite,
    ) -> Result<Option<BucketView>, WriteFailure> {
        let patch =
            json!({ "metadata": { "resourceVersion": resource_version }, "status": status_patch(status) });
        let object = answered(self.api.patch_status(name, &parameters(), &Patch::Merge(&patch))).await?;
        self.view(object)
    }

    /// Whether the claim that a Bucket names is still there to stay.
    pub async fn read_claim(&self, claim: &ClaimRef) -> Claim {
        let api: Api<BucketClaim> = Api::namespaced(self.client.clone(), &claim.namespace);
        let found = match timeout(ANSWER_WITHIN, api.get_metadata(&claim.name)).await {
            Ok(Ok(found)) => found,
            Ok(Err(error)) if says_gone(&error, &claim.name) => return Claim::Leaving,
            Ok(Err(error)) => return unreadable(claim, &classify(&error)),
            Err(elapsed) => return unreadable(claim, &too_late(elapsed)),
        };
        let same = found.metadata.uid.as_deref() == claim.uid.as_deref();
        if same && found.metadata.deletion_timestamp.is_none() { Claim::Live } else { Claim::Leaving }
    }

    fn view(&self, object: DynamicObject) -> Result<Option<BucketView>, WriteFailure> {
        match self.look(object) {
            Sight::Ours(view) => Ok(Some(view)),
            Sight::Foreign => Ok(None),
            Sight::Unreadable { reason } => {
                let message = format!("the Bucket cannot be decoded: {reason}");
                Err(WriteFailure::Other { message, retry_after: None })
            }
        }
    }
}

/// Whether the API server says of this very object that it does not exist (I3). A 404 of another kind – a version that is
/// not served, a proxy's own page – says nothing about the claim.
fn says_gone(error: &kube::Error, name: &str) -> bool {
    let kube::Error::Api(status) = error else { return false };
    let of_it = status.details.as_ref().is_some_and(|details| details.name == name);
    status.code == 404 && status.reason == "NotFound" && of_it
}

/// Nothing is deleted, and a person should know why.
fn unreadable(claim: &ClaimRef, failure: &WriteFailure) -> Claim {
    tracing::warn!(
        claim = %claim.name, namespace = %claim.namespace, ?failure,
        "a Bucket is being deleted, and whether its claim is leaving cannot be read; allow get on \
         bucketclaims.objectstorage.k8s.io, or annotate the Bucket as the controller would"
    );
    Claim::Unreadable
}

fn parameters() -> PatchParams {
    PatchParams { field_manager: Some("cosi-sidecar".to_owned()), ..PatchParams::default() }
}

/// The answer, or what its absence means.
async fn answered<T>(request: impl Future<Output = kube::Result<T>>) -> Result<T, WriteFailure> {
    timeout(ANSWER_WITHIN, request).await.map_err(too_late)?.map_err(|e| classify(&e))
}

/// The merge patch of a status. What is empty is left out: the API server refuses empty lists and maps.
fn status_patch(status: &StatusWrite) -> Value {
    match status {
        StatusWrite::Ready(answer) => {
            let info = (!answer.info.is_empty()).then_some(&answer.info);
            json!({
                "readyToUse": true,
                "bucketID": answer.id.as_str(),
                "protocols": answer.protocols,
                "bucketInfo": info,
                "error": null,
            })
        }
        StatusWrite::Error { text, first } => {
            let time = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
            let error = json!({ "time": time, "message": text });
            if *first { json!({ "readyToUse": false, "error": error }) } else { json!({ "error": error }) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_leaves_readiness_alone_unless_it_makes_the_first_status() {
        let later = status_patch(&StatusWrite::Error { text: "x".into(), first: false });
        assert_eq!(later.get("readyToUse"), None);
        let first = status_patch(&StatusWrite::Error { text: "x".into(), first: true });
        assert_eq!(first.get("readyToUse"), Some(&json!(false)));
    }
}
