//! A bucket comes, and goes.

use std::time::Instant;

use anyhow::{Context, Result, ensure};
use cosi_api::keys;

use super::super::cluster::Claimed;
use super::super::narrator::{checked, tell};
use super::super::world::World;
use super::steps::{ask, expect_buckets, gone, id, ready};

pub(super) async fn make(world: &mut World) -> Result<Claimed> {
    world.narrator.chapter("Somebody asks for a bucket");
    let start = Instant::now();
    let claimed = ask(&world.cluster()?, "photos").await?;
    let bucket = ready(world, &claimed).await?;
    checked(&format!(
        "the Bucket object says that it is ready, {:.1} s later",
        start.elapsed().as_secs_f64()
    ));
    expect_buckets(world, &[&id(&bucket)?]).await?;
    checked(&format!("the S3 server has exactly one bucket: {}", id(&bucket)?));
    let info = bucket.status.as_ref().and_then(|status| status.bucket_info.clone()).unwrap_or_default();
    let endpoint = info.get(keys::s3::ENDPOINT).context("the Bucket does not tell where it is")?;
    ensure!(*endpoint == world.s3_url(), "the Bucket says {endpoint}");
    checked("the Bucket object tells where the bucket is");
    Ok(claimed)
}

pub(super) async fn delete(world: &mut World, claimed: &Claimed) -> Result<()> {
    world.narrator.chapter("The bucket is no longer wanted");
    tell("the user deletes the claim, and the demo, in place of the controller, the Bucket object");
    world.cluster()?.give_up(claimed).await?;
    gone(world, claimed).await?;
    checked("the Bucket object is gone");
    expect_buckets(world, &[]).await?;
    checked("the S3 server has no buckets");
    Ok(())
}
