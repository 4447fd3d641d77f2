use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use redb::{StorageBackend, backends::InMemoryBackend};

use super::*;
use crate::error::{DriverError, ErrorKind};
use crate::model::requests::CreateBucketRequest;

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

fn flaky() -> (NameLedger, Arc<AtomicBool>) {
    let fails = Arc::new(AtomicBool::new(false));
    let disk = Flaky { disk: InMemoryBackend::new(), fails: Arc::clone(&fails) };
    (NameLedger::over(Database::builder().create_with_backend(disk).unwrap()).unwrap(), fails)
}

fn request() -> CreateBucketRequest {
    CreateBucketRequest {
        name: "bc-1".parse().unwrap(),
        protocols: [].into(),
        parameters: [("", ""); 0].into_iter().collect(),
    }
}

/// A backend that must not be asked.
struct Untouchable;

#[async_trait]
impl Chosen<BucketId> for Untouchable {
    async fn find(&self, _: &Token) -> Result<Vec<BucketId>, DriverError> {
        panic!("asked")
    }

    async fn make(&self, _: &Token) -> Result<BucketId, DriverError> {
        panic!("asked")
    }

    async fn delete(&self, _: &BucketId) -> Result<(), DriverError> {
        panic!("asked")
    }
}

#[tokio::test]
async fn a_disk_that_fails_before_the_backend_is_asked_keeps_it_from_being_asked() {
    let (ledger, fails) = flaky();
    fails.store(true, Ordering::SeqCst);
    let error = ledger.buckets().make("bc-1", &request(), &Untouchable).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Internal);
    assert!(error.message().starts_with("use the ledger: "), "{error}");
    tokio::time::timeout(Duration::from_secs(20), ledger.broken()).await.expect("the failure is made known");
}

#[tokio::test]
async fn a_ledger_is_not_broken_by_a_request_that_it_refuses() {
    let (ledger, _) = flaky();
    let (buckets, id) = (ledger.buckets(), "1".parse().unwrap());
    assert!(matches!(buckets.record("bc-1", &id).await, Err(LedgerError::NoEntry { .. })));
    for name in ["bc-1", "bc-2"] {
        buckets.announce(name, &request()).await.unwrap();
    }
    buckets.record("bc-1", &id).await.unwrap();
    let taken = buckets.record("bc-2", &id).await.unwrap_err();
    assert_eq!(taken.to_string(), "the backend gave bc-2 the id of bc-1");
    assert_eq!(DriverError::from(taken).kind(), ErrorKind::Internal);
    assert!(!ledger.file.broken.is_cancelled());
}

/// Nothing of what is damaged is guessed or quoted.
#[tokio::test]
async fn an_entry_that_cannot_be_read_is_an_error_and_not_nothing() {
    let (ledger, _) = flaky();
    let write = ledger.file.db.begin_write().unwrap();
    let damaged: TableDefinition<'_, &str, (&str, &str, Option<&str>)> = TableDefinition::new("buckets");
    write.open_table(damaged).unwrap().insert("bc-1", ("canary", "t", None)).unwrap();
    write.commit().unwrap();
    let error = ledger.buckets().find("bc-1").await.unwrap_err();
    assert_eq!(error.to_string(), "the ledger's entry for bc-1 is damaged");
    let error = ledger.buckets().make("bc-1", &request(), &Untouchable).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Internal);
}
