//! The folders of the buckets. Layout below the data directory:
//!
//! - `buckets/<id>/` – one bucket with all that belongs to it, so that its metadata dies with it:
//!   `objects/…` the objects by key, and dot-files beside it (metadata, unfinished uploads) as s3s-fs writes them;
//! - `work/<id>/` – a bucket that isn't there yet or not any more. Emptied at start.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use super::{decide::Filling, error::StoreError, id::BucketId, uploads};

/// Folder inside a bucket's folder that holds the objects. Short: it stands in every metadata file's name.
pub(crate) const OBJECTS: &str = "objects";

#[derive(Debug)]
pub(crate) struct Folders {
    buckets: PathBuf,
    work: PathBuf,
}

impl Folders {
    pub(crate) fn open(data_dir: &Path) -> io::Result<Self> {
        let folders = Self { buckets: data_dir.join("buckets"), work: data_dir.join("work") };
        fs::create_dir_all(&folders.buckets)?;
        remove_all(&folders.work)?;
        fs::create_dir_all(&folders.work)?;
        Ok(folders)
    }

    /// Where everything of a bucket is.
    pub(crate) fn of(&self, id: &BucketId) -> PathBuf {
        self.buckets.join(id.as_str())
    }

    fn work(&self, id: &BucketId) -> PathBuf {
        self.work.join(id.as_str())
    }

    pub(crate) fn exists(&self, id: &BucketId) -> Result<bool, StoreError> {
        self.of(id).try_exists().map_err(StoreError::folder("look for", id))
    }

    pub(crate) fn list(&self) -> Result<Vec<BucketId>, StoreError> {
        let mut ids = Vec::new();
        for entry in fs::read_dir(&self.buckets).map_err(StoreError::List)? {
            let name = entry.map_err(StoreError::List)?.file_name();
            // What can't be a bucket's name isn't one of ours and can't be reached over S3 either.
            ids.extend(name.to_str().and_then(|name| name.parse().ok()));
        }
        ids.sort();
        Ok(ids)
    }

    /// Made aside and moved into place: nobody ever sees half a bucket. Durable on return.
    pub(crate) fn make(&self, id: &BucketId) -> Result<(), StoreError> {
        self.try_make(id).map_err(StoreError::folder("make", id))
    }

    fn try_make(&self, id: &BucketId) -> io::Result<()> {
        let work = self.work(id);
        remove_all(&work)?;
        fs::create_dir_all(work.join(OBJECTS))?;
        sync(&work)?;
        fs::rename(&work, self.of(id))?;
        sync(&self.buckets)
    }

    /// Moves the bucket with all that is in it out of sight. Durable on return.
    pub(crate) fn take_away(&self, id: &BucketId) -> Result<(), StoreError> {
        self.try_take_away(id).map_err(StoreError::folder("take away", id))
    }

    fn try_take_away(&self, id: &BucketId) -> io::Result<()> {
        let work = self.work(id);
        remove_all(&work)?;
        fs::rename(self.of(id), &work)?;
        sync(&self.buckets)
    }

    /// Removes what [`Folders::take_away`] moved.
    pub(crate) fn purge(&self, id: &BucketId) -> Result<(), StoreError> {
        remove_all(&self.work(id)).map_err(StoreError::folder("purge", id))
    }

    pub(crate) fn filling(&self, id: &BucketId) -> Result<Filling, StoreError> {
        let look = || -> io::Result<Filling> {
            if has_file(&self.of(id).join(OBJECTS))? {
                return Ok(Filling::Objects);
            }
            let uploads = uploads::unfinished(&self.of(id))?;
            Ok(if uploads.is_empty() { Filling::Nothing } else { Filling::Uploads })
        };
        look().map_err(StoreError::folder("look into", id))
    }
}

/// Whether there is anything but folders. Folders alone are left-overs of deleted keys with slashes.
fn has_file(root: &Path) -> io::Result<bool> {
    let mut open = vec![root.to_owned()];
    while let Some(folder) = open.pop() {
        let entries = match fs::read_dir(&folder) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => continue,
            entries => entries?,
        };
        for entry in entries {
            let entry = entry?;
            if !entry.file_type()?.is_dir() {
                return Ok(true);
            }
            open.push(entry.path());
        }
    }
    Ok(false)
}

fn remove_all(path: &Path) -> io::Result<()> {
    match fs::remove_dir_all(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

/// Makes the names in a folder survive a power cut.
fn sync(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}
