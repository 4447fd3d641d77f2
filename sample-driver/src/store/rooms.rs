//! Who may be at a bucket at the same time: one create or delete at a time, any number of S3 requests, and no S3 request
//! while a delete is at work.

use std::{
    collections::HashMap,
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use s3s::S3Error;
use s3s_fs::FileSystem;
use tokio::{
    sync::{OnceCell, OwnedMutexGuard, OwnedRwLockReadGuard, OwnedRwLockWriteGuard, watch},
    time::timeout,
};

use super::{
    decide::Contents,
    error::{DeleteError, StoreError},
    folders::Folders,
    id::BucketId,
    uploads::{self, Upload},
};

/// All buckets that somebody is at, or was over S3.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rooms(Arc<Mutex<HashMap<BucketId, Arc<Room>>>>);

#[derive(Debug, Default)]
struct Room {
    turn: Arc<tokio::sync::Mutex<()>>,
    gate: Arc<tokio::sync::RwLock<()>>,
    /// One per bucket and process: opening it removes temporary files, which must not be another one's.
    files: OnceCell<Arc<FileSystem>>,
    /// Counts the deletes that cut running uploads off.
    cuts: watch::Sender<u64>,
}

impl Rooms {
    fn map(&self) -> MutexGuard<'_, HashMap<BucketId, Arc<Room>>> {
        // No code panics while it holds this lock; if one did, the map would still be whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.map().len()
    }

    fn room(&self, id: &BucketId) -> Arc<Room> {
        Arc::clone(self.map().entry(id.clone()).or_default())
    }

    /// Waits until no other create or delete is at this bucket.
    pub(crate) async fn turn(&self, id: &BucketId) -> Turn {
        let room = self.room(id);
        let held = Arc::clone(&room.turn).lock_owned().await;
        Turn { id: id.clone(), rooms: self.clone(), room, _held: held }
    }

    /// Lets an S3 request in, unless the bucket has gone while it waited.
    pub(crate) async fn enter(
        &self,
        id: &BucketId,
        folders: &Folders,
    ) -> Result<Option<Entered>, StoreError> {
        let room = self.room(id);
        let open = Arc::clone(&room.gate).read_owned().await;
        if !folders.exists(id)? {
            return Ok(None);
        }
        let open_files = async || {
            let opened = FileSystem::new(folders.of(id)).map_err(|e| io::Error::other(S3Error::from(e)));
            opened.map(Arc::new).map_err(StoreError::folder("open", id))
        };
        let files = Arc::clone(room.files.get_or_try_init(open_files).await?);
        Ok(Some(Entered {
            folder: folders.of(id),
            files,
            cut: room.cuts.subscribe(),
            _open: open,
            _room: room,
        }))
    }
}

/// The right to create or delete one bucket. Given back on drop.
#[derive(Debug)]
pub(crate) struct Turn {
    id: BucketId,
    rooms: Rooms,
    room: Arc<Room>,
    _held: OwnedMutexGuard<()>,
}

impl Turn {
    /// Shuts the bucket for S3 requests and waits for those that are inside; with [`Contents::Discard`] uploads are cut off.
    pub(crate) async fn quiet(&self, wait: Duration, contents: Contents) -> Result<Quiet, DeleteError> {
        if contents == Contents::Discard {
            self.room.cuts.send_modify(|cuts| *cuts += 1);
        }
        let shut = timeout(wait, Arc::clone(&self.room.gate).write_owned()).await;
        shut.map(|shut| Quiet { _shut: shut }).map_err(|_| DeleteError::InUse(self.id.clone()))
    }
}

impl Drop for Turn {
    /// A room is forgotten with its last visitor, or buckets that are long gone would fill the map.
    fn drop(&mut self) {
        let mut map = self.rooms.map();
        // Two: the map's and ours.
        if Arc::strong_count(&self.room) == 2 {
            map.remove(&self.id);
        }
    }
}

/// As long as this lives, no S3 request is inside the bucket.
#[derive(Debug)]
pub(crate) struct Quiet {
    _shut: OwnedRwLockWriteGuard<()>,
}

/// An S3 request inside a bucket.
#[derive(Debug)]
pub struct Entered {
    folder: PathBuf,
    files: Arc<FileSystem>,
    cut: watch::Receiver<u64>,
    _open: OwnedRwLockReadGuard<()>,
    _room: Arc<Room>,
}

impl Entered {
    /// The bucket's objects, as bucket `objects` of a file system of its own: no key or copy source leads out of it.
    #[must_use]
    pub fn files(&self) -> &FileSystem {
        &self.files
    }

    /// Where the bucket's files are.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Multipart uploads that were begun and neither completed nor aborted.
    ///
    /// # Errors
    /// When the folder can't be read.
    pub fn uploads(&self) -> io::Result<Vec<Upload>> {
        uploads::unfinished(&self.folder)
    }

    /// Access key of who began this upload for this key; `None` if there is no such upload.
    ///
    /// # Errors
    /// When the folder can't be read.
    pub fn upload_owner(&self, key: &str, upload: &str) -> io::Result<Option<String>> {
        uploads::owner_of(&self.folder, key, upload)
    }

    /// Changes when a delete wants uploads into this bucket to end.
    #[must_use]
    pub fn cut(&self) -> watch::Receiver<u64> {
        self.cut.clone()
    }
}
