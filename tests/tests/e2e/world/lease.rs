//! The Lease of a world's driver, as people and other electors see it.

use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use kube::api::{Api, DeleteParams, Patch, PatchParams, PostParams};
use serde_json::{Value, json};

use super::{World, eventually};

/// A handle on the Lease, which may not be there.
#[derive(Clone)]
pub(crate) struct LeaseHandle {
    api: Api<Lease>,
    name: String,
}

impl World {
    /// The Lease of this world's driver.
    pub(crate) fn lease(&self) -> LeaseHandle {
        let api = Api::namespaced(self.client.clone(), &self.namespace);
        LeaseHandle { api, name: format!("cosi-sidecar-leader-{}", self.driver_name) }
    }
}

impl LeaseHandle {
    pub(crate) async fn get(&self) -> Option<Lease> {
        self.api.get_opt(&self.name).await.unwrap()
    }

    /// Waits until the Lease is so.
    pub(crate) async fn wait(&self, what: &str, is_so: impl Fn(&Lease) -> bool) -> Lease {
        eventually(what, async || match self.get().await {
            Some(lease) if is_so(&lease) => Ok(lease),
            other => Err(serde_json::to_string(&other).unwrap()),
        })
        .await
    }

    /// Waits until somebody holds it whom `which` is about.
    pub(crate) async fn wait_holder(&self, what: &str, which: impl Fn(&str) -> bool) -> String {
        holder(&self.wait(what, |lease| which(holder(lease))).await).to_owned()
    }

    /// Makes it as client-go does, with a label of somebody's on it.
    pub(crate) async fn create_as(&self, holder: &str, seconds: i32) {
        let lease = json!({
            "metadata": { "name": self.name, "labels": { "kept": "yes" }, "annotations": { "kept": "yes" } },
            "spec": record(holder, seconds),
        });
        let lease = serde_json::from_value(lease).unwrap();
        self.api.create(&PostParams::default(), &lease).await.unwrap();
    }

    /// Renews it as client-go does: a PUT of what it read.
    pub(crate) async fn renew_as(&self, holder: &str, seconds: i32) {
        let mut lease = self.get().await.unwrap();
        lease.spec = serde_json::from_value(record(holder, seconds)).unwrap();
        self.api.replace(&self.name, &PostParams::default(), &lease).await.unwrap();
    }

    /// Changes its spec by hand.
    pub(crate) async fn edit(&self, spec: &Value) {
        let patch = Patch::Merge(json!({ "spec": spec }));
        self.api.patch(&self.name, &PatchParams::default(), &patch).await.unwrap();
    }

    pub(crate) async fn delete(&self) {
        self.api.delete(&self.name, &DeleteParams::default()).await.unwrap();
    }
}

/// Who holds the Lease; empty if nobody does.
pub(crate) fn holder(lease: &Lease) -> &str {
    lease.spec.as_ref().and_then(|spec| spec.holder_identity.as_deref()).unwrap_or_default()
}

fn record(holder: &str, seconds: i32) -> Value {
    let now = MicroTime(jiff::Timestamp::now());
    json!({
        "holderIdentity": holder, "leaseDurationSeconds": seconds, "leaseTransitions": 6,
        "acquireTime": now, "renewTime": now,
    })
}
