//! The Secrets of an access, and what others do to them.

use std::collections::BTreeMap;

use cosi_api::names::FINALIZER;
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::api::{Api, DeleteParams, ListParams, Patch, PatchParams, PostParams, Preconditions};
use serde_json::{Value, json};

use super::TestAccess;
use crate::world::bucket::ignore_404;
use crate::world::eventually;

/// Keys of a Secret under which something stands that opens a bucket.
const OPENERS: [&str; 4] = [
    "COSI_S3_ACCESS_SECRET_KEY",
    "AWS_SECRET_ACCESS_KEY",
    "COSI_AZURE_ACCESS_TOKEN",
    "COSI_GCS_ACCESS_SECRET",
];

impl TestAccess {
    /// The name of the n-th entry's Secret.
    pub(crate) fn secret_name(&self, n: usize) -> &str {
        &self.wish.entries[n].secret
    }

    /// The Secret of the n-th entry, if there is one.
    pub(crate) async fn secret(&self, n: usize) -> Option<Secret> {
        self.secrets.get_opt(self.secret_name(n)).await.unwrap()
    }

    /// Waits until the Secret of the n-th entry is so.
    pub(crate) async fn wait_secret(&self, n: usize, what: &str, is_so: impl Fn(&Secret) -> bool) -> Secret {
        eventually(&format!("the Secret {n} of {} {what}", self.name), async || match self.secret(n).await {
            Some(secret) if is_so(&secret) => Ok(secret),
            other => Err(format!("{:?}", other.map(|secret| secret.metadata))),
        })
        .await
    }

    /// The names of the Secrets that this access controls.
    pub(crate) async fn own_secrets(&self) -> Vec<String> {
        self.controlled().await.into_iter().filter_map(|secret| secret.metadata.name).collect()
    }

    /// Those of them that bear our finalizer.
    pub(crate) async fn finalized_secrets(&self) -> Vec<String> {
        let held = self.controlled().await.into_iter().filter(has_finalizer);
        held.filter_map(|secret| secret.metadata.name).collect()
    }

    async fn controlled(&self) -> Vec<Secret> {
        let all = self.secrets.list(&ListParams::default()).await.unwrap().items.into_iter();
        all.filter(|secret| controller(secret).is_some_and(|owner| owner.uid == self.uid)).collect()
    }

    /// Deletes them, as the garbage collector does when their owner is gone, and waits until they are.
    pub(crate) async fn collect_secrets(&self) {
        for secret in self.controlled().await {
            let uid = secret.metadata.uid;
            let meant = DeleteParams::default().preconditions(Preconditions { uid, resource_version: None });
            let name = secret.metadata.name.unwrap_or_default();
            // Another one under the name is none of the collector's business.
            let _ = self.secrets.delete(&name, &meant).await;
        }
        eventually("the Secrets of a former owner to be gone", async || {
            let left = self.own_secrets().await;
            if left.is_empty() { Ok(()) } else { Err(format!("{left:?}")) }
        })
        .await;
    }

    /// I5: every Secret is made as it should be, has values for all its keys, and opens something.
    pub(super) async fn check_secrets(&self) {
        for n in 0..self.wish.entries.len() {
            let secret = self.secret(n).await.expect("a Secret of a Ready access");
            self.check_reserved(&secret);
            let text = text(&secret);
            assert!(text.contains_key("COSI_PROTOCOL"), "{:?}", text.keys());
            assert!(text.values().all(|value| !value.is_empty()), "an empty value: {:?}", text.keys());
            for secret in OPENERS.iter().filter_map(|key| text.get(*key)) {
                assert!(
                    !self.scripted || self.driver.secret_works(secret),
                    "I5: a dead key in {}",
                    self.name
                );
            }
        }
    }

    /// Type, owner and finalizer are as protocol.md §4 says.
    pub(crate) fn check_reserved(&self, secret: &Secret) {
        assert_eq!(secret.type_.as_deref(), Some("Opaque"));
        let owner = OwnerReference {
            api_version: "objectstorage.k8s.io/v1alpha2".to_owned(),
            kind: "BucketAccess".to_owned(),
            name: self.name.clone(),
            uid: self.uid.clone(),
            controller: Some(true),
            block_owner_deletion: Some(true),
        };
        assert_eq!(secret.metadata.owner_references, Some(vec![owner]));
        assert!(has_finalizer(secret), "{:?}", secret.metadata);
    }

    /// A user deletes the n-th Secret, and takes every finalizer off it; not off another one that the sidecar makes meanwhile.
    pub(crate) async fn lose_secret(&self, n: usize) {
        let Some(secret) = self.secret(n).await else { return };
        self.delete_secret(n).await;
        let patch = json!({ "metadata": { "uid": secret.metadata.uid, "finalizers": null } });
        let options = PatchParams::default();
        let patched = self.secrets.patch(self.secret_name(n), &options, &Patch::Merge(&patch)).await;
        match patched {
            // It is another one by now.
            Err(kube::Error::Api(status)) if matches!(status.code, 409 | 422) => {}
            patched => ignore_404(patched.map(drop)),
        }
    }

    /// A user deletes the n-th Secret, and no more.
    pub(crate) async fn delete_secret(&self, n: usize) {
        let deleted = self.secrets.delete(self.secret_name(n), &DeleteParams::default()).await;
        ignore_404(deleted.map(drop));
    }

    /// Any merge patch of the n-th Secret; one that is gone stays gone.
    pub(crate) async fn patch_secret(&self, n: usize, patch: &Value) {
        let options = PatchParams::default();
        let patched = self.secrets.patch(self.secret_name(n), &options, &Patch::Merge(patch)).await;
        ignore_404(patched.map(drop));
    }

    /// Somebody else makes a Secret under the n-th one's name.
    pub(crate) async fn take_secret_name(&self, n: usize) -> ForeignSecret {
        let secret = json!({
            "metadata": { "name": self.secret_name(n), "labels": { "of": "somebody-else" } },
            "stringData": { "COSI_S3_ACCESS_SECRET_KEY": "theirs" },
        });
        let secret = serde_json::from_value(secret).unwrap();
        let secret = self.secrets.create(&PostParams::default(), &secret).await.unwrap();
        ForeignSecret { secret, api: self.secrets.clone() }
    }

    /// Removes what a test left.
    pub(crate) async fn remove_secrets_by_force(&self) {
        for name in self.own_secrets().await {
            let patch = json!({ "metadata": { "finalizers": null } });
            let _ = self.secrets.patch(&name, &PatchParams::default(), &Patch::Merge(&patch)).await;
            let _ = self.secrets.delete(&name, &DeleteParams::default()).await;
        }
    }
}

/// A Secret that is none of ours (C31, I4).
pub(crate) struct ForeignSecret {
    secret: Secret,
    api: Api<Secret>,
}

impl ForeignSecret {
    fn name(&self) -> &str {
        self.secret.metadata.name.as_deref().unwrap_or_default()
    }

    /// Nobody changed it or deleted it.
    pub(crate) async fn check_untouched(&self) {
        let now = self.api.get_opt(self.name()).await.unwrap();
        assert_eq!(now.as_ref(), Some(&self.secret), "I4: a foreign Secret was touched");
    }

    /// Its owner takes it away.
    pub(crate) async fn remove(&self) {
        self.api.delete(self.name(), &DeleteParams::default()).await.unwrap();
    }
}

/// What is in a Secret, as text.
pub(super) fn text(secret: &Secret) -> BTreeMap<String, String> {
    let values = secret.data.iter().flatten();
    values.map(|(key, value)| (key.clone(), String::from_utf8_lossy(&value.0).into_owned())).collect()
}

/// Whether the protection finalizer is on it.
pub(crate) fn has_finalizer(secret: &Secret) -> bool {
    secret.metadata.finalizers.iter().flatten().any(|finalizer| finalizer == FINALIZER)
}

fn controller(secret: &Secret) -> Option<&OwnerReference> {
    secret.metadata.owner_references.iter().flatten().find(|owner| owner.controller == Some(true))
}
