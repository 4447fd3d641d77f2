//! COSI's controller in miniature: it does what upstream's controller is to do, so that a user's BucketClaim and BucketAccess
//! are enough.
//!
//! A claim gets its Bucket, or is bound to an existing one. An access is handed over to the sidecar once its claims are bound
//! and ready. On deletion each waits for the sidecar's part: a Bucket object that is to go with its claim has gone, and the
//! sidecar has marked an access as cleaned up. Upstream's pinned controller leaves the deletions undone; this one does what the
//! specification says of them.

mod access;
mod bind;
mod claim;
mod write;

use std::sync::Arc;
use std::time::Duration;

use cosi_api::{Bucket, BucketAccess, BucketClaim};
use futures::StreamExt as _;
use kube::runtime::controller::{Action, Controller};
use kube::runtime::finalizer;
use kube::runtime::reflector::ObjectRef;
use kube::runtime::watcher;
use kube::{Api, Client};

/// How soon an object is looked at again that waits for something, or could not be written.
const SOON: Duration = Duration::from_millis(500);

/// Why an object is not yet as it should be.
#[derive(Debug, thiserror::Error)]
enum NotYet {
    /// The API server did not do as asked.
    #[error("the API server did not do as asked")]
    Api(#[from] kube::Error),
    /// Something has to happen first.
    #[error("waiting until {0}")]
    Waiting(&'static str),
    /// The object's user has to change something; it is told in the object's status.
    #[error("{0}")]
    Impossible(String),
}

type Failure = finalizer::Error<NotYet>;

/// Plays the controller until it is dropped.
pub(crate) async fn run(client: Client) {
    let claims = {
        let buckets = Api::<Bucket>::all(client.clone());
        Controller::new(Api::<BucketClaim>::all(client.clone()), watcher::Config::default())
            .watches(buckets, watcher::Config::default(), |bucket| {
                let claim = bucket.spec.bucket_claim_ref;
                Some(ObjectRef::<BucketClaim>::new(&claim.name).within(&claim.namespace))
            })
            .run(claim::reconcile, later::<BucketClaim>, Arc::new(client.clone()))
            .for_each(async |_| {})
    };
    let accesses = Controller::new(Api::<BucketAccess>::all(client.clone()), watcher::Config::default())
        .run(access::reconcile, later::<BucketAccess>, Arc::new(client))
        .for_each(async |_| {});
    tokio::join!(claims, accesses);
}

/// Waiting is everyday life; what else goes wrong is told.
#[allow(clippy::needless_pass_by_value, reason = "the controller wants it so")]
fn later<K: kube::Resource<DynamicType = ()>>(object: Arc<K>, failure: &Failure, _: Arc<Client>) -> Action {
    let meta = object.meta();
    let (kind, namespace, name) = (K::kind(&()), meta.namespace.as_deref(), meta.name.as_deref());
    let cause = match failure {
        Failure::ApplyFailed(cause) | Failure::CleanupFailed(cause) => Some(cause),
        _ => None,
    };
    match cause {
        Some(NotYet::Waiting(what)) => tracing::debug!(%kind, namespace, name, "waiting until {what}"),
        Some(NotYet::Impossible(why)) => tracing::info!(%kind, namespace, name, "{why}"),
        _ => tracing::debug!(%kind, namespace, name, ?failure, "tried again"),
    }
    Action::requeue(SOON)
}
