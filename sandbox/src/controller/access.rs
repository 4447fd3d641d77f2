//! BucketAccesses: checked, handed over to the sidecar, and taken back when it has cleaned up.

use std::sync::Arc;

use cosi_api::{
    AccessedBucket, Bucket, BucketAccess, BucketAccessClass, BucketAccessClassSpec, BucketAccessStatus,
    BucketClaim, BucketClaimAccess, MultiBucketAccess, names,
};
use kube::api::ListParams;
use kube::runtime::controller::Action;
use kube::runtime::finalizer::{Event, finalizer};
use kube::{Api, Client, ResourceExt as _};
use tokio::sync::Mutex;

use super::{Failure, NotYet, SOON, write};

pub(super) async fn reconcile(access: Arc<BucketAccess>, client: Arc<Client>) -> Result<Action, Failure> {
    let desk = Desk::new(&client, &access.namespace().unwrap_or_default());
    finalizer(&desk.accesses, names::FINALIZER, access, async |event| match event {
        Event::Apply(access) => desk.apply(&access).await,
        Event::Cleanup(access) => desk.clean_up(&access).await,
    })
    .await
}

/// Held while claims are marked, or looked at and unmarked: else a claim would lose its mark to an access that came in between.
static MARKS: Mutex<()> = Mutex::const_new(());

/// Everything that an access has to do with.
struct Desk {
    accesses: Api<BucketAccess>,
    claims: Api<BucketClaim>,
    classes: Api<BucketAccessClass>,
    buckets: Api<Bucket>,
}

impl Desk {
    fn new(client: &Client, namespace: &str) -> Self {
        Self {
            accesses: Api::namespaced(client.clone(), namespace),
            claims: Api::namespaced(client.clone(), namespace),
            classes: Api::all(client.clone()),
            buckets: Api::all(client.clone()),
        }
    }

    async fn apply(&self, access: &BucketAccess) -> Result<Action, NotYet> {
        let old = access.status.as_ref();
        // From here on it is the sidecar's.
        if old.is_some_and(|status| status.driver_name.is_some()) {
            return Ok(Action::await_change());
        }
        let status = match self.hand_over(access).await {
            Ok(status) => status,
            Err(NotYet::Impossible(why)) => {
                let error = Some(write::error(why, old.and_then(|status| status.error.as_ref())));
                BucketAccessStatus { error, ..BucketAccessStatus::default() }
            }
            Err(other) => return Err(other),
        };
        write::status(&self.accesses, &access.name_any(), old, &status).await?;
        Ok(if status.error.is_none() { Action::await_change() } else { Action::requeue(SOON) })
    }

    /// All that the sidecar needs to know.
    async fn hand_over(&self, access: &BucketAccess) -> Result<BucketAccessStatus, NotYet> {
        let name = &access.spec.bucket_access_class_name;
        let Some(class) = self.classes.get_opt(name).await? else {
            return Err(NotYet::Impossible(format!("there is no BucketAccessClass {name}")));
        };
        let class = class.spec;
        allowed(access, &class)?;
        let mut accessed_buckets = Vec::new();
        for wish in &access.spec.bucket_claims {
            accessed_buckets.push(self.accessed(access, wish, &class).await?);
        }
        let _held = MARKS.lock().await;
        for wish in &access.spec.bucket_claims {
            let (claim, mark) = (&wish.bucket_claim_name, names::HAS_BUCKETACCESS_REFERENCES);
            write::annotation(&self.claims, claim, mark, true).await?;
        }
        Ok(BucketAccessStatus {
            accessed_buckets: Some(accessed_buckets),
            driver_name: Some(class.driver_name),
            authentication_type: Some(class.authentication_type),
            parameters: class.parameters,
            ..BucketAccessStatus::default()
        })
    }

    async fn accessed(
        &self,
        access: &BucketAccess,
        wish: &BucketClaimAccess,
        class: &BucketAccessClassSpec,
    ) -> Result<AccessedBucket, NotYet> {
        let bucket_claim_name = wish.bucket_claim_name.clone();
        let claim = self.claims.get_opt(&bucket_claim_name).await?;
        let claim = claim.ok_or_else(|| {
            NotYet::Impossible(format!("there is no BucketClaim {bucket_claim_name} in this namespace"))
        })?;
        if claim.metadata.deletion_timestamp.is_some() {
            return Err(NotYet::Impossible(format!("BucketClaim {bucket_claim_name} is being deleted")));
        }
        let bucket_name = claim.status.filter(|status| status.ready_to_use).and_then(|s| s.bound_bucket_name);
        let bucket_name = bucket_name.ok_or(NotYet::Waiting("its BucketClaims are ready"))?;
        let bucket = self.buckets.get(&bucket_name).await?;
        if bucket.spec.driver_name != class.driver_name {
            let why =
                format!("the bucket of BucketClaim {bucket_claim_name} has another driver than the class");
            return Err(NotYet::Impossible(why));
        }
        let status = bucket.status.unwrap_or_default();
        let protocol = access.spec.protocol;
        if !status.protocols.unwrap_or_default().contains(&protocol) {
            let why = format!("the bucket of BucketClaim {bucket_claim_name} does not speak {protocol}");
            return Err(NotYet::Impossible(why));
        }
        let bucket_id = status.bucket_id.ok_or(NotYet::Waiting("its buckets have ids"))?;
        Ok(AccessedBucket { bucket_name, bucket_id, bucket_claim_name })
    }

    async fn clean_up(&self, access: &BucketAccess) -> Result<Action, NotYet> {
        let mine = access.annotations().contains_key(names::CONTROLLER_MANAGEMENT_OVERRIDE);
        let handed_over = access.status.as_ref().is_some_and(|status| status.driver_name.is_some());
        let finished = access.annotations().contains_key(names::SIDECAR_CLEANUP_FINISHED);
        if handed_over && !mine && !finished {
            return Err(NotYet::Waiting("the sidecar has cleaned up"));
        }
        for wish in &access.spec.bucket_claims {
            self.unmark(&wish.bucket_claim_name, access).await?;
        }
        Ok(Action::await_change())
    }

    /// Takes the mark off a claim that no other access refers to.
    async fn unmark(&self, claim: &str, leaving: &BucketAccess) -> Result<(), NotYet> {
        let refers =
            |access: &BucketAccess| access.spec.bucket_claims.iter().any(|w| w.bucket_claim_name == claim);
        let _held = MARKS.lock().await;
        let all = self.accesses.list(&ListParams::default()).await?;
        if all.iter().any(|access| access.uid() != leaving.uid() && refers(access)) {
            return Ok(());
        }
        let marked = self.claims.get_opt(claim).await?;
        if marked.is_some_and(|c| c.annotations().contains_key(names::HAS_BUCKETACCESS_REFERENCES)) {
            write::annotation(&self.claims, claim, names::HAS_BUCKETACCESS_REFERENCES, false).await?;
        }
        Ok(())
    }
}

/// What the class forbids.
fn allowed(access: &BucketAccess, class: &BucketAccessClassSpec) -> Result<(), NotYet> {
    let wishes = &access.spec.bucket_claims;
    if wishes.len() > 1 && class.multi_bucket_access != Some(MultiBucketAccess::MultipleBuckets) {
        return Err(NotYet::Impossible("its class allows one bucket per access".to_owned()));
    }
    let forbidden = class.disallowed_bucket_access_modes.as_deref().unwrap_or_default();
    match wishes.iter().find(|wish| forbidden.contains(&wish.access_mode)) {
        Some(wish) => Err(NotYet::Impossible(format!("its class does not allow {}", wish.access_mode))),
        None => Ok(()),
    }
}
