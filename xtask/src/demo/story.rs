//! What happens, in order.

use std::time::Instant;

use anyhow::{Context, Result, ensure};
use cosi_api::{Bucket, keys};
use cosi_tests::object_store::ObjectStore;

use super::cluster::{Claimed, Cluster};
use super::narrator::{checked, tell};
use super::world::{DRIVER, World};

/// A bucket is made, used and taken away.
pub(super) async fn main_job(world: &mut World) -> Result<()> {
    let (cluster, backend) = set_up(world).await?;
    let claimed = make(world, &cluster, &backend).await?;
    use_it(world, &cluster, &backend, &claimed).await?;
    delete(world, &cluster, &backend, &claimed).await
}

async fn set_up(world: &mut World) -> Result<(Cluster, ObjectStore)> {
    world.narrator.chapter("Start the parts");
    tell("starting a Kubernetes API server of our own (built from its source the first time: some minutes)");
    let cluster = world.start_apiserver().await?;
    cluster.make_namespace().await?;
    checked("it runs, and it knows COSI's kinds of objects");
    tell("starting a storage driver; this one keeps buckets in a folder and serves them over S3");
    let backend = world.start_driver("0s").await?;
    expect_buckets(&backend, &[]).await?;
    checked(&format!("its S3 server answers at {} and has no buckets", world.s3_url()));
    tell("starting the sidecar, the program that this project is about");
    world.start_sidecar()?;
    Ok((cluster, backend))
}

async fn make(world: &mut World, cluster: &Cluster, backend: &ObjectStore) -> Result<Claimed> {
    world.narrator.chapter("Somebody asks for a bucket");
    let start = Instant::now();
    let claimed = ask(cluster, "photos").await?;
    let bucket = ready(world, cluster, &claimed).await?;
    checked(&format!(
        "the Bucket object says that it is ready, {:.1} s later",
        start.elapsed().as_secs_f64()
    ));
    expect_buckets(backend, &[&id(&bucket)?]).await?;
    checked(&format!("the S3 server has exactly one bucket: {}", id(&bucket)?));
    Ok(claimed)
}

/// The user's part and the controller's part, since no controller runs here.
async fn ask(cluster: &Cluster, name: &str) -> Result<Claimed> {
    tell(&format!("a user creates the BucketClaim \"{name}\""));
    let claimed = cluster.claim(name).await?;
    tell(&format!("the demo, in place of COSI's controller, creates the Bucket object {}", claimed.bucket));
    cluster.make_bucket(&claimed, DRIVER).await?;
    Ok(claimed)
}

async fn use_it(
    world: &mut World,
    cluster: &Cluster,
    backend: &ObjectStore,
    claimed: &Claimed,
) -> Result<()> {
    world.narrator.chapter("The bucket is used");
    let bucket = cluster.bucket(claimed).await?.context("the Bucket is gone")?;
    let info = bucket.status.as_ref().and_then(|status| status.bucket_info.clone()).unwrap_or_default();
    let endpoint = info.get(keys::s3::ENDPOINT).context("the Bucket does not tell where it is")?;
    ensure!(*endpoint == world.s3_url(), "the Bucket says {endpoint}");
    checked("the Bucket object tells where the bucket is");
    let (name, content) = (id(&bucket)?, "a photo of a cat");
    backend.put(&name, "cat.txt", content).await?;
    ensure!(backend.get(&name, "cat.txt").await? == content, "the object came back changed");
    checked("an object was put into the bucket and came back unchanged");
    Ok(backend.delete(&name, "cat.txt").await?)
}

async fn delete(
    world: &mut World,
    cluster: &Cluster,
    backend: &ObjectStore,
    claimed: &Claimed,
) -> Result<()> {
    world.narrator.chapter("The bucket is no longer wanted");
    tell("the user deletes the claim, and the demo, in place of the controller, the Bucket object");
    cluster.give_up(claimed).await?;
    gone(world, cluster, claimed).await?;
    checked("the Bucket object is gone");
    expect_buckets(backend, &[]).await?;
    checked("the S3 server has no buckets");
    Ok(())
}

/// The sidecar dies at the one moment when the bucket exists and nobody has written down that it does.
pub(super) async fn drill(world: &mut World) -> Result<()> {
    world.narrator.chapter("The worst moment: the sidecar dies right after a bucket was made");
    tell("restarting the driver so that it answers 3 s after it made a bucket, as a slow store might");
    world.stop_driver().await?;
    let backend = world.start_driver("3s").await?;
    let cluster = world.cluster()?;
    let claimed = ask(&cluster, "videos").await?;
    let made = made(world, &backend).await?;
    tell("the bucket is at the S3 server, the answer is not out yet: killing the sidecar (SIGKILL)");
    world.kill_sidecar().await?;
    expect_buckets(&backend, &[&made]).await?;
    checked(&format!("the S3 server has a bucket: {made}"));
    let bucket = cluster.bucket(&claimed).await?.context("the Bucket is gone")?;
    ensure!(
        id(&bucket).is_err(),
        "the sidecar was faster than the kill; run the demo again on a less busy machine"
    );
    checked("in Kubernetes nothing says so: the Bucket object has no bucket id");
    recover(world, &cluster, &backend, &claimed).await
}

async fn recover(
    world: &mut World,
    cluster: &Cluster,
    backend: &ObjectStore,
    claimed: &Claimed,
) -> Result<()> {
    world.narrator.chapter("… and the Bucket is deleted before it is back");
    tell(
        "the user deletes the claim; a sidecar that trusted only what is written down would now see nothing to do",
    );
    cluster.give_up(claimed).await?;
    ensure!(cluster.bucket(claimed).await?.is_some(), "the Bucket object went too early");
    checked("the Bucket object waits: before its first call the sidecar had put its finalizer there");
    tell(
        "starting the sidecar again; it waits until the lost call has certainly ended, then has it undone by name",
    );
    let start = Instant::now();
    world.start_sidecar()?;
    gone(world, cluster, claimed).await?;
    checked(&format!("the Bucket object is gone, {:.1} s later", start.elapsed().as_secs_f64()));
    expect_buckets(backend, &[]).await?;
    checked("the S3 server has no buckets: nothing was orphaned");
    Ok(())
}

/// Makes one more bucket, tells how to reach everything, and waits for Ctrl-C.
pub(super) async fn leave_running(world: &mut World) -> Result<()> {
    world.narrator.chapter("Everything stays up until Ctrl-C");
    let cluster = world.cluster()?;
    let claimed = ask(&cluster, "for-you").await?;
    let bucket = ready(world, &cluster, &claimed).await?;
    println!("\n   export KUBECONFIG={}", world.kubeconfig()?.display());
    println!("   kubectl get buckets");
    println!("   driver socket:   {}", world.socket());
    println!("   S3 endpoint:     {}", world.s3_url());
    println!("   S3 bucket:       {}", id(&bucket)?);
    println!("   S3 key pair in:  {} (as AWS_SHARED_CREDENTIALS_FILE)", world.credentials().display());
    tokio::signal::ctrl_c().await.context("wait for Ctrl-C")
}

fn id(bucket: &Bucket) -> Result<String> {
    bucket.status.as_ref().and_then(|status| status.bucket_id.clone()).context("the Bucket has no id")
}

async fn ready(world: &mut World, cluster: &Cluster, claimed: &Claimed) -> Result<Bucket> {
    let ready = |bucket: &Bucket| bucket.status.as_ref().is_some_and(|status| status.ready_to_use);
    world.await_("the Bucket becomes ready", async || Ok(cluster.bucket(claimed).await?.filter(ready))).await
}

async fn gone(world: &mut World, cluster: &Cluster, claimed: &Claimed) -> Result<()> {
    let gone = async || Ok(cluster.bucket(claimed).await?.is_none().then_some(()));
    world.await_("the Bucket object goes", gone).await
}

async fn made(world: &mut World, backend: &ObjectStore) -> Result<String> {
    world.await_("a bucket appears at the S3 server", async || Ok(backend.buckets().await?.pop())).await
}

async fn expect_buckets(backend: &ObjectStore, expected: &[&str]) -> Result<()> {
    let found = backend.buckets().await?;
    ensure!(found == expected, "the S3 server has {found:?} instead of {expected:?}");
    Ok(())
}
