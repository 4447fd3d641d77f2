//! The durable markers: one file, one record per bucket that a create of ours made or was about to make.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use redb::{Database, DatabaseError, ReadableDatabase, TableDefinition};
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use super::{
    error::{OpenError, StoreError},
    id::BucketId,
};

/// name → marker as JSON
const MARKERS: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("markers");
/// id → name
const NAMES: TableDefinition<'_, &str, &str> = TableDefinition::new("names");

/// What a create asks for; two requests are the same if all three fields are.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Request {
    /// The idempotency key.
    pub name: String,
    /// Names of the protocols that the bucket must speak.
    pub protocols: BTreeSet<String>,
    /// Class parameters.
    pub parameters: BTreeMap<String, String>,
}

/// Proof that a bucket is ours: the request that it was made for, and the id it got.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Marker {
    pub(crate) id: BucketId,
    request: Request,
}

impl Marker {
    pub(crate) fn new(request: Request, id: BucketId) -> Self {
        Self { id, request }
    }

    pub(crate) fn name(&self) -> &str {
        &self.request.name
    }

    /// Whether the bucket was made for exactly this request.
    pub(crate) fn answers(&self, request: &Request) -> bool {
        self.request == *request
    }
}

/// The markers on disk. Writes return when they are durable.
#[derive(Debug)]
pub(crate) struct Ledger {
    db: Database,
    /// Cancelled when the file failed: redb refuses all further work until it is opened anew.
    broken: CancellationToken,
}

impl Ledger {
    /// # Errors
    /// When the file can't be opened, or another process has it open.
    pub(crate) fn open(file: &Path) -> Result<Self, OpenError> {
        let fault = |e: redb::Error| OpenError::Ledger(file.into(), e);
        let db = Database::create(file).map_err(|e| match e {
            DatabaseError::DatabaseAlreadyOpen => OpenError::InUse(file.parent().unwrap_or(file).into()),
            e => fault(e.into()),
        })?;
        let ledger = Self::over(db);
        // Tables exist from here on, so that reads needn't know about a first start.
        ledger.write(|_, _| Ok(())).map_err(|e| match e {
            StoreError::Ledger(e) => fault(e),
            other => fault(redb::Error::Corrupted(other.to_string())),
        })?;
        Ok(ledger)
    }

    fn over(db: Database) -> Self {
        Self { db, broken: CancellationToken::new() }
    }

    /// Resolves when only opening the file anew can help.
    pub(crate) async fn broken(&self) {
        self.broken.cancelled().await;
    }

    fn fault(&self, e: impl Into<redb::Error>) -> StoreError {
        let e = e.into();
        if matches!(e, redb::Error::Io(_) | redb::Error::PreviousIo | redb::Error::Corrupted(_)) {
            self.broken.cancel();
        }
        StoreError::Ledger(e)
    }

    /// The marker under a name.
    pub(crate) fn by_name(&self, name: &str) -> Result<Option<Marker>, StoreError> {
        let read = self.db.begin_read().map_err(|e| self.fault(e))?;
        let markers = read.open_table(MARKERS).map_err(|e| self.fault(e))?;
        let record = markers.get(name).map_err(|e| self.fault(e))?;
        record.map(|json| serde_json::from_slice(json.value()).map_err(StoreError::Marker)).transpose()
    }

    /// The marker that gave out an id.
    pub(crate) fn by_id(&self, id: &BucketId) -> Result<Option<Marker>, StoreError> {
        let read = self.db.begin_read().map_err(|e| self.fault(e))?;
        let names = read.open_table(NAMES).map_err(|e| self.fault(e))?;
        let name = names.get(id.as_str()).map_err(|e| self.fault(e))?.map(|name| name.value().to_owned());
        name.map_or(Ok(None), |name| self.by_name(&name))
    }

    pub(crate) fn put(&self, marker: &Marker) -> Result<(), StoreError> {
        let json = serde_json::to_vec(marker).map_err(StoreError::Marker)?;
        self.write(|markers, names| {
            markers.insert(marker.name(), json.as_slice())?;
            names.insert(marker.id.as_str(), marker.name())?;
            Ok(())
        })
    }

    pub(crate) fn remove(&self, marker: &Marker) -> Result<(), StoreError> {
        self.write(|markers, names| {
            markers.remove(marker.name())?;
            names.remove(marker.id.as_str())?;
            Ok(())
        })
    }

    /// One transaction over both tables, durable on return.
    fn write(
        &self,
        change: impl FnOnce(
            &mut redb::Table<'_, &str, &[u8]>,
            &mut redb::Table<'_, &str, &str>,
        ) -> Result<(), redb::StorageError>,
    ) -> Result<(), StoreError> {
        let write = self.db.begin_write().map_err(|e| self.fault(e))?;
        {
            let mut markers = write.open_table(MARKERS).map_err(|e| self.fault(e))?;
            let mut names = write.open_table(NAMES).map_err(|e| self.fault(e))?;
            change(&mut markers, &mut names).map_err(|e| self.fault(e))?;
        }
        write.commit().map_err(|e| self.fault(e))
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io,
        sync::{
            Arc,
            atomic::{AtomicBool, Ordering},
        },
    };

    use redb::{StorageBackend, backends::InMemoryBackend};

    use super::*;

    /// A disk that can be made to fail.
    #[derive(Debug)]
    struct Flaky {
        disk: InMemoryBackend,
        fails: Arc<AtomicBool>,
    }

    impl Flaky {
        fn check(&self) -> io::Result<()> {
            if self.fails.load(Ordering::SeqCst) { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
        }
    }

    impl StorageBackend for Flaky {
        fn len(&self) -> io::Result<u64> {
            self.disk.len()
        }

        fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
            self.disk.read(offset, out)
        }

        fn set_len(&self, len: u64) -> io::Result<()> {
            self.check()?;
            self.disk.set_len(len)
        }

        fn sync_data(&self) -> io::Result<()> {
            self.check()?;
            self.disk.sync_data()
        }

        fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
            self.check()?;
            self.disk.write(offset, data)
        }
    }

    fn marker() -> Marker {
        let request =
            Request { name: "bc-1".into(), protocols: BTreeSet::new(), parameters: BTreeMap::new() };
        Marker::new(request, "bc-1".parse().unwrap())
    }

    #[test]
    fn a_disk_that_failed_under_the_ledger_is_made_known_and_not_only_to_the_caller() {
        let fails = Arc::new(AtomicBool::new(false));
        let flaky = Flaky { disk: InMemoryBackend::new(), fails: Arc::clone(&fails) };
        let ledger = Ledger::over(Database::builder().create_with_backend(flaky).unwrap());
        ledger.put(&marker()).unwrap();
        assert!(!ledger.broken.is_cancelled());
        fails.store(true, Ordering::SeqCst);
        let failed = ledger.remove(&marker());
        assert!(matches!(failed, Err(StoreError::Ledger(_))), "{failed:?}");
        assert!(ledger.broken.is_cancelled());
    }
}
