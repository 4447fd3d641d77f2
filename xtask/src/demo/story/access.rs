//! Applications get access, use it, and lose it.

use anyhow::{Context, Result, bail, ensure};
use cosi_api::BucketAccessMode::{ReadOnly, ReadWrite};
use cosi_tests::object_store::StoreError;

use super::super::cluster::{Access, Claimed, Credentials};
use super::super::narrator::{checked, tell};
use super::super::world::World;
use super::steps::{ask_access, id, revoked, usable};

/// An object that applications pass on to each other.
const OBJECT: (&str, &str) = ("cat.txt", "a photo of a cat");

/// Two accesses to one bucket, and what their Secrets held.
pub(super) struct Accesses {
    writer: (Access, Credentials),
    reader: (Access, Credentials),
}

pub(super) async fn grant(world: &mut World, claimed: &Claimed) -> Result<Accesses> {
    world.narrator.chapter("Two applications ask for access to it");
    let cluster = world.cluster()?;
    let bucket = cluster.bucket(claimed).await?.context("the Bucket is gone")?;
    let writer = ask_access(&cluster, "camera", ReadWrite, claimed, &id(&bucket)?).await?;
    let reader = ask_access(&cluster, "gallery", ReadOnly, claimed, &id(&bucket)?).await?;
    let writer = (writer.clone(), usable(world, &writer).await?);
    let reader = (reader.clone(), usable(world, &reader).await?);
    checked("both are ready: each has a Secret with endpoint, bucket and a key pair of its own");
    ensure!(writer.1.key_id() != reader.1.key_id(), "two accesses share a key");
    Ok(Accesses { writer, reader })
}

pub(super) async fn use_them(world: &mut World, accesses: &Accesses) -> Result<()> {
    world.narrator.chapter("The applications use what is in their Secrets");
    let (writer, reader) = (accesses.writer.1.store(), accesses.reader.1.store());
    let bucket = accesses.writer.1.bucket();
    let (key, content) = OBJECT;
    writer.put(bucket, key, content).await?;
    ensure!(writer.get(bucket, key).await? == content, "the object came back changed");
    checked("the first one put an object into the bucket and got it back unchanged");
    ensure!(reader.get(bucket, key).await? == content, "the object came back changed");
    checked("the second one, which may only read, got it, too");
    denied(reader.put(bucket, key, "a dog").await, "the read-only key could write")?;
    ensure!(writer.get(bucket, key).await? == content, "the object was changed");
    checked("it tried to overwrite it, and the S3 server refused");
    Ok(writer.delete(bucket, key).await?)
}

pub(super) async fn revoke(world: &mut World, accesses: &Accesses) -> Result<()> {
    world.narrator.chapter("The applications are gone");
    let cluster = world.cluster()?;
    tell("the user deletes both BucketAccesses");
    for (access, _) in [&accesses.writer, &accesses.reader] {
        cluster.delete_access(access).await?;
        revoked(world, access).await?;
    }
    checked("their Secrets are gone");
    for (_, credentials) in [&accesses.writer, &accesses.reader] {
        let get = credentials.store().get(credentials.bucket(), OBJECT.0).await;
        denied(get, "a revoked key still works")?;
    }
    checked("a copy of their keys is of no use: the S3 server does not know them any more");
    Ok(())
}

/// The S3 server did not allow it. Any other failure proves nothing.
pub(super) fn denied<T>(result: Result<T, StoreError>, otherwise: &str) -> Result<()> {
    match result {
        Ok(_) => bail!("{otherwise}"),
        Err(StoreError::Denied { .. }) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
