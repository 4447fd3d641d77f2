//! Ledger and folders together: looking, and doing one step after the other.

use std::{fs, os::unix::fs::DirBuilderExt, path::Path};

use super::{
    decide::{Seen, Step},
    error::{OpenError, StoreError},
    folders::Folders,
    id::BucketId,
    ledger::{Ledger, Marker},
};

#[derive(Debug)]
pub(crate) struct Disk {
    pub(crate) ledger: Ledger,
    pub(crate) folders: Folders,
}

impl Disk {
    pub(crate) fn open(data_dir: &Path) -> Result<Self, OpenError> {
        let cannot = |e| OpenError::Folder(data_dir.into(), e);
        // Other users of the machine have no business in other people's buckets.
        fs::DirBuilder::new().recursive(true).mode(0o700).create(data_dir).map_err(cannot)?;
        // The ledger first: its lock keeps a second process from emptying `work` under the first.
        let ledger = Ledger::open(&data_dir.join("ledger.redb"))?;
        let folders = Folders::open(data_dir).map_err(cannot)?;
        ledger.take_stale_rights(|id| folders.exists(id)).map_err(OpenError::Rights)?;
        Ok(Self { ledger, folders })
    }

    pub(crate) fn look_for_create(&self, name: &str, id: &BucketId) -> Result<Seen, StoreError> {
        let marker = self.ledger.by_name(name)?;
        let id_taken = self.ledger.by_id(id)?.is_some_and(|owner| owner.name() != name);
        Ok(Seen { marker, id_taken, bucket: self.bucket(id)? })
    }

    pub(crate) fn look_for_delete(&self, marker: Option<Marker>, id: &BucketId) -> Result<Seen, StoreError> {
        Ok(Seen { marker, id_taken: false, bucket: self.bucket(id)? })
    }

    fn bucket(&self, id: &BucketId) -> Result<Option<super::decide::Filling>, StoreError> {
        if self.folders.exists(id)? { self.folders.filling(id).map(Some) } else { Ok(None) }
    }

    pub(crate) fn run(&self, steps: &[Step]) -> Result<(), StoreError> {
        steps.iter().try_for_each(|step| match step {
            Step::Mark(marker) => self.ledger.put(marker),
            Step::Make(id) => self.folders.make(id),
            Step::TakeAway(id) => self.folders.take_away(id),
            Step::Purge(id) => self.folders.purge(id),
            Step::Forget(id, marker) => self.ledger.forget(id, marker.as_ref()),
        })
    }
}
