//! What several chapters do, and what they look at.

use anyhow::{Context, Result, ensure};
use cosi_api::{Bucket, BucketAccessMode};

use super::super::cluster::{Access, Claimed, Cluster, Credentials};
use super::super::narrator::tell;
use super::super::world::{DRIVER, World};

/// The user's part and the controller's part, since no controller runs here.
pub(super) async fn ask(cluster: &Cluster, name: &str) -> Result<Claimed> {
    tell(&format!("a user creates the BucketClaim \"{name}\""));
    let claimed = cluster.claim(name).await?;
    tell(&format!("the demo, in place of COSI's controller, creates the Bucket object {}", claimed.bucket));
    cluster.make_bucket(&claimed, DRIVER).await?;
    Ok(claimed)
}

/// The same for an access.
pub(super) async fn ask_access(
    cluster: &Cluster,
    name: &str,
    mode: BucketAccessMode,
    claimed: &Claimed,
    bucket_id: &str,
) -> Result<Access> {
    tell(&format!(
        "a user creates the BucketAccess \"{name}\" ({mode}); the demo hands it over to the sidecar"
    ));
    let access = cluster.access(name, mode, claimed).await?;
    cluster.hand_over(&access, claimed, bucket_id, DRIVER).await?;
    Ok(access)
}

/// The id of a Bucket that has one.
pub(super) fn id(bucket: &Bucket) -> Result<String> {
    bucket.status.as_ref().and_then(|status| status.bucket_id.clone()).context("the Bucket has no id")
}

/// The Bucket, once it is ready.
pub(super) async fn ready(world: &mut World, claimed: &Claimed) -> Result<Bucket> {
    let cluster = world.cluster()?;
    let ready = |bucket: &Bucket| bucket.status.as_ref().is_some_and(|status| status.ready_to_use);
    world.await_("the Bucket becomes ready", async || Ok(cluster.bucket(claimed).await?.filter(ready))).await
}

/// What an application finds in the Secret, once the access is ready.
pub(super) async fn usable(world: &mut World, access: &Access) -> Result<Credentials> {
    let cluster = world.cluster()?;
    let ready = async || {
        let status = cluster.read_access(access).await?.and_then(|found| found.status);
        Ok(status.filter(|status| status.ready_to_use))
    };
    world.await_("the BucketAccess becomes ready", ready).await?;
    cluster.credentials(access).await?.context("the access is ready, and its Secret is empty")
}

/// Waits until the Bucket object is gone.
pub(super) async fn gone(world: &mut World, claimed: &Claimed) -> Result<()> {
    let cluster = world.cluster()?;
    let gone = async || Ok(cluster.bucket(claimed).await?.is_none().then_some(()));
    world.await_("the Bucket object goes", gone).await
}

/// Waits until the sidecar has cleaned up after a deleted access, and plays the controller's last part.
pub(super) async fn revoked(world: &mut World, access: &Access) -> Result<()> {
    let cluster = world.cluster()?;
    let finished = async || Ok(cluster.is_cleaned_up(access).await?.then_some(()));
    world.await_("the sidecar says that its clean-up is finished", finished).await?;
    ensure!(!cluster.has_secret(access).await?, "the Secret {} is still there", access.secret);
    cluster.release_access(access).await?;
    let gone = async || Ok(cluster.read_access(access).await?.is_none().then_some(()));
    world.await_("the BucketAccess object goes", gone).await
}

/// The S3 server has these buckets and no others.
pub(super) async fn expect_buckets(world: &World, expected: &[&str]) -> Result<()> {
    let found = world.backend()?.buckets().await?;
    ensure!(found == expected, "the S3 server has {found:?} instead of {expected:?}");
    Ok(())
}
