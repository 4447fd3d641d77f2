//! Reads and writes of BucketAccesses.

use std::sync::Arc;

use cosi_api::names::SIDECAR_CLEANUP_FINISHED;
use cosi_api::{BucketAccess, Parameters};
use cosi_lifecycle::access::{AccessView, Place, StatusWrite, Version};
use cosi_lifecycle::{Kind, WriteFailure};
use kube::api::{ApiResource, DynamicObject};
use kube::{Api, Client, ResourceExt as _};
use serde_json::{Value, json};

use super::objects::{Objects, Sight, error, get, merge, merge_status};
use super::shared::Shared;
use super::{Indexed, Key};
use crate::environment::{Env, Environment};

/// The BucketAccesses of one driver, and those that the controller has not handed to any driver yet.
#[derive(Clone)]
pub struct Accesses {
    client: Client,
    resource: ApiResource,
    driver: Arc<str>,
    parameters: Arc<Shared<Parameters>>,
    env: Env,
}

impl Accesses {
    /// The accesses of `driver`.
    #[must_use]
    pub fn new(env: Env, client: Client, driver: Arc<str>) -> Self {
        Self {
            client,
            resource: ApiResource::erase::<BucketAccess>(&()),
            driver,
            parameters: Arc::default(),
            env,
        }
    }

    /// A live read. `None`: there is no such access that is ours.
    ///
    /// # Errors
    ///
    /// The API server's refusal, or that the object cannot be decoded.
    pub async fn read(&self, place: &Place) -> Result<Option<AccessView>, WriteFailure> {
        let found = get(&self.in_namespace(place), &place.name).await?;
        found.map_or(Ok(None), |object| self.view(object))
    }

    /// Replaces the finalizers of the object, if it is still the one that was read.
    ///
    /// # Errors
    ///
    /// The API server's refusal.
    pub async fn write_finalizers(
        &self,
        object: &Version,
        finalizers: &[String],
    ) -> Result<Option<AccessView>, WriteFailure> {
        self.write(object, "finalizers", json!(finalizers)).await
    }

    /// Sets or removes the annotation that tells the controller that our part of a deletion is done, if the object is still
    /// the one that was read.
    ///
    /// # Errors
    ///
    /// The API server's refusal.
    pub async fn write_cleanup_finished(
        &self,
        object: &Version,
        finished: bool,
    ) -> Result<Option<AccessView>, WriteFailure> {
        let value = if finished { json!("") } else { Value::Null };
        self.write(object, "annotations", json!({ SIDECAR_CLEANUP_FINISHED: value })).await
    }

    /// Merges into the status, if the object is still the version that was read.
    ///
    /// # Errors
    ///
    /// The API server's refusal.
    pub async fn write_status(
        &self,
        object: &Version,
        status: &StatusWrite,
    ) -> Result<Option<AccessView>, WriteFailure> {
        let Version { place, resource_version, .. } = object;
        let api = self.in_namespace(place);
        self.view(merge_status(&api, &place.name, resource_version, &status_patch(&*self.env, status)).await?)
    }

    async fn write(
        &self,
        object: &Version,
        field: &str,
        value: Value,
    ) -> Result<Option<AccessView>, WriteFailure> {
        let Version { place, uid, resource_version } = object;
        let metadata = json!({ "uid": &**uid, "resourceVersion": resource_version, field: value });
        let api = self.in_namespace(place);
        self.view(merge(&api, &place.name, &json!({ "metadata": metadata })).await?)
    }

    fn in_namespace(&self, place: &Place) -> Api<DynamicObject> {
        Api::namespaced_with(self.client.clone(), &place.namespace, &self.resource)
    }

    /// Thousands of accesses have one driver and come from a few classes.
    fn compact(&self, view: AccessView) -> AccessView {
        AccessView {
            driver: view.driver.map(|_| Arc::clone(&self.driver)),
            parameters: view.parameters.map(|parameters| self.parameters.share(parameters)),
            ..view
        }
    }
}

impl Objects for Accesses {
    type View = AccessView;

    const KIND: Kind = Kind::BucketAccess;
    const PLURAL: &'static str = "BucketAccesses";
    const RIGHTS: &'static str = "allow get, list, watch and patch on bucketaccesses.objectstorage.k8s.io, and patch on \
                                  bucketaccesses/status";

    fn api(&self) -> Api<DynamicObject> {
        Api::all_with(self.client.clone(), &self.resource)
    }

    fn key(object: &DynamicObject) -> Key {
        object.uid().unwrap_or_default().into()
    }

    /// An access that names no driver is looked after, too: a status that somebody wiped must not look like a deletion.
    fn look(&self, object: DynamicObject) -> Sight<AccessView> {
        let driver = object.data.pointer("/status/driverName").and_then(Value::as_str);
        if driver.is_some_and(|d| d != &*self.driver) {
            return Sight::Foreign;
        }
        match object.try_parse::<BucketAccess>() {
            Ok(access) => match AccessView::of(&access) {
                Some(view) => Sight::Ours(self.compact(view)),
                None => Sight::Unreadable {
                    reason: "it lacks namespace, name, uid or resourceVersion".to_owned(),
                },
            },
            Err(error) => Sight::Unreadable { reason: error.to_string() },
        }
    }
}

impl Indexed for AccessView {
    fn key(&self) -> &Key {
        &self.uid
    }

    fn uid(&self) -> &str {
        &self.uid
    }

    fn resource_version(&self) -> &str {
        &self.resource_version
    }

    /// Secrets are not watched, so whoever touches an access – by a label, say – has its Secrets looked at (own writes are folded
    /// in before the watch tells of them). The lifecycle sees by itself whether a backoff is over.
    fn matters(before: Option<&Self>, after: Option<&Self>) -> bool {
        let touched = before.zip(after).is_some_and(|(b, a)| b.resource_version != a.resource_version);
        touched || Self::matters(before, after)
    }

    fn is_gone(&self) -> bool {
        self.deleting && !self.finalizer && self.other_finalizers.is_empty()
    }

    /// The Buckets to be reached, until they are.
    fn waits_for(&self) -> impl Iterator<Item = &Key> {
        let waits = self.is_managed() && !self.deleting && !self.is_ready();
        self.accessed.iter().filter(move |_| waits).map(|accessed| &accessed.bucket)
    }
}

/// The merge patch of a status.
fn status_patch(env: &dyn Environment, status: &StatusWrite) -> Value {
    match status {
        StatusWrite::Ready(id) => json!({ "readyToUse": true, "accountID": id.as_str(), "error": null }),
        StatusWrite::NotReady => json!({ "readyToUse": false }),
        StatusWrite::Error { text } => json!({ "error": error(env, text) }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::Host;
    use cosi_api::value::AccountId;

    fn access(status: &Value) -> DynamicObject {
        serde_json::from_value(json!({
            "apiVersion": "objectstorage.k8s.io/v1alpha2", "kind": "BucketAccess",
            "metadata": { "namespace": "n", "name": "a", "uid": "u", "resourceVersion": "7" },
            "spec": {
                "bucketAccessClassName": "c", "protocol": "S3",
                "bucketClaims": [{ "bucketClaimName": "x", "accessMode": "ReadWrite", "accessSecretName": "s" }],
            },
            "status": status,
        }))
        .unwrap()
    }

    fn handed_over(driver: &str, ready: bool) -> DynamicObject {
        access(&json!({
            "readyToUse": ready, "accountID": "account", "driverName": driver, "authenticationType": "Key",
            "accessedBuckets": [{ "bucketName": "b", "bucketID": "id", "bucketClaimName": "x" }],
        }))
    }

    /// The client connects on use only.
    fn accesses() -> Accesses {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let config = kube::Config::new("http://127.0.0.1:1".parse().unwrap());
        Accesses::new(Arc::new(Host), Client::try_from(config).unwrap(), "d.example".into())
    }

    fn ours(object: DynamicObject) -> AccessView {
        match accesses().look(object) {
            Sight::Ours(view) => view,
            other => panic!("{other:?}"),
        }
    }

    #[tokio::test]
    async fn an_access_is_foreign_only_if_it_names_another_driver() {
        assert!(matches!(accesses().look(handed_over("other.example", false)), Sight::Foreign));
        assert!(ours(handed_over("d.example", false)).is_managed());
        assert!(!ours(access(&Value::Null)).is_managed(), "seen, and left alone until it is handed over");
        let mut other = handed_over("other.example", false);
        other.data["spec"] = json!("nonsense");
        assert!(matches!(accesses().look(other), Sight::Foreign), "none of our business");
    }

    /// R17.
    #[tokio::test]
    async fn an_access_that_cannot_be_decoded_is_reported() {
        let mut object = handed_over("d.example", false);
        object.data["spec"]["protocol"] = json!("FTP");
        assert!(matches!(accesses().look(object), Sight::Unreadable { reason } if reason.contains("FTP")));
    }

    /// C22.
    #[tokio::test]
    async fn an_access_waits_for_its_buckets_until_it_is_ready() {
        let waits = |view: &AccessView| view.waits_for().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(waits(&ours(handed_over("d.example", false))), ["b"]);
        assert!(waits(&ours(handed_over("d.example", true))).is_empty());
        let deleting = AccessView { deleting: true, ..ours(handed_over("d.example", false)) };
        assert!(waits(&deleting).is_empty());
    }

    #[tokio::test]
    async fn whoever_touches_an_access_has_it_looked_at() {
        let before = ours(handed_over("d.example", true));
        let after = AccessView { resource_version: "8".into(), ..before.clone() };
        assert!(<AccessView as Indexed>::matters(Some(&before), Some(&after)));
        assert!(!<AccessView as Indexed>::matters(Some(&before), Some(&before)));
    }

    #[test]
    fn a_status_write_changes_what_it_is_about_and_nothing_else() {
        let id = AccountId::try_from("account".to_owned()).unwrap();
        let ready = status_patch(&Host, &StatusWrite::Ready(id));
        assert_eq!(ready, json!({ "readyToUse": true, "accountID": "account", "error": null }));
        assert_eq!(status_patch(&Host, &StatusWrite::NotReady), json!({ "readyToUse": false }));
        let error = status_patch(&Host, &StatusWrite::Error { text: "x".into() });
        assert_eq!(error.pointer("/error/message"), Some(&json!("x")));
        assert_eq!(error.get("readyToUse"), None);
    }
}
