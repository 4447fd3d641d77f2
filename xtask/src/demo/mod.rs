//! `cargo xtask demo`: the main job and the worst moment, with real processes, on the embedded API server or a real one.
//!
//! Every sentence with a ✓ was checked just before it was printed; the first that does not hold ends the demo with
//! an error.

mod apiserver;
mod cluster;
mod narrator;
mod story;
mod wire;
mod world;

use anyhow::{Context, Result, bail};
use tokio::signal;

use crate::workspace::{cargo, run};
use world::World;

const WELCOME: &str = "\
COSI lets people on Kubernetes ask for a bucket in an object store as they ask for a disk: they write down what they
want (a BucketClaim), a controller turns it into a Bucket object, and a sidecar next to the storage vendor's driver
makes the real bucket, and takes it away again. In the same way applications get accounts with key pairs of their own
(BucketAccess). This demo runs all of that here, in a temporary folder, and checks each claim it makes (✓). Nothing
outside that folder is touched, and nothing keeps running afterwards.";

/// Builds the programs and shows them, with `real` on a real Kubernetes API server. With `keep`, everything stays up afterwards until Ctrl-C.
///
/// # Errors
/// If something does not build or start, or a claim does not hold.
pub fn demo(real: bool, keep: bool) -> Result<()> {
    println!("Building the programs (the first time this takes minutes).");
    run(&mut cargo(["build", "-p", "cosi-sidecar", "-p", "cosi-sample-driver", "--bins"]))?;
    show(real, keep)
}

/// The demo of programs that are built already.
pub(crate) fn show(real: bool, keep: bool) -> Result<()> {
    println!("\n{WELCOME}");
    let mut world = World::new(real)?;
    let runtime = tokio::runtime::Runtime::new().context("start a runtime")?;
    let told = runtime.block_on(async {
        tokio::select! {
            // A Ctrl-C that the story itself waits for is no interruption.
            biased;
            result = told(&mut world, keep) => Some(result),
            _ = signal::ctrl_c() => None,
        }
    });
    println!("\nStopping everything.");
    let failed = matches!(told, Some(Err(_)));
    if let Some(folder) = runtime.block_on(world.end(failed)) {
        eprintln!("The logs of all processes are in {}", folder.display());
    }
    told.unwrap_or_else(|| bail!("interrupted"))
}

async fn told(world: &mut World, keep: bool) -> Result<()> {
    story::main_job(world).await?;
    story::drills(world).await?;
    println!("\nAll claims were checked and hold.");
    if keep { story::leave_running(world).await } else { Ok(()) }
}
