//! BucketClaims.

use std::sync::Arc;

use cosi_api::{Bucket, BucketAccess, BucketClaim, BucketClaimStatus, names};
use kube::api::ListParams;
use kube::runtime::controller::Action;
use kube::runtime::finalizer::{Event, finalizer};
use kube::{Api, Client, ResourceExt as _};

use super::{Failure, NotYet, SOON, bind, write};

pub(super) async fn reconcile(claim: Arc<BucketClaim>, client: Arc<Client>) -> Result<Action, Failure> {
    let api = Api::namespaced(Client::clone(&client), &claim.namespace().unwrap_or_default());
    finalizer(&api, names::FINALIZER, claim, async |event| match event {
        Event::Apply(claim) => apply(&api, &client, &claim).await,
        Event::Cleanup(claim) => clean_up(&client, &claim).await,
    })
    .await
}

async fn apply(api: &Api<BucketClaim>, client: &Client, claim: &BucketClaim) -> Result<Action, NotYet> {
    let old = claim.status.as_ref();
    let bound = bind::bind(client, claim).await;
    let status = match &bound {
        Ok(bucket) => of_bucket(bucket, old),
        Err(NotYet::Impossible(why)) => BucketClaimStatus {
            ready_to_use: false,
            error: Some(write::error(why.clone(), old.and_then(|status| status.error.as_ref()))),
            ..old.cloned().unwrap_or_default()
        },
        Err(_) => return bound.map(|_| Action::await_change()),
    };
    write::status(api, &claim.name_any(), old, &status).await?;
    bound?;
    Ok(if status.ready_to_use { Action::await_change() } else { Action::requeue(SOON) })
}

/// A claim is as ready as its Bucket.
fn of_bucket(bucket: &Bucket, old: Option<&BucketClaimStatus>) -> BucketClaimStatus {
    let status = bucket.status.clone().unwrap_or_default();
    BucketClaimStatus {
        ready_to_use: status.ready_to_use,
        bound_bucket_name: Some(bucket.name_any()),
        // Once there, they can't be taken away.
        protocols: status.protocols.or_else(|| old.and_then(|old| old.protocols.clone())),
        error: status.error,
    }
}

async fn clean_up(client: &Client, claim: &BucketClaim) -> Result<Action, NotYet> {
    let accesses = Api::<BucketAccess>::namespaced(client.clone(), &claim.namespace().unwrap_or_default());
    if is_accessed(&accesses, &claim.name_any()).await? {
        return Err(NotYet::Waiting("no BucketAccess refers to it"));
    }
    bind::release(client, claim).await?;
    Ok(Action::await_change())
}

/// Whether an access to the claim's bucket was given, or is asked for.
pub(super) async fn is_accessed(accesses: &Api<BucketAccess>, claim: &str) -> Result<bool, kube::Error> {
    let all = accesses.list(&ListParams::default()).await?;
    Ok(all.iter().any(|access| access.spec.bucket_claims.iter().any(|wish| wish.bucket_claim_name == claim)))
}
