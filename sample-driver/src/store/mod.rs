//! Buckets on disk, the proof of who asked for them, and the accounts that may use them.
//!
//! # Guarantees
//! - A bucket is made only after a durable marker (name, protocols, parameters, id) says for which request. A crash may cut
//!   the two apart: a marker without a bucket is an unfinished create of ours and never looks foreign.
//! - A bucket vanishes in one step: it is moved away, then purged, then its marker goes. A crash in between leaves the
//!   marker, and the repeated delete goes on from there.
//! - A bucket without a marker is somebody else's: create answers [`CreateError::Foreign`], delete-by-name leaves it alone.
//! - The id stands in the marker, so that another id prefix after a restart orphans nothing.
//! - What an S3 client was told is stored is not lost to a delete that had found the bucket empty: deletes shut the bucket
//!   for writers first.
//! - Each change of an account is one transaction: it is there with its key and its rights, or not at all.
//! - Rights end with their bucket. No later bucket of the same id inherits them, whoever makes it; a repeated grant gives them anew.
//!
//! # Cancellation
//! Work runs on threads that own the bucket's turn: dropping a future neither stops the work nor frees the turn early.

mod account;
mod accounts;
mod decide;
mod disk;
mod error;
mod folders;
mod id;
mod ledger;
mod rooms;
mod uploads;

#[cfg(test)]
mod account_tests;
#[cfg(test)]
mod crash_tests;
#[cfg(test)]
mod tests;

use std::{path::Path, sync::Arc, time::Duration};

use disk::Disk;
use rooms::{Rooms, Turn};

pub use self::{
    account::{AccountRequest, KeyPair, Scope},
    decide::Contents,
    error::{CreateError, DeleteError, GrantError, NameError, OpenError, StoreError},
    id::{BadPrefix, BucketId, IdPrefix, NotABucketName},
    ledger::Request,
    rooms::Entered,
    uploads::Upload,
};
pub(crate) use folders::OBJECTS;

/// How long a delete waits for S3 requests that are under way before it calls the bucket "in use".
const DRAIN: Duration = Duration::from_secs(2);

/// All buckets of one data directory.
#[derive(Debug)]
pub struct Store {
    disk: Arc<Disk>,
    rooms: Rooms,
    prefix: IdPrefix,
}

impl Store {
    /// Opens (or starts) the store in `data_dir`, clears what a crash left half-done, and keeps the directory locked.
    ///
    /// # Errors
    /// When the directory can't be written or another process uses it.
    pub fn open(data_dir: &Path, prefix: IdPrefix) -> Result<Self, OpenError> {
        Ok(Self { disk: Arc::new(Disk::open(data_dir)?), rooms: Rooms::default(), prefix })
    }

    /// Makes the bucket for `request`, or finds the one that the same request made before.
    ///
    /// # Errors
    /// See [`CreateError`].
    pub async fn create(&self, request: Request) -> Result<BucketId, CreateError> {
        let (id, turn) = self.turn_for(&request.name).await?;
        let disk = Arc::clone(&self.disk);
        in_turn(turn, move || {
            let seen = disk.look_for_create(&request.name, &id)?;
            disk.run(&decide::create(&seen, &request, &id)?)?;
            Ok(id)
        })
        .await
    }

    /// Deletes the bucket with this id. One that isn't there is "already gone".
    ///
    /// # Errors
    /// See [`DeleteError`].
    pub async fn delete(&self, id: &BucketId, contents: Contents) -> Result<(), DeleteError> {
        let turn = self.rooms.turn(id).await;
        let quiet = turn.quiet(DRAIN, contents).await?;
        let (disk, id) = (Arc::clone(&self.disk), id.clone());
        in_turn((turn, quiet), move || {
            let seen = disk.look_for_delete(disk.ledger.by_id(&id)?, &id)?;
            Ok(disk.run(&decide::delete(&seen, &id, contents)?)?)
        })
        .await
    }

    /// Undoes [`Store::create`] with the same request; what that create would refuse is left alone.
    ///
    /// # Errors
    /// See [`DeleteError`].
    pub async fn delete_by_name(&self, request: Request, contents: Contents) -> Result<(), DeleteError> {
        let (id, turn) = match self.turn_for(&request.name).await {
            Ok(found) => found,
            // No create accepts this name, so no create made anything.
            Err(NameError::NotABucketName(_)) => return Ok(()),
            Err(NameError::Store(e)) => return Err(e.into()),
        };
        if !self.disk.ledger.by_name(&request.name)?.is_some_and(|marker| marker.answers(&request)) {
            return Ok(());
        }
        let quiet = turn.quiet(DRAIN, contents).await?;
        let disk = Arc::clone(&self.disk);
        in_turn((turn, quiet), move || {
            let seen = disk.look_for_delete(disk.ledger.by_name(&request.name)?, &id)?;
            Ok(disk.run(&decide::delete(&seen, &id, contents)?)?)
        })
        .await
    }

    /// Lets an S3 request into a bucket; `None` when it isn't there. A delete waits until the answer is dropped.
    ///
    /// # Errors
    /// When the disk can't be read.
    pub async fn enter(&self, id: &BucketId) -> Result<Option<Entered>, StoreError> {
        if !self.exists(id)? {
            return Ok(None);
        }
        self.rooms.enter(id, &self.disk.folders).await
    }

    /// Whether a bucket with this id is there, whoever made it.
    ///
    /// # Errors
    /// When the disk can't be read.
    pub fn exists(&self, id: &BucketId) -> Result<bool, StoreError> {
        self.disk.folders.exists(id)
    }

    /// Ids of all buckets that are there, sorted.
    ///
    /// # Errors
    /// When the disk can't be read.
    pub fn list(&self) -> Result<Vec<BucketId>, StoreError> {
        self.disk.folders.list()
    }

    /// The turn for the bucket that belongs to a name: the marker's id, else prefix + name.
    async fn turn_for(&self, name: &str) -> Result<(BucketId, Turn), NameError> {
        loop {
            let id = self.id_for(name)?;
            let turn = self.rooms.turn(&id).await;
            // While we waited, a delete may have removed the marker, and with it an id of an older prefix.
            if self.id_for(name)? == id {
                return Ok((id, turn));
            }
        }
    }

    /// Resolves when the ledger's file failed in a way that only opening the store anew can mend.
    pub async fn broken(&self) {
        self.disk.ledger.broken().await;
    }

    /// The id that a create with this name answers.
    ///
    /// # Errors
    /// When no bucket can have the name, or the ledger can't be read.
    pub fn id_for(&self, name: &str) -> Result<BucketId, NameError> {
        match self.disk.ledger.by_name(name)? {
            Some(marker) => Ok(marker.id),
            None => Ok(self.prefix.id_for(name)?),
        }
    }
}

/// Runs blocking work that must not be cut short: `turn` is given back when the work has ended, not when its caller has.
async fn in_turn<T, E>(
    turn: impl Send + 'static,
    work: impl FnOnce() -> Result<T, E> + Send + 'static,
) -> Result<T, E>
where
    T: Send + 'static,
    E: From<StoreError> + Send + 'static,
{
    let work = move || {
        let _turn = turn;
        work()
    };
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|e| Err(StoreError::Died(e).into()))
}
