//! What must hold at the end of every test, judged by the backend's own list and the API server's own objects.

use cosi_api::{Bucket, BucketAccess};
use cosi_sim::driver::CANARY;
use cosi_tests::canary::{Canary, Leak};
use k8s_openapi::api::core::v1::Event;
use kube::api::{Api, ListParams};
use serde::Serialize;

use super::access::{is_clean, is_ready};
use super::{TestAccess, World};

impl World {
    /// This access may leave its account behind: it was let go, or taken by force at a moment that is documented.
    pub(crate) fn may_leave_account(&self, access: &TestAccess) {
        self.left.lock().unwrap().push(access.account_name());
    }

    /// I1 for accounts: a live access that is Ready has one; one that is not may have one; no other is there. An access
    /// that is gone holds no Secret back from the garbage collector.
    pub(super) async fn check_accounts(&self) {
        let accesses = self.accesses.lock().unwrap().clone();
        let mut may = self.left.lock().unwrap().clone();
        for access in &accesses {
            match access.get().await {
                Some(object) if !is_clean(&object) => {
                    let name = access.account_name();
                    let there = self.driver.account(&name).is_some();
                    assert!(
                        there || !is_ready(&object) || !self.scripted,
                        "I5: {name} is Ready and not there"
                    );
                    may.push(name);
                }
                _ => {
                    let held = access.finalized_secrets().await;
                    assert_eq!(held, Vec::<String>::new(), "Secrets of {}", access.name);
                }
            }
        }
        for account in self.driver.accounts() {
            assert!(may.contains(&account.name), "I1: {account:?} is orphaned\n{}", self.driver.ledger());
        }
    }

    /// I7: no credential that the driver ever handed out is in the log, an Event, or an object of ours.
    pub(crate) async fn check_secrecy(&self) -> Result<(), Leak> {
        if self.driver.handed_out().is_empty() {
            return Ok(());
        }
        let canary = Canary::new(CANARY);
        canary.search("the sidecar's log", &self.sidecar.log())?;
        for namespace in [self.namespace.as_str(), "default"] {
            let events = json_of(&Api::<Event>::namespaced(self.client.clone(), namespace)).await;
            canary.search(&format!("an Event in {namespace}"), &events)?;
        }
        let accesses = json_of(&Api::<BucketAccess>::namespaced(self.client.clone(), &self.namespace)).await;
        canary.search("a BucketAccess", &accesses)?;
        canary.search("a Bucket", &json_of(&Api::<Bucket>::all(self.client.clone())).await)
    }
}

/// All objects, one a line.
async fn json_of<K>(api: &Api<K>) -> String
where
    K: Clone + std::fmt::Debug + Serialize + serde::de::DeserializeOwned,
{
    let objects = api.list(&ListParams::default()).await.unwrap().items;
    objects.iter().map(|object| serde_json::to_string(object).unwrap() + "\n").collect()
}
