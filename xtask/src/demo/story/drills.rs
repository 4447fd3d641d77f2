//! The sidecar dies at the worst moments: something was made, and nobody has written down that it was.

use std::time::Instant;

use anyhow::{Context, Result, ensure};
use cosi_api::BucketAccessMode::ReadWrite;
use cosi_tests::object_store::ObjectStore;

use super::super::cluster::{Access, Claimed};
use super::super::narrator::{checked, tell};
use super::super::world::{Delays, World};
use super::access::denied;
use super::steps::{ask, ask_access, expect_buckets, gone, id, ready, revoked};

/// After a bucket was made.
pub(super) async fn bucket(world: &mut World) -> Result<()> {
    world.narrator.chapter("The worst moment: the sidecar dies right after a bucket was made");
    tell("restarting the driver so that it answers 3 s after it made a bucket, as a slow store might");
    world.stop_driver().await?;
    world.start_driver(Delays { create: "3s", grant: "0s" }).await?;
    let cluster = world.cluster()?;
    let claimed = ask(&cluster, "videos").await?;
    let made = made(world).await?;
    tell("the bucket is at the S3 server, the answer is not out yet: killing the sidecar (SIGKILL)");
    world.kill_sidecar().await?;
    expect_buckets(world, &[&made]).await?;
    checked(&format!("the S3 server has a bucket: {made}"));
    let bucket = cluster.bucket(&claimed).await?.context("the Bucket is gone")?;
    ensure!(id(&bucket).is_err(), TOO_FAST);
    checked("in Kubernetes nothing says so: the Bucket object has no bucket id");
    recover_bucket(world, &claimed).await
}

const TOO_FAST: &str = "the sidecar was faster than the kill; run the demo again on a less busy machine";

async fn made(world: &mut World) -> Result<String> {
    let backend = world.backend()?;
    world.await_("a bucket appears at the S3 server", async || Ok(backend.buckets().await?.pop())).await
}

async fn recover_bucket(world: &mut World, claimed: &Claimed) -> Result<()> {
    world.narrator.chapter("… and the Bucket is deleted before it is back");
    tell(
        "the user deletes the claim; a sidecar that trusted only what is written down would now see nothing to do",
    );
    let cluster = world.cluster()?;
    cluster.give_up(claimed).await?;
    ensure!(cluster.bucket(claimed).await?.is_some(), "the Bucket object went too early");
    checked("the Bucket object waits: before its first call the sidecar had put its finalizer there");
    tell(
        "starting the sidecar again; it waits until the lost call has certainly ended, then has it undone by name",
    );
    let start = Instant::now();
    world.start_sidecar()?;
    gone(world, claimed).await?;
    checked(&format!("the Bucket object is gone, {:.1} s later", start.elapsed().as_secs_f64()));
    expect_buckets(world, &[]).await?;
    checked("the S3 server has no buckets: nothing was orphaned");
    Ok(())
}

/// After an account was made, and before its keys are in the Secret.
pub(super) async fn account(world: &mut World) -> Result<()> {
    world.narrator.chapter("As bad: it dies after an account was made, before the keys are in the Secret");
    tell("restarting the driver so that it answers 3 s after it made an account");
    world.stop_driver().await?;
    world.start_driver(Delays { create: "0s", grant: "3s" }).await?;
    let cluster = world.cluster()?;
    let claimed = ask(&cluster, "music").await?;
    let bucket = ready(world, &claimed).await?;
    let access = ask_access(&cluster, "player", ReadWrite, &claimed, &id(&bucket)?).await?;
    world.await_driver_log("the driver makes the account", &access.account()).await?;
    tell("the account is at the S3 server, the answer is not out yet: killing the sidecar (SIGKILL)");
    world.kill_sidecar().await?;
    tell("asking the driver for the key pair of that account, as one can with grpcurl");
    let keys = world.grant_again(&access, &id(&bucket)?).await?;
    keys.put(&id(&bucket)?, "song.txt", "la la la").await?;
    keys.delete(&id(&bucket)?, "song.txt").await?;
    checked("its key pair works at the S3 server");
    ensure!(cluster.credentials(&access).await?.is_none(), TOO_FAST);
    let status = cluster.read_access(&access).await?.and_then(|found| found.status).unwrap_or_default();
    ensure!(status.account_id.is_none(), TOO_FAST);
    checked("in Kubernetes nothing says so: the Secret is empty, the BucketAccess has no account id");
    recover_account(world, &access, &keys, &id(&bucket)?).await?;
    cluster.give_up(&claimed).await?;
    gone(world, &claimed).await
}

async fn recover_account(world: &mut World, access: &Access, keys: &ObjectStore, bucket: &str) -> Result<()> {
    world.narrator.chapter("… and the BucketAccess is deleted before it is back");
    world.cluster()?.delete_access(access).await?;
    tell("starting the sidecar again");
    let start = Instant::now();
    world.start_sidecar()?;
    revoked(world, access).await?;
    checked(&format!(
        "the BucketAccess and its Secret are gone, {:.1} s later",
        start.elapsed().as_secs_f64()
    ));
    denied(keys.put(bucket, "song.txt", "la la la").await, "the orphaned key still works")?;
    checked("the key pair is dead: nothing was orphaned");
    Ok(())
}
