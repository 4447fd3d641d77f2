//! What can go wrong with a ledger.

use std::io;
use std::path::PathBuf;

use crate::error::DriverError;

/// A ledger can't be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenLedgerError {
    /// The file can't be made, or its permissions can't be set.
    #[error("make the ledger {}", .path.display())]
    File {
        /// The ledger.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Another process has it: most likely a second copy of the driver (COSI-CONC-3).
    #[error("another process has the ledger {} open", .path.display())]
    InUse {
        /// The ledger.
        path: PathBuf,
    },
    /// It is the ledger of another driver, whose buckets this one must not touch.
    #[error("the ledger {} belongs to driver {owner}", .path.display())]
    OtherDriver {
        /// The ledger.
        path: PathBuf,
        /// Whose it is.
        owner: String,
    },
    /// It can't be read or written, or is no ledger.
    #[error("open the ledger {}", .path.display())]
    Storage {
        /// The ledger.
        path: PathBuf,
        /// Why.
        source: Box<redb::Error>,
    },
}

/// A ledger didn't do what it was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LedgerError {
    /// The name is taken by a request with other fields.
    #[error("{name} was asked for before with other fields")]
    OtherRequest {
        /// The name.
        name: String,
    },
    /// An id was to be recorded under a name that was never announced.
    #[error("the ledger has no entry for {name}")]
    NoEntry {
        /// The name.
        name: String,
    },
    /// An id was to be recorded that already belongs to another name.
    #[error("the backend gave {name} the id of {owner}")]
    IdTaken {
        /// The name.
        name: String,
        /// The name that has the id.
        owner: String,
    },
    /// An entry can't be understood. It is not quoted.
    #[error("the ledger's entry for {name} is damaged")]
    Damaged {
        /// The name.
        name: String,
    },
    /// The file failed. Whether the change is in it is not known.
    #[error("use the ledger")]
    Storage(#[source] Box<redb::Error>),
    /// The work on the file was cut off, as when the process ends.
    #[error("wait for the ledger")]
    CutOff(#[source] tokio::task::JoinError),
}

macro_rules! storage {
    ($($error:ident),*) => {$(
        impl From<redb::$error> for LedgerError {
            fn from(error: redb::$error) -> Self {
                Self::Storage(Box::new(error.into()))
            }
        }
    )*};
}

storage!(TransactionError, TableError, StorageError, CommitError);

/// ALREADY_EXISTS for a name that is taken, else INTERNAL.
impl From<LedgerError> for DriverError {
    fn from(error: LedgerError) -> Self {
        match &error {
            LedgerError::OtherRequest { .. } => Self::already_exists(error.to_string()),
            LedgerError::Storage(source) => Self::internal(format!("{error}: {source}")),
            _ => Self::internal(error.to_string()),
        }
    }
}
