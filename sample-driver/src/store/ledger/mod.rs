//! One durable file: a marker per bucket that a create of ours made or was about to make, and the accounts. Every change is one
//! transaction.

mod accounts;
mod markers;
#[cfg(test)]
mod tests;

use std::{
    fs::{OpenOptions, Permissions},
    io,
    os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _},
    path::Path,
};

use redb::{Database, DatabaseError, ReadTransaction, ReadableDatabase as _, WriteTransaction};
use tokio_util::sync::CancellationToken;

pub(crate) use self::markers::Marker;
pub use self::markers::Request;
use super::error::{OpenError, StoreError};

/// What is kept on disk. Writes return when they are durable.
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
        make_private(file).map_err(|e| fault(redb::Error::Io(e)))?;
        let db = Database::create(file).map_err(|e| match e {
            DatabaseError::DatabaseAlreadyOpen => OpenError::InUse(file.parent().unwrap_or(file).into()),
            e => fault(e.into()),
        })?;
        let ledger = Self::over(db);
        // Tables exist from here on, so that reads needn't know about a first start.
        ledger.write(|write| make_tables(write).map_err(StoreError::Ledger)).map_err(|e| match e {
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

    fn read(&self) -> Result<ReadTransaction, StoreError> {
        self.db.begin_read().map_err(|e| self.fault(e))
    }

    /// One transaction, durable on return. If `change` fails, nothing is changed.
    fn write<T, E: From<StoreError>>(
        &self,
        change: impl FnOnce(&WriteTransaction) -> Result<T, E>,
    ) -> Result<T, E> {
        let write = self.db.begin_write().map_err(|e| self.fault(e))?;
        let done = change(&write)?;
        write.commit().map_err(|e| self.fault(e))?;
        Ok(done)
    }
}

fn make_tables(write: &WriteTransaction) -> Result<(), redb::Error> {
    markers::make_tables(write)?;
    accounts::make_tables(write)
}

/// Keys of accounts are in it: readable by its owner only, also if an earlier version left it open to others.
fn make_private(file: &Path) -> io::Result<()> {
    const OWNER_ONLY: u32 = 0o600;
    let opened = OpenOptions::new().append(true).create(true).mode(OWNER_ONLY).open(file)?;
    opened.set_permissions(Permissions::from_mode(OWNER_ONLY))
}
