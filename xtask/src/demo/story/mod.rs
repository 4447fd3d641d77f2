//! What happens, in order.

mod access;
mod bucket;
mod drills;
mod steps;

use anyhow::{Context, Result};
use cosi_api::BucketAccessMode::ReadWrite;

use super::narrator::{checked, tell};
use super::world::{Delays, World};
use steps::{ask, ask_access, expect_buckets, id, ready, usable};

/// A bucket is made, used by applications, and taken away.
pub(super) async fn main_job(world: &mut World) -> Result<()> {
    set_up(world).await?;
    let claimed = bucket::make(world).await?;
    let accesses = access::grant(world, &claimed).await?;
    access::use_them(world, &accesses).await?;
    access::revoke(world, &accesses).await?;
    bucket::delete(world, &claimed).await
}

/// The two moments at which others lose a bucket or an account.
pub(super) async fn drills(world: &mut World) -> Result<()> {
    drills::bucket(world).await?;
    drills::account(world).await
}

async fn set_up(world: &mut World) -> Result<()> {
    world.narrator.chapter("Start the parts");
    world.start_apiserver().await?.make_namespace().await?;
    checked("it runs, and it knows COSI's kinds of objects");
    tell("starting a storage driver; this one keeps buckets in a folder and serves them over S3");
    world.start_driver(Delays::default()).await?;
    expect_buckets(world, &[]).await?;
    checked(&format!("its S3 server answers at {} and has no buckets", world.s3_url()));
    tell("starting the sidecar, the program that this project is about");
    world.start_sidecar()
}

/// Makes one more bucket and an access to it, tells how to reach everything, and waits for Ctrl-C.
pub(super) async fn leave_running(world: &mut World) -> Result<()> {
    world.narrator.chapter("Everything stays up until Ctrl-C");
    let cluster = world.cluster()?;
    world.stop_driver().await?;
    world.start_driver(Delays::default()).await?;
    let claimed = ask(&cluster, "for-you").await?;
    let bucket = ready(world, &claimed).await?;
    let access = ask_access(&cluster, "for-you", ReadWrite, &claimed, &id(&bucket)?).await?;
    usable(world, &access).await?;
    println!("\n   export KUBECONFIG={}", world.kubeconfig()?.display());
    println!("   kubectl get buckets,bucketaccesses -A");
    println!(
        "   kubectl -n demo get secret for-you -o yaml   # endpoint, bucket and key pair of an application"
    );
    println!("   driver socket:   {}", world.socket());
    println!("   S3 endpoint:     {}", world.s3_url());
    println!("   S3 bucket:       {}", id(&bucket)?);
    println!("   operator's keys: {} (as AWS_SHARED_CREDENTIALS_FILE)", world.credentials().display());
    tokio::signal::ctrl_c().await.context("wait for Ctrl-C")
}
