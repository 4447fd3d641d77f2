use std::{
    collections::{BTreeMap, BTreeSet},
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
    let request = Request { name: "bc-1".into(), protocols: BTreeSet::new(), parameters: BTreeMap::new() };
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
    let failed = ledger.forget(&marker().id, Some(&marker()));
    assert!(matches!(failed, Err(StoreError::Ledger(_))), "{failed:?}");
    assert!(ledger.broken.is_cancelled());
}
