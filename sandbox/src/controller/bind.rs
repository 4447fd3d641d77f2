//! The Bucket of a claim: made, found, and let go.

use cosi_api::{Bucket, BucketClaim, BucketClaimReference, BucketClass, BucketSpec, DeletionPolicy, names};
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use kube::{Api, Client, ResourceExt as _};
use serde_json::json;

use super::{NotYet, write};

/// The Bucket of the claim, which is made if the claim has a class, and bound if it names one.
pub(super) async fn bind(client: &Client, claim: &BucketClaim) -> Result<Bucket, NotYet> {
    let buckets = Api::<Bucket>::all(client.clone());
    let name = name_of(claim);
    let Some(bucket) = buckets.get_opt(&name).await? else {
        return make(client, &buckets, claim, &name).await;
    };
    let owner = &bucket.spec.bucket_claim_ref;
    let for_us = owner.name == claim.name_any() && Some(&owner.namespace) == claim.namespace().as_ref();
    if !for_us || (owner.uid.is_some() && owner.uid != claim.uid()) {
        return Err(NotYet::Impossible(format!("Bucket {name} belongs to another BucketClaim")));
    }
    if owner.uid.is_some() {
        return Ok(bucket);
    }
    let patch = json!({ "spec": { "bucketClaimRef": { "uid": claim.uid() } } });
    Ok(buckets.patch(&name, &PatchParams::default(), &Patch::Merge(&patch)).await?)
}

fn name_of(claim: &BucketClaim) -> String {
    claim.spec.existing_bucket_name.clone().unwrap_or_else(|| {
        let uid = claim.uid().unwrap_or_default();
        format!("bc-{uid}")
    })
}

async fn make(
    client: &Client,
    buckets: &Api<Bucket>,
    claim: &BucketClaim,
    name: &str,
) -> Result<Bucket, NotYet> {
    let Some(class_name) = &claim.spec.bucket_class_name else {
        return Err(NotYet::Impossible(format!("there is no Bucket {name}")));
    };
    let Some(class) = Api::<BucketClass>::all(client.clone()).get_opt(class_name).await? else {
        return Err(NotYet::Impossible(format!("there is no BucketClass {class_name}")));
    };
    let bucket_claim_ref = BucketClaimReference {
        name: claim.name_any(),
        namespace: claim.namespace().unwrap_or_default(),
        uid: claim.uid(),
    };
    let spec = BucketSpec {
        driver_name: class.spec.driver_name,
        deletion_policy: class.spec.deletion_policy,
        parameters: class.spec.parameters,
        protocols: claim.spec.protocols.clone(),
        bucket_claim_ref,
        existing_bucket_id: None,
    };
    Ok(buckets.create(&PostParams::default(), &Bucket::new(name, spec)).await?)
}

/// The claim is being deleted: its Bucket may go, or stays without it.
pub(super) async fn release(client: &Client, claim: &BucketClaim) -> Result<(), NotYet> {
    let buckets = Api::<Bucket>::all(client.clone());
    let name = name_of(claim);
    let Some(bucket) = buckets.get_opt(&name).await? else { return Ok(()) };
    if bucket.spec.bucket_claim_ref.uid != claim.uid() {
        return Ok(());
    }
    if !names::claim_is_being_deleted(bucket.annotations()) {
        write::annotation(&buckets, &name, names::BUCKETCLAIM_BEING_DELETED, true).await?;
    }
    if bucket.spec.deletion_policy == DeletionPolicy::Retain {
        return Ok(());
    }
    if bucket.metadata.deletion_timestamp.is_none() {
        buckets.delete(&name, &DeleteParams::default()).await?;
    }
    Err(NotYet::Waiting("the Bucket has gone"))
}
