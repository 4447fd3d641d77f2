//! One BucketAccess under test, and what users and controllers do to it.

mod secrets;
mod wish;

use std::collections::BTreeMap;

use cosi_api::BucketAccess;
use cosi_api::names::{FINALIZER, HAS_BUCKETACCESS_REFERENCES, SIDECAR_CLEANUP_FINISHED};
use cosi_sim::driver::ScriptedDriver;
use k8s_openapi::api::core::v1::{Event, Secret};
use kube::api::{Api, DeleteParams, ListParams, Patch, PatchParams, PostParams};
use serde_json::{Value, json};

use super::bucket::ignore_404;
use super::{World, eventually};

pub(crate) use wish::AccessWish;

/// A handle on a BucketAccess object, which may be gone.
#[derive(Clone)]
pub(crate) struct TestAccess {
    pub(crate) name: String,
    pub(crate) namespace: String,
    pub(crate) uid: String,
    pub(crate) wish: AccessWish,
    client: kube::Client,
    api: Api<BucketAccess>,
    secrets: Api<Secret>,
    driver: ScriptedDriver,
    driver_name: String,
    /// Whether keys can be tried at the scripted driver.
    scripted: bool,
}

impl World {
    /// A new access as the controller hands it over: finalizer, marked claims, status.
    pub(crate) async fn access(&self, wish: AccessWish) -> TestAccess {
        let access = self.plan_access(wish).await;
        access.hand_over().await;
        access
    }

    /// Makes the object and thereby settles the account's name, so that rules can be made before the hand-over.
    pub(crate) async fn plan_access(&self, wish: AccessWish) -> TestAccess {
        let api: Api<BucketAccess> = Api::namespaced(self.client.clone(), &self.namespace);
        let made = api.create(&PostParams::default(), &wish.object()).await.unwrap();
        let access = TestAccess {
            name: made.metadata.name.unwrap(),
            namespace: self.namespace.clone(),
            uid: made.metadata.uid.unwrap(),
            wish,
            client: self.client.clone(),
            api,
            secrets: Api::namespaced(self.client.clone(), &self.namespace),
            driver: self.driver.clone(),
            driver_name: self.driver_name.clone(),
            scripted: self.scripted,
        };
        self.accesses.lock().unwrap().push(access.clone());
        access
    }
}

impl TestAccess {
    /// R2: what the driver knows it by.
    pub(crate) fn account_name(&self) -> String {
        format!("ba-{}", self.uid)
    }

    /// The controller marks the claims and hands over.
    pub(crate) async fn hand_over(&self) {
        let claims: Api<cosi_api::BucketClaim> = Api::namespaced(self.client.clone(), &self.namespace);
        let mark = json!({ "metadata": { "annotations": { HAS_BUCKETACCESS_REFERENCES: "" } } });
        for entry in &self.wish.entries {
            let marked = claims.patch(&entry.claim, &PatchParams::default(), &Patch::Merge(&mark)).await;
            ignore_404(marked.map(drop));
        }
        self.patch_status(&self.wish.hand_over(&self.driver_name)).await;
    }

    /// The object, if there is one with our UID.
    pub(crate) async fn get(&self) -> Option<BucketAccess> {
        let object = self.api.get_opt(&self.name).await.unwrap();
        object.filter(|object| object.metadata.uid.as_ref() == Some(&self.uid))
    }

    /// Waits until the object is so.
    pub(crate) async fn wait(&self, what: &str, is_so: impl Fn(&BucketAccess) -> bool) -> BucketAccess {
        eventually(&format!("{what} ({})", self.name), async || match self.get().await {
            Some(access) if is_so(&access) => Ok(access),
            other => Err(serde_json::to_string(&other).unwrap()),
        })
        .await
    }

    /// Waits until the object is Ready, checks that finalizer and id are there, no error is, and that every Secret is as it
    /// should be, with credentials that work (I5). Returns the account's id.
    pub(crate) async fn wait_ready(&self) -> String {
        let access = self.wait("an access to be Ready", is_ready).await;
        assert!(has_finalizer(&access), "Ready without finalizer (R1)");
        let status = access.status.unwrap();
        assert_eq!(status.error, None, "C25");
        self.check_secrets().await;
        status.account_id.expect("Ready without account id (R7)")
    }

    /// Waits for `status.error` with this in its message, and returns the whole message.
    pub(crate) async fn wait_error(&self, text: &str) -> String {
        let what = format!("an error with {text:?}");
        let is_so = |access: &BucketAccess| error_of(access).is_some_and(|message| message.contains(text));
        error_of(&self.wait(&what, is_so).await).unwrap_or_default().to_owned()
    }

    /// A user deletes it.
    pub(crate) async fn delete(&self) {
        ignore_404(self.api.delete(&self.name, &DeleteParams::default()).await.map(drop));
    }

    /// Waits until the sidecar says that its part of the deletion is done, and checks that it is: not Ready, no Secret
    /// left, the finalizer left to the controller.
    pub(crate) async fn wait_clean(&self) {
        let access = self.wait("sidecar-cleanup-finished", is_clean).await;
        assert!(has_finalizer(&access), "the finalizer is the controller's to remove");
        assert!(!is_ready(&access), "I5: still Ready");
        assert_eq!(self.own_secrets().await, Vec::<String>::new(), "Secrets are left");
    }

    /// As [`TestAccess::finish`], and so do all others who hold the object with finalizers.
    pub(crate) async fn finish_others(&self) {
        self.patch(&json!({ "metadata": { "finalizers": null } })).await;
        self.wait_gone().await;
    }

    /// The controller takes the finalizer off, and the object goes.
    pub(crate) async fn finish(&self) {
        let object = self.get().await.expect("an access to be finished");
        let others = object.metadata.finalizers.into_iter().flatten().filter(|f| f != FINALIZER);
        self.patch(&json!({ "metadata": { "finalizers": others.collect::<Vec<_>>() } })).await;
        self.wait_gone().await;
    }

    /// The whole deletion, from the user's to the controller's part.
    pub(crate) async fn go(&self) {
        self.delete().await;
        self.wait_clean().await;
        self.finish().await;
    }

    /// Waits until there is no such object.
    pub(crate) async fn wait_gone(&self) {
        eventually(&format!("{} to be gone", self.name), async || match self.get().await {
            None => Ok(()),
            Some(access) => Err(serde_json::to_string(&access).unwrap()),
        })
        .await;
    }

    /// Somebody takes every finalizer off and deletes it, all at once.
    pub(crate) async fn remove_by_force(&self) {
        if self.get().await.is_some() {
            self.delete().await;
            self.patch(&json!({ "metadata": { "finalizers": null } })).await;
        }
    }

    /// The annotation, with an empty value.
    pub(crate) async fn annotate(&self, annotation: &str) {
        self.patch(&json!({ "metadata": { "annotations": { annotation: "" } } })).await;
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

    /// The Events on the access, in its own namespace (C26).
    pub(crate) async fn events(&self) -> Vec<Event> {
        let api: Api<Event> = Api::namespaced(self.client.clone(), &self.namespace);
        let of = format!("involvedObject.kind=BucketAccess,involvedObject.uid={}", self.uid);
        api.list(&ListParams::default().fields(&of)).await.unwrap().items
    }

    /// Waits for an Event with this reason on the access.
    pub(crate) async fn wait_event(&self, reason: &str) -> Event {
        eventually(&format!("Event {reason} on {}", self.name), async || {
            let events = self.events().await;
            let found = events.iter().find(|event| event.reason.as_deref() == Some(reason)).cloned();
            found.ok_or_else(|| format!("{:?}", super::reasons(&events)))
        })
        .await
    }

    /// The id of the n-th entry's bucket.
    pub(crate) fn wish_id(&self, n: usize) -> &str {
        &self.wish.entries[n].id
    }

    /// What is in the Secret of the n-th entry, as text.
    pub(crate) async fn credentials(&self, n: usize) -> BTreeMap<String, String> {
        secrets::text(&self.secret(n).await.expect("a Secret"))
    }
}

/// `status.readyToUse`.
pub(crate) fn is_ready(access: &BucketAccess) -> bool {
    access.status.as_ref().is_some_and(|status| status.ready_to_use)
}

/// Whether the sidecar says that its part of a deletion is done.
pub(crate) fn is_clean(access: &BucketAccess) -> bool {
    access.metadata.annotations.iter().flatten().any(|(key, _)| key == SIDECAR_CLEANUP_FINISHED)
}

/// Whether the protection finalizer is on it.
pub(crate) fn has_finalizer(access: &BucketAccess) -> bool {
    access.metadata.finalizers.iter().flatten().any(|finalizer| finalizer == FINALIZER)
}

/// `status.error.message`.
pub(crate) fn error_of(access: &BucketAccess) -> Option<&str> {
    access.status.as_ref()?.error.as_ref()?.message.as_deref()
}
