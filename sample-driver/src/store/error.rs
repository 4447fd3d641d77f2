//! What can go wrong, one enum per operation.

use std::{io, path::PathBuf};

use super::id::{BucketId, NotABucketName};

/// The data directory can't be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// Another process works in it.
    #[error("data directory {0} is in use by another process")]
    InUse(PathBuf),
    /// A folder or file in it can't be made or read.
    #[error("data directory {0} can't be written")]
    Folder(PathBuf, #[source] io::Error),
    /// The ledger file is there and can't be opened.
    #[error("ledger {0} can't be opened")]
    Ledger(PathBuf, #[source] redb::Error),
    /// The rights on buckets that are gone can't be taken away.
    #[error("can't take away rights on buckets that are gone")]
    Rights(#[source] StoreError),
}

/// The disk or the ledger failed; the same call may succeed later.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Reading or writing records failed.
    #[error("the ledger can't be used")]
    Ledger(#[source] redb::Error),
    /// A marker isn't what this version writes.
    #[error("the ledger holds an unreadable marker")]
    Marker(#[source] serde_json::Error),
    /// An account's record isn't what this version writes.
    #[error("the ledger holds an unreadable account")]
    Account,
    /// A folder operation failed.
    #[error("can't {what} bucket {id}")]
    Folder {
        /// The operation, as a verb.
        what: &'static str,
        /// The bucket.
        id: String,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// The folder of all buckets can't be read.
    #[error("can't list buckets")]
    List(#[source] io::Error),
    /// The thread that did the work panicked.
    #[error("the work was cut short")]
    Died(#[source] tokio::task::JoinError),
}

impl StoreError {
    pub(crate) fn folder(what: &'static str, id: &BucketId) -> impl FnOnce(io::Error) -> Self {
        let id = id.to_string();
        move |source| Self::Folder { what, id, source }
    }
}

/// No id belongs to a name.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NameError {
    /// The backend can't have a bucket of that name.
    #[error(transparent)]
    NotABucketName(#[from] NotABucketName),
    /// The disk or the ledger failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A bucket wasn't made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CreateError {
    /// The backend can't have a bucket of that name.
    #[error(transparent)]
    NotABucketName(#[from] NotABucketName),
    /// There is one that no create of ours made.
    #[error("bucket {0} exists and wasn't made for this request")]
    Foreign(BucketId),
    /// There is one that was made for the same name with other protocols or parameters.
    #[error("bucket {0} exists with other protocols or parameters")]
    OtherRequest(BucketId),
    /// The disk or the ledger failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<NameError> for CreateError {
    fn from(e: NameError) -> Self {
        match e {
            NameError::NotABucketName(e) => Self::NotABucketName(e),
            NameError::Store(e) => Self::Store(e),
        }
    }
}

/// A bucket wasn't deleted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DeleteError {
    /// It holds objects.
    #[error("bucket {0} isn't empty: it holds objects")]
    HasObjects(BucketId),
    /// It holds multipart uploads that were neither completed nor aborted.
    #[error("bucket {0} isn't empty: it holds unfinished multipart uploads")]
    HasUploads(BucketId),
    /// S3 requests that change it didn't end in time.
    #[error("bucket {0} is being written to")]
    InUse(BucketId),
    /// The disk or the ledger failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// An account wasn't made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GrantError {
    /// There is one that was made for the same name with other buckets or rights.
    #[error("account {0} exists with other buckets or access modes")]
    OtherRequest(String),
    /// A bucket that it is to use isn't there.
    #[error("there is no bucket {0}")]
    NoBucket(BucketId),
    /// The disk or the ledger failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}
