//! BucketAccess: credentials without orphans (lifecycle.md, the last paragraph of §2). Every test here runs the sidecar at
//! log level trace, and ends with a search for the driver's secrets in all that it printed and wrote (I7).

mod buckets;
mod codes;
mod faults;
mod floor;
mod force;
mod grant;
mod handover;
mod keys;
mod namespace;
mod nonsense;
mod revoke;
mod secrecy;
mod secrets;
mod storm;
mod taken;
mod undo;
mod window;

use crate::world::{AccessWish, Setup, TestAccess, TestBucket, World};

/// A world with a good driver and a Ready Bucket.
async fn start() -> Option<(World, TestBucket)> {
    start_with(Setup::traced()).await
}

async fn start_with(setup: Setup) -> Option<(World, TestBucket)> {
    let world = setup.start().await?;
    let bucket = world.bucket().await;
    listed(&world).await;
    Some((world, bucket))
}

/// Waits until the sidecar has its first complete list. What is there before that counts as having had a predecessor (R3).
async fn listed(world: &World) {
    world.sidecar.wait_log("all BucketAccesses listed", 1).await.unwrap();
}

/// A Ready access to the Bucket.
async fn ready(world: &World, bucket: &TestBucket) -> TestAccess {
    let access = world.access(AccessWish::to(bucket).await).await;
    access.wait_ready().await;
    access
}
