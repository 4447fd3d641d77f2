//! The parts, put together.

use std::marker::PhantomData;
use std::sync::Arc;

use cosi_lifecycle::access::AccessView;
use cosi_lifecycle::bucket::BucketView;
use cosi_lifecycle::{Time, Wake};
use kube::Client;
use tokio_util::sync::CancellationToken;

use crate::cluster::{Accesses, Buckets, Index, Key, Reporter, Secrets};
use crate::driver::Driver;
use crate::environment::Env;
use crate::lease::Tenure;
use crate::settings::Settings;
use crate::work::{AccessEffects, BucketEffects, Machines, Parties, Predecessor, Queue, Workers};

/// What waits to be worked on.
pub(super) struct Queues<M: Machines> {
    pub(super) buckets: Arc<Queue<Key, M::Bucket>>,
    pub(super) accesses: Arc<Queue<Key, M::Access>>,
}

impl<M: Machines> Default for Queues<M> {
    fn default() -> Self {
        Self { buckets: Arc::default(), accesses: Arc::default() }
    }
}

impl<M: Machines> Queues<M> {
    /// Wakes every object of which something is remembered.
    pub(super) fn wake_all(&self, wake: Wake) {
        self.buckets.wake_all(wake);
        self.accesses.wake_all(wake);
    }
}

/// When this process acts.
pub(super) struct Life {
    /// Since when: it took the lease then, or was started if there is no election.
    pub(super) since: Time,
    /// Until when.
    pub(super) tenure: Tenure,
    /// Cancelled when no new work is to be begun.
    pub(super) stopping: CancellationToken,
    /// Where.
    pub(super) env: Env,
}

/// The workers of each kind. The pools are separate: while a driver hangs over buckets, credentials can still be revoked.
pub(super) struct Parts<M: Machines> {
    pub(super) buckets: Arc<Workers<BucketEffects<M::Bucket>>>,
    pub(super) accesses: Arc<Workers<AccessEffects<M::Access>>>,
}

impl<M: Machines> Parts<M> {
    pub(super) fn new(
        settings: &Settings,
        client: Client,
        driver_name: &str,
        driver: Driver,
        queues: &Queues<M>,
        life: &Life,
    ) -> Self {
        let predecessor_done = life.since + settings.timeout + settings.late_landing_grace;
        let driver_name: Arc<str> = driver_name.into();
        let access_index = Arc::<Index<AccessView>>::default();
        let bucket_index = index_of_buckets(&access_index, queues);
        let parties = Parties { driver, reporter: Reporter::new(Arc::clone(&life.env), client.clone()) };
        let buckets = Buckets::new(Arc::clone(&life.env), client.clone(), Arc::clone(&driver_name));
        let accesses = AccessEffects {
            accesses: Accesses::new(Arc::clone(&life.env), client.clone(), driver_name),
            index: access_index,
            secrets: Secrets::new(client, settings.secret_keys),
            buckets: buckets.clone(),
            parties: parties.clone(),
            predecessor: Predecessor::new(predecessor_done),
            machine: PhantomData,
        };
        let buckets =
            BucketEffects { buckets, index: bucket_index, parties, predecessor_done, machine: PhantomData };
        let settings = settings.lifecycle();
        Self {
            buckets: Arc::new(Workers {
                queue: Arc::clone(&queues.buckets),
                effects: buckets,
                settings,
                stopping: life.stopping.clone(),
                tenure: life.tenure.clone(),
                env: Arc::clone(&life.env),
            }),
            accesses: Arc::new(Workers {
                queue: Arc::clone(&queues.accesses),
                effects: accesses,
                settings,
                stopping: life.stopping.clone(),
                tenure: life.tenure.clone(),
                env: Arc::clone(&life.env),
            }),
        }
    }
}

/// Accesses wait for Buckets. Whoever changes one – we or others –, they are looked at again at once (C22).
fn index_of_buckets<M: Machines>(
    accesses: &Arc<Index<AccessView>>,
    queues: &Queues<M>,
) -> Arc<Index<BucketView>> {
    let (accesses, queue) = (Arc::clone(accesses), Arc::clone(&queues.accesses));
    Arc::new(Index::with_listener(move |bucket| {
        for access in accesses.waiting_for(bucket) {
            queue.wake(access, Wake::PREREQUISITE);
        }
    }))
}

#[cfg(test)]
mod tests {
    use cosi_api::{Bucket, BucketAccess};
    use serde_json::{Value, json};

    use super::*;
    use crate::work::Lifecycle;

    fn access(uid: &str, ready: bool) -> AccessView {
        let access: BucketAccess = serde_json::from_value(json!({
            "apiVersion": "objectstorage.k8s.io/v1alpha2", "kind": "BucketAccess",
            "metadata": { "namespace": "n", "name": uid, "uid": uid, "resourceVersion": "1" },
            "spec": { "bucketAccessClassName": "c", "protocol": "S3", "bucketClaims": [] },
            "status": {
                "readyToUse": ready, "accountID": "id", "driverName": "d.example",
                "accessedBuckets": [{ "bucketName": "b", "bucketID": "id", "bucketClaimName": "x" }],
            },
        }))
        .unwrap();
        AccessView::of(&access).unwrap()
    }

    fn bucket(version: &str, status: &Value) -> BucketView {
        let bucket: Bucket = serde_json::from_value(json!({
            "apiVersion": "objectstorage.k8s.io/v1alpha2", "kind": "Bucket",
            "metadata": { "name": "b", "uid": "u", "resourceVersion": version },
            "spec": {
                "driverName": "d.example", "deletionPolicy": "Delete",
                "bucketClaimRef": { "name": "x", "namespace": "n" },
            },
            "status": status,
        }))
        .unwrap();
        BucketView::of(&bucket).unwrap()
    }

    /// C22: an own write that makes a Bucket Ready is no news to the watch of Buckets, but to whoever waits for it.
    #[tokio::test]
    async fn a_bucket_that_changes_by_whoevers_hand_wakes_the_accesses_that_wait_for_it_and_no_other() {
        let queues = Queues::<Lifecycle>::default();
        let accesses = Arc::new(Index::default());
        let buckets = index_of_buckets(&accesses, &queues);
        accesses.fold(access("waits", false));
        accesses.fold(access("is-ready", true));
        buckets.fold(bucket("1", &json!({ "readyToUse": true, "bucketID": "id" })));
        let taken = queues.accesses.take().await;
        assert_eq!((&*taken.key, taken.wake), ("waits", Wake::PREREQUISITE));
        // Nothing else is ready: the next one that comes is woken here.
        queues.accesses.wake("sentinel".into(), Wake::CHANGED);
        assert_eq!(&*queues.accesses.take().await.key, "sentinel");
    }
}
