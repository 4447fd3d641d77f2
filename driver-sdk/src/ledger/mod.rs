//! A small durable memory of what a driver has made, and of what it was about to make.

mod entry;
mod error;
mod names;
mod once;
mod tables;
#[cfg(test)]
mod tests;

use std::fs::{OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;
use std::sync::Arc;

use redb::{
    Database, DatabaseError, ReadTransaction, ReadableDatabase as _, ReadableTable as _, TableDefinition,
    WriteTransaction,
};
use tokio_util::sync::CancellationToken;

pub use self::entry::{Entry, Token};
pub use self::error::{LedgerError, OpenLedgerError};
pub use self::names::Names;
pub use self::once::Chosen;
use crate::model::ids::{AccountId, BucketId};
use crate::model::info::DriverInfo;

const ABOUT: TableDefinition<'_, &str, &str> = TableDefinition::new("about");
const OWNER: &str = "driver";

/// A file in which a driver keeps what its backend can't: which name has which id, durable before the id is answered,
/// and which names it is about to make something for, durable before the backend is asked.
///
/// For drivers whose backend chooses the ids, or marks in a second call whose the thing is. Most need no more than
/// [`Names::make`], [`Names::unmake`] and [`Names::delete`], with an `impl` of [`Chosen`] for the backend.
///
/// # Guarantees
/// A change is on disk when the call for it returns. A crash at any moment leaves the state before or after it, never
/// another. One process at a time has the file.
///
/// # Assumptions
/// The file is on a disk that survives the pod and is not shared, and does not lie beside the socket (COSI-GEN-1). It
/// belongs to one driver and one backend: whoever points the driver elsewhere starts a new one. What is lost with it is
/// the knowledge of work that was cut off, not the buckets whose ids are recorded in Kubernetes.
#[derive(Debug, Clone)]
pub struct NameLedger {
    file: Arc<File>,
}

/// The open file.
#[derive(Debug)]
struct File {
    db: Database,
    /// Cancelled when the disk failed: redb refuses all further work until the file is opened anew.
    broken: CancellationToken,
}

impl NameLedger {
    /// Opens the file, or makes it, readable by its owner only. Its folder must be there.
    ///
    /// # Errors
    /// If it can't be had, another process has it, or it is another driver's.
    pub fn open(path: impl AsRef<Path>, driver: &DriverInfo) -> Result<Self, OpenLedgerError> {
        let path = path.as_ref();
        make_private(path).map_err(|source| OpenLedgerError::File { path: path.to_owned(), source })?;
        let db = Database::create(path).map_err(|error| match error {
            DatabaseError::DatabaseAlreadyOpen => OpenLedgerError::InUse { path: path.to_owned() },
            error => storage(path, error),
        })?;
        let ledger = Self::over(db).map_err(|error| storage(path, error))?;
        let owner = ledger.claim(driver.name()).map_err(|error| storage(path, error))?;
        if owner == driver.name() {
            Ok(ledger)
        } else {
            Err(OpenLedgerError::OtherDriver { path: path.to_owned(), owner })
        }
    }

    /// The buckets.
    #[must_use]
    pub fn buckets(&self) -> Names<BucketId> {
        Names::new(Arc::clone(&self.file), tables::BUCKETS)
    }

    /// The accounts.
    #[must_use]
    pub fn accounts(&self) -> Names<AccountId> {
        Names::new(Arc::clone(&self.file), tables::ACCOUNTS)
    }

    /// Resolves when the disk failed so that only opening the file anew can help. A driver does well to end then, and
    /// to be started again.
    pub async fn broken(&self) {
        self.file.broken.cancelled().await;
    }

    /// Tables are there from here on, so that reads needn't know about a first start.
    fn over(db: Database) -> Result<Self, redb::Error> {
        let write = db.begin_write()?;
        write.open_table(ABOUT)?;
        tables::BUCKETS.make(&write)?;
        tables::ACCOUNTS.make(&write)?;
        write.commit()?;
        Ok(Self { file: Arc::new(File { db, broken: CancellationToken::new() }) })
    }

    /// Whose the ledger is: `driver`'s, if nobody came before.
    fn claim(&self, driver: &str) -> Result<String, redb::Error> {
        let write = self.file.db.begin_write()?;
        let owner = {
            let mut about = write.open_table(ABOUT)?;
            let known = about.get(OWNER)?.map(|owner| owner.value().to_owned());
            if known.is_none() {
                about.insert(OWNER, driver)?;
            }
            known.unwrap_or_else(|| driver.to_owned())
        };
        write.commit()?;
        Ok(owner)
    }
}

impl File {
    fn read(&self) -> Result<ReadTransaction, LedgerError> {
        Ok(self.db.begin_read()?)
    }

    /// One transaction, durable on return. If `change` fails, nothing is changed.
    fn write<T>(
        &self,
        change: impl FnOnce(&WriteTransaction) -> Result<T, LedgerError>,
    ) -> Result<T, LedgerError> {
        let write = self.db.begin_write()?;
        let done = change(&write)?;
        write.commit()?;
        Ok(done)
    }

    /// Makes it known if the disk failed.
    fn notice(&self, error: &LedgerError) {
        use redb::Error::{Corrupted, Io, PreviousIo};
        if matches!(error, LedgerError::Storage(error) if matches!(**error, Io(_) | PreviousIo | Corrupted(_)))
        {
            self.broken.cancel();
        }
    }
}

fn storage(path: &Path, error: impl Into<redb::Error>) -> OpenLedgerError {
    OpenLedgerError::Storage { path: path.to_owned(), source: Box::new(error.into()) }
}

/// Names of buckets are nobody else's business.
fn make_private(path: &Path) -> io::Result<()> {
    const OWNER_ONLY: u32 = 0o600;
    let file = OpenOptions::new().append(true).create(true).mode(OWNER_ONLY).open(path)?;
    file.set_permissions(Permissions::from_mode(OWNER_ONLY))?;
    // The entry in the folder has to outlive a power cut, too.
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    std::fs::File::open(folder)?.sync_all()
}
