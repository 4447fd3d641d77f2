//! A backend that chooses the ids, cut off anywhere: one thing per name, and none after its undo.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod common;

use common::shop::{Fault, Shop, quick_folder};
use common::soon;
use cosi_driver_sdk::{
    BucketId, CreateBucketRequest, DeleteBucketByNameRequest, DriverError, DriverInfo, ErrorKind, NameLedger,
    OpenLedgerError, Parameters, Protocol,
};
use rstest::rstest;
use tempfile::TempDir;

/// More calls to the backend than two of the steps here make, if the first one fails.
const CALLS: usize = 4;

fn info() -> DriverInfo {
    DriverInfo::new("ledger.example.com", [Protocol::S3]).unwrap()
}

fn create(name: &str, tier: &str) -> CreateBucketRequest {
    let parameters: Parameters = [("tier", tier)].into_iter().collect();
    CreateBucketRequest { name: name.parse().unwrap(), protocols: [Protocol::S3].into(), parameters }
}

fn undo(request: &CreateBucketRequest) -> DeleteBucketByNameRequest {
    let CreateBucketRequest { name, protocols, parameters } = request.clone();
    DeleteBucketByNameRequest { name, protocols, parameters }
}

/// A driver's process, which can die and start again over the same file and the same backend.
struct Process {
    folder: TempDir,
    ledger: Option<NameLedger>,
    shop: Shop,
}

impl Process {
    fn start(shop: Shop) -> Self {
        let folder = quick_folder();
        let mut process = Self { folder, ledger: None, shop };
        process.restart();
        process
    }

    fn restart(&mut self) {
        self.ledger = None;
        self.ledger = Some(NameLedger::open(self.folder.path().join("ledger.redb"), &info()).unwrap());
    }

    fn ledger(&self) -> &NameLedger {
        self.ledger.as_ref().unwrap()
    }

    /// `None`: the process died in it.
    async fn make(&mut self, request: &CreateBucketRequest) -> Option<Result<BucketId, DriverError>> {
        let buckets = self.ledger().buckets();
        let outcome = self.shop.unless_dead(buckets.make(&request.name, request, &self.shop)).await;
        drop(buckets);
        self.after(outcome)
    }

    async fn unmake(&mut self, request: &CreateBucketRequest) -> Option<Result<(), DriverError>> {
        let (buckets, undo) = (self.ledger().buckets(), undo(request));
        let outcome = self.shop.unless_dead(buckets.unmake(&undo.name, &undo, &self.shop)).await;
        drop(buckets);
        self.after(outcome)
    }

    async fn delete(&mut self, id: &BucketId) -> Option<Result<(), DriverError>> {
        let buckets = self.ledger().buckets();
        let outcome = self.shop.unless_dead(buckets.delete(id, &self.shop)).await;
        drop(buckets);
        self.after(outcome)
    }

    fn after<T>(&mut self, outcome: Option<T>) -> Option<T> {
        if outcome.is_none() {
            self.restart();
        }
        outcome
    }

    /// A make is cut off by each of the faults in turn; then all is well again.
    async fn cut_off(faults: &[(usize, Fault)], request: &CreateBucketRequest) -> Self {
        let mut process = Self::start(Shop::failing(faults.to_vec()));
        for _ in 0..faults.len() {
            process.make(request).await;
        }
        process.shop.mend();
        process
    }

    async fn is_forgotten(&self, name: &str) -> bool {
        self.ledger().buckets().find(name).await.unwrap().is_none()
    }
}

/// Every fault at every call, and at every pair of calls.
fn faults() -> impl Iterator<Item = Vec<(usize, Fault)>> {
    let one = || (0..CALLS).flat_map(|call| Fault::ALL.map(|fault| (call, fault)));
    let two = one().flat_map(move |first| one().map(move |second| vec![first, second]));
    one().map(|fault| vec![fault]).chain(two)
}

/// COSI-CREATE-1, COSI-CREATE-2, COSI-CREATE-4: the process dies, or the backend fails, before or after any of its calls.
#[tokio::test]
async fn a_make_cut_off_anywhere_and_repeated_makes_one_and_answers_it_ever_after() {
    for faults in faults() {
        let request = create("bc-1", "hot");
        let mut process = Process::cut_off(&faults, &request).await;
        let id = process.make(&request).await.unwrap().unwrap();
        process.shop.land();
        assert_eq!(process.make(&request).await.unwrap().unwrap(), id, "{faults:?}");
        assert_eq!(process.shop.ids(), [id.as_str()], "{faults:?}");
        process.restart();
        assert_eq!(process.make(&request).await.unwrap().unwrap(), id, "{faults:?}");
        // I2. What lands late is the one thing that nobody can know of in time.
        let late = faults.iter().any(|(_, fault)| *fault == Fault::Late);
        assert!(late || process.shop.most() == 1, "{faults:?}");
    }
}

/// C1, COSI-DELNAME-1, COSI-DELNAME-4.
#[tokio::test]
async fn a_make_cut_off_anywhere_is_undone_by_name() {
    for faults in faults() {
        let request = create("bc-1", "hot");
        let mut process = Process::cut_off(&faults, &request).await;
        process.shop.land();
        process.unmake(&request).await.unwrap().unwrap();
        assert!(process.shop.ids().is_empty(), "{faults:?}");
        assert!(process.is_forgotten("bc-1").await, "{faults:?}");
    }
}

/// COSI-DELNAME-5, COSI-DELETE-1: what was left half-done is finished by the next call, in either way.
#[rstest]
#[tokio::test]
async fn an_undo_cut_off_anywhere_and_repeated_leaves_nothing(
    #[values(true, false)] first_by_name: bool,
    #[values(true, false)] then_by_name: bool,
) {
    for faults in faults() {
        let mut process = Process::start(Shop::default());
        let request = create("bc-1", "hot");
        let id = process.make(&request).await.unwrap().unwrap();
        process.shop.fail(faults.clone());
        for _ in 0..faults.len() {
            if first_by_name {
                process.unmake(&request).await;
            } else {
                process.delete(&id).await;
            }
        }
        process.shop.mend();
        let outcome = if then_by_name { process.unmake(&request).await } else { process.delete(&id).await };
        outcome.unwrap().unwrap();
        assert!(process.shop.ids().is_empty(), "{faults:?}");
        assert!(process.is_forgotten("bc-1").await, "{faults:?}");
    }
}

/// I4, COSI-CREATE-3, COSI-DELNAME-3. Before the id is known and after it.
#[tokio::test]
async fn another_request_for_the_name_is_refused_and_its_undo_touches_nothing() {
    for faults in [vec![], vec![(1, Fault::DiedAfter)]] {
        let mut process = Process::start(Shop::failing(faults));
        let (mine, other) = (create("bc-1", "hot"), create("bc-1", "cold"));
        process.make(&mine).await;
        let refused = process.make(&other).await.unwrap().unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::AlreadyExists);
        process.unmake(&other).await.unwrap().unwrap();
        assert_eq!(process.shop.ids().len(), 1);
        process.unmake(&mine).await.unwrap().unwrap();
        process.make(&other).await.unwrap().unwrap();
    }
}

/// I4: there was no entry, so nothing that is there can be ours.
#[tokio::test]
async fn an_undo_of_what_was_never_asked_for_succeeds_and_touches_nothing() {
    let mut process = Process::start(Shop::default());
    process.shop.put_foreign("f0");
    process.unmake(&create("bc-1", "hot")).await.unwrap().unwrap();
    process.delete(&"0".parse().unwrap()).await.unwrap().unwrap();
    assert_eq!(process.shop.ids(), ["f0"]);
    // A static bucket, by its id: that is what its owner asked for.
    process.delete(&"f0".parse().unwrap()).await.unwrap().unwrap();
    assert!(process.shop.ids().is_empty());
}

/// C38, COSI-GEN-7.
#[tokio::test]
async fn a_search_that_fails_makes_and_deletes_nothing() {
    let mut process = Process::start(Shop::default());
    let request = create("bc-1", "hot");
    let id = process.make(&request).await.unwrap().unwrap();
    for call in ["make", "unmake", "delete"] {
        process.shop.fail(vec![(0, Fault::Refused)]);
        let failed = match call {
            "make" => process.make(&request).await.unwrap().map(drop),
            "unmake" => process.unmake(&request).await.unwrap(),
            _ => process.delete(&id).await.unwrap(),
        };
        assert_eq!(failed.unwrap_err().kind(), ErrorKind::Unavailable);
        assert_eq!(process.shop.ids(), [id.as_str()], "{call}");
    }
}

/// A bucket that somebody deleted at the backend is not answered as if it were there.
#[tokio::test]
async fn what_vanished_at_the_backend_is_made_again_under_the_new_id() {
    let mut process = Process::start(Shop::default());
    let request = create("bc-1", "hot");
    let lost = process.make(&request).await.unwrap().unwrap();
    process.shop.lose(lost.as_str());
    let id = process.make(&request).await.unwrap().unwrap();
    assert_ne!(id, lost);
    assert_eq!(process.ledger().buckets().name_of(&lost).await.unwrap(), None);
    assert_eq!(process.ledger().buckets().name_of(&id).await.unwrap().as_deref(), Some("bc-1"));
    assert_eq!(process.shop.ids(), [id.as_str()]);
}

/// COSI-CREATE-2: an id that is on disk counts more than a search that does not show it yet.
#[tokio::test]
async fn what_a_lagging_search_does_not_show_is_not_made_again_if_its_id_is_known() {
    let mut process = Process::start(Shop::lagging());
    let request = create("bc-1", "hot");
    let id = process.make(&request).await.unwrap().unwrap();
    process.restart();
    assert_eq!(process.make(&request).await.unwrap().unwrap(), id);
    process.shop.fail(vec![(1, Fault::Refused)]);
    process.make(&request).await.unwrap().unwrap_err();
    assert_eq!(process.shop.ids(), [id.as_str()]);
    process.unmake(&request).await.unwrap().unwrap();
    assert!(process.shop.ids().is_empty());
}

/// A call that seemed to fail takes effect after the repeated one has answered.
#[tokio::test]
async fn what_lands_late_goes_with_the_bucket_at_the_latest() {
    for by_name in [true, false] {
        let mut process = Process::start(Shop::failing(vec![(1, Fault::Late)]));
        let request = create("bc-1", "hot");
        process.make(&request).await.unwrap().unwrap_err();
        let id = process.make(&request).await.unwrap().unwrap();
        process.shop.land();
        assert_eq!(process.shop.ids().len(), 2);
        let gone = if by_name { process.unmake(&request).await } else { process.delete(&id).await };
        gone.unwrap().unwrap();
        assert!(process.shop.ids().is_empty());
    }
}

#[tokio::test]
async fn a_bucket_and_an_account_of_one_name_do_not_meet() {
    let process = Process::start(Shop::default());
    let request = create("a", "hot");
    process.ledger().buckets().announce("a", &request).await.unwrap();
    process.ledger().buckets().record("a", &"1".parse().unwrap()).await.unwrap();
    assert_eq!(process.ledger().accounts().find("a").await.unwrap(), None);
    assert_eq!(process.ledger().accounts().name_of(&"1".parse().unwrap()).await.unwrap(), None);
    process.ledger().accounts().announce("a", &request).await.unwrap();
    process.ledger().accounts().forget("a").await.unwrap();
    assert!(!process.is_forgotten("a").await);
}

/// C45, COSI-CONC-3.
#[test]
fn a_second_process_and_another_driver_are_turned_away_and_the_file_is_private() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("ledger.redb");
    std::fs::write(&path, "").unwrap();
    let first = NameLedger::open(&path, &info()).unwrap();
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(matches!(NameLedger::open(&path, &info()).unwrap_err(), OpenLedgerError::InUse { .. }));
    drop(first);
    let other = DriverInfo::new("other.example.com", [Protocol::S3]).unwrap();
    let refused = NameLedger::open(&path, &other).unwrap_err();
    assert!(refused.to_string().contains("belongs to driver ledger.example.com"), "{refused}");
    NameLedger::open(&path, &info()).unwrap();
    let nowhere = NameLedger::open(folder.path().join("gone/ledger.redb"), &info()).unwrap_err();
    assert!(matches!(nowhere, OpenLedgerError::File { .. }));
}

/// Sixteen names at once, each with its own call: they don't wait for each other's backend.
#[tokio::test]
async fn names_are_made_side_by_side() {
    let process = Process::start(Shop::meeting(16));
    let makes = (0..16).map(|number| {
        let (buckets, shop) = (process.ledger().buckets(), &process.shop);
        async move {
            let request = create(&format!("bc-{number}"), "hot");
            buckets.make(&request.name, &request, shop).await.unwrap()
        }
    });
    soon(futures::future::join_all(makes)).await;
    assert_eq!(process.shop.ids().len(), 16);
}
