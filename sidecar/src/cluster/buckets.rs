//! Reads and writes of Buckets and their claims.

use std::sync::Arc;

use cosi_api::{Bucket, BucketClaim, Parameters};
use cosi_lifecycle::bucket::{BucketView, Claim, ClaimRef, StatusWrite};
use cosi_lifecycle::{Kind, WriteFailure};
use futures::{StreamExt as _, stream};
use kube::api::{ApiResource, DynamicObject};
use kube::{Api, Client, ResourceExt as _};
use serde_json::{Value, json};
use tokio::time::timeout;

use super::failure::{ANSWER_WITHIN, classify, says_gone, too_late};
use super::objects::{Objects, Sight, error, get, merge, merge_status, undecodable};
use super::shared::Shared;
use super::{Indexed, Key};
use crate::environment::{Env, Environment};

/// How many Buckets are read at the same time for one access.
const READ_AT_ONCE: usize = 8;

/// The Buckets of one driver.
#[derive(Clone)]
pub struct Buckets {
    client: Client,
    api: Api<DynamicObject>,
    driver: Arc<str>,
    parameters: Arc<Shared<Parameters>>,
    env: Env,
}

impl Buckets {
    /// The Buckets that name `driver`.
    #[must_use]
    pub fn new(env: Env, client: Client, driver: Arc<str>) -> Self {
        let resource = ApiResource::erase::<Bucket>(&());
        let api = Api::all_with(client.clone(), &resource);
        Self { client, api, driver, parameters: Arc::default(), env }
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
        let Some(object) = get(&self.api, name).await? else { return Ok(None) };
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
        self.view(merge(&self.api, name, &json!({ "metadata": metadata })).await?)
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
        self.view(merge_status(&self.api, name, resource_version, &status_patch(&*self.env, status)).await?)
    }

    /// Whether the claim that a Bucket names is still there to stay.
    pub async fn read_claim(&self, claim: &ClaimRef) -> Claim {
        let api: Api<BucketClaim> = Api::namespaced(self.client.clone(), &claim.namespace);
        let found = match timeout(ANSWER_WITHIN, api.get_metadata(&claim.name)).await {
            Ok(Ok(found)) => found,
            Ok(Err(kube::Error::Api(status))) if says_gone(&status, &claim.name) => return Claim::Leaving,
            Ok(Err(error)) => return unreadable(claim, &classify(&error)),
            Err(elapsed) => return unreadable(claim, &too_late(elapsed)),
        };
        let same = found.metadata.uid.as_deref() == claim.uid.as_deref();
        if same && found.metadata.deletion_timestamp.is_none() { Claim::Live } else { Claim::Leaving }
    }

    /// Live reads of Buckets, whosever they are, in the order of `names`. `None`: there is no such Bucket.
    pub async fn read_all(&self, names: Vec<Key>) -> Vec<Result<Option<BucketView>, WriteFailure>> {
        let reads = names.into_iter().map(|name| async move { self.read_any(&name).await });
        stream::iter(reads).buffered(READ_AT_ONCE).collect().await
    }

    async fn read_any(&self, name: &str) -> Result<Option<BucketView>, WriteFailure> {
        let Some(object) = get(&self.api, name).await? else { return Ok(None) };
        decode(object).map(Some).map_err(|reason| undecodable(Kind::Bucket, &reason))
    }
}

impl Objects for Buckets {
    type View = BucketView;

    const KIND: Kind = Kind::Bucket;
    const PLURAL: &'static str = "Buckets";
    const RIGHTS: &'static str =
        "allow get, list, watch and patch on buckets.objectstorage.k8s.io, and patch on buckets/status";

    fn api(&self) -> Api<DynamicObject> {
        self.api.clone()
    }

    fn key(object: &DynamicObject) -> Key {
        object.name_any().into()
    }

    fn look(&self, object: DynamicObject) -> Sight<BucketView> {
        let driver = object.data.pointer("/spec/driverName").and_then(Value::as_str);
        if driver.is_some_and(|d| d != &*self.driver) {
            return Sight::Foreign;
        }
        match decode(object) {
            Ok(view) => Sight::Ours(self.compact(view)),
            Err(reason) => Sight::Unreadable { reason },
        }
    }
}

impl Indexed for BucketView {
    fn key(&self) -> &Key {
        &self.name
    }

    fn uid(&self) -> &str {
        &self.uid
    }

    fn resource_version(&self) -> &str {
        &self.resource_version
    }

    fn matters(before: Option<&Self>, after: Option<&Self>) -> bool {
        Self::matters(before, after)
    }

    fn is_gone(&self) -> bool {
        self.deleting && !self.is_held()
    }

    fn waits_for(&self) -> impl Iterator<Item = &Key> {
        std::iter::empty()
    }
}

/// The view of an object, or why there is none.
fn decode(object: DynamicObject) -> Result<BucketView, String> {
    let bucket = object.try_parse::<Bucket>().map_err(|error| error.to_string())?;
    BucketView::of(&bucket).ok_or_else(|| "it lacks name, uid or resourceVersion".to_owned())
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

/// The merge patch of a status. What is empty is left out: the API server refuses empty lists and maps.
fn status_patch(env: &dyn Environment, status: &StatusWrite) -> Value {
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
            let error = error(env, text);
            if *first { json!({ "readyToUse": false, "error": error }) } else { json!({ "error": error }) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::Host;

    #[test]
    fn an_error_leaves_readiness_alone_unless_it_makes_the_first_status() {
        let later = status_patch(&Host, &StatusWrite::Error { text: "x".into(), first: false });
        assert_eq!(later.get("readyToUse"), None);
        let first = status_patch(&Host, &StatusWrite::Error { text: "x".into(), first: true });
        assert_eq!(first.get("readyToUse"), Some(&json!(false)));
    }
}
